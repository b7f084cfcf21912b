import type { Drive } from '../api/index.ts';
import type { Listed } from '../instances/known-instances.ts';
import type { AccountDrive, AccountInstance } from '../json-results/money.ts';
import { failureReason } from '../output/mask.ts';
import { instant } from '../output/time.ts';
import { inRoubles, type Money, priceIn, zero } from '../rules/money.ts';
import { instanceStatus, isTerminated, mayBill } from '../rules/statuses.ts';

/** Returns an instance for the JSON of `status`. */
function instanceRow(row: Listed, now: number): AccountInstance {
  const { id, name, status } = row;
  const created = row.created_at ?? row.asked_at ?? null;
  const since = instant(created);
  const item = instanceItem(row);
  return {
    id,
    name,
    status,
    bills: billsFlag(item),
    price_per_hour_snapshot: item.price,
    offer: row.offer?.name ?? null,
    created_at: created,
    age_seconds: since === undefined ? null : Math.max(0, Math.floor((now - since) / 1000)),
    paid_until: row.unread ? null : (row.paid_until ?? null),
    ends_at: row.ends_at,
    if_idle_seconds: mayBill(status) ? (row.if_idle_seconds ?? null) : null,
    idle_seconds: mayBill(status) ? (row.idle_seconds ?? null) : null,
    rescue: mayBill(status) ? (row.rescue?.map(({ remote }) => remote) ?? null) : null,
    rescue_failing: mayBill(status) ? (row.rescue_failing ?? null) : null,
    failure_reason: failureReason(row) ?? null,
    unread: row.unread,
    last_seen_at: row.last_seen_at ?? null,
  };
}

/** Returns the rows of instances that are not terminated. */
export function instanceRows(rows: readonly Listed[], now: number): AccountInstance[] {
  return rows.filter(({ status }) => !isTerminated(status)).map((row) => instanceRow(row, now));
}

/** Returns a drive for the JSON of `status`. */
export function driveRow(drive: Drive): AccountDrive {
  const deletion = drive.status === 'SUSPENDED' ? deletionOf(drive) : undefined;
  return {
    id: drive.id,
    name: drive.name ?? null,
    status: drive.status ?? null,
    bills: billsFlag(driveItem(drive)),
    price_per_hour: drive.price_per_hour ?? null,
    size_gb: drive.size_gb ?? null,
    used_bytes: drive.used_bytes ?? null,
    current_instance_id: drive.current_instance_id ?? null,
    paid_until: drive.paid_until ?? null,
    deleted_at_earliest: isoOrNull(deletion?.earliest),
    deleted_at_latest: isoOrNull(deletion?.latest),
  };
}

function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

/** Sorts by price: the most expensive first, unknown prices last. */
export function byPrice(a: AccountInstance, b: AccountInstance): number {
  const [one, other] = [a, b].map((row) => priceIn(row.price_per_hour_snapshot));
  if (one === undefined || other === undefined)
    return one === other ? 0 : one === undefined ? 1 : -1;
  return other.cmp(one);
}

/** Formats `trainer (ID), ACTIVE, 89.90 RUB per hour`. */
export function lineOf(row: AccountInstance): string {
  const price = priceIn(row.price_per_hour_snapshot);
  const cost = price === undefined ? 'price unknown' : `${inRoubles(price)} per hour`;
  const title = row.id === null || row.name === row.id ? row.name : `${row.name} (${row.id})`;
  return `${title}, ${row.status}${row.unread ? ' when last seen' : ''}, ${cost}`;
}

/** When a suspended drive is deleted, in milliseconds since 1970. */
export interface Deletion {
  /** 7 days after the last hour that was certainly paid. */
  readonly earliest: number | undefined;
  /** 7 days after the drive's last change, which may be its suspension. */
  readonly latest: number | undefined;
}

/** "After 7 days the drive is deleted permanently" (API document: Drive status, SUSPENDED). */
export const SEVEN_DAYS = 7 * 24 * 3_600_000;

/**
 * Returns the range of the deletion time. No documented field has the suspension time, which is
 * between the end of the paid time and the drive's last change.
 */
export function deletionOf(drive: {
  readonly paid_until?: string | null | undefined;
  readonly last_billed_at?: string | null | undefined;
  readonly updated_at?: string | null | undefined;
}): Deletion {
  const [paid, billed, changed] = [drive.paid_until, drive.last_billed_at, drive.updated_at].map(
    instant,
  );
  const since = [paid, billed, changed].filter((at) => at !== undefined);
  return {
    earliest: since.length === 0 ? undefined : Math.min(...since) + SEVEN_DAYS,
    latest: changed === undefined ? undefined : changed + SEVEN_DAYS,
  };
}

/** A resource that may bill. */
export interface BillingItem {
  readonly kind: 'instance' | 'drive';
  readonly id: string | null;
  readonly name: string;
  readonly status: string;
  /** RUB per hour, the service's decimal string. */
  readonly price: string | null;
}

export function instanceItem({ id, name, status, price_per_hour_snapshot }: Listed): BillingItem {
  return { kind: 'instance', id, name, status, price: price_per_hour_snapshot ?? null };
}

export function driveItem({ id, name, status, price_per_hour: price }: Drive): BillingItem {
  return { kind: 'drive', id, name: name ?? id, status: status ?? 'unknown', price: price ?? null };
}

/** Whether this status bills, according to the API document; `undocumented` if it doesn't say. */
type Bills = 'yes' | 'no' | 'undocumented';

/**
 * "They are billed per hour by size" (API document: What the service does); frozen hours are debt.
 */
const DRIVES: ReadonlyMap<string, Bills> = new Map([
  ['AVAILABLE', 'yes'],
  ['IN_USE', 'yes'],
  ['SYNCING', 'yes'],
  ['SUSPENDED', 'yes'],
  ['ERROR', 'yes'],
  ['DELETED', 'no'],
]);

export function billsOf({ kind, status }: Pick<BillingItem, 'kind' | 'status'>): Bills {
  return kind === 'instance'
    ? instanceStatus(status).bills
    : (DRIVES.get(status) ?? 'undocumented');
}

/** Returns the value for JSON; null if the document doesn't say whether the status bills. */
function billsFlag(item: BillingItem): boolean | null {
  const bills = billsOf(item);
  return bills === 'undocumented' ? null : bills === 'yes';
}

/** The hourly cost of a set of instances and drives. */
export interface Burn {
  /** RUB per hour of all items that certainly bill at a known price. */
  readonly perHour: Money;
  readonly instances: Money;
  readonly drives: Money;
  /**
   * `perHour` plus the full price of items that may bill; undefined if one of those prices is
   * unknown.
   */
  readonly atMost: Money | undefined;
  /** Items that `perHour` leaves out: the price is unknown, or the status may or may not bill. */
  readonly uncounted: readonly {
    readonly item: BillingItem;
    readonly why: 'price' | 'status';
  }[];
}

export function burnOf(items: readonly BillingItem[]): Burn {
  const sums = { instance: zero(), drive: zero() };
  const uncounted: Burn['uncounted'][number][] = [];
  let more: Money | undefined = zero();
  for (const item of items) {
    const bills = billsOf(item);
    const price = priceIn(item.price);
    if (bills === 'no') continue;
    if (bills === 'yes' && price !== undefined) {
      sums[item.kind] = sums[item.kind].plus(price);
      continue;
    }
    uncounted.push({ item, why: bills === 'yes' ? 'price' : 'status' });
    more = price === undefined ? undefined : more?.plus(price);
  }
  const perHour = sums.instance.plus(sums.drive);
  return {
    perHour,
    instances: sums.instance,
    drives: sums.drive,
    atMost: more && perHour.plus(more),
    uncounted,
  };
}
