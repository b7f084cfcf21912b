import type { Drive } from '../../api/index.ts';
import type { Listed } from '../../instances/known-machines.ts';
import { billsFlag, driveItem, instanceItem } from '../../money/burn.ts';
import { deletionOf } from '../../money/suspension.ts';
import { instant } from '../../output/time.ts';
import { type Money, money } from '../../rules/money.ts';

/** An instance in the JSON of `status`. */
export interface InstanceRow {
  /** null for a request whose response was lost. */
  readonly id: string | null;
  readonly name: string;
  readonly status: string;
  /** null if the published API does not say whether this status bills. */
  readonly bills: boolean | null;
  readonly price_per_hour_snapshot: string | null;
  readonly offer: string | null;
  readonly created_at: string | null;
  readonly age_seconds: number | null;
  readonly paid_until: string | null;
  readonly failure_reason: string | null;
  /** The status is what was last seen, at `last_seen_at`. */
  readonly unread: boolean;
  readonly last_seen_at: string | null;
}

export function instanceRow(row: Listed, now: number): InstanceRow {
  const { id, name, status, instance, last } = row;
  const created = instance?.created_at ?? last?.created_at ?? row.asked_at ?? null;
  const since = instant(created);
  const item = instanceItem(row);
  return {
    id,
    name,
    status,
    bills: billsFlag(item),
    price_per_hour_snapshot: item.price,
    offer: instance?.offer?.name ?? last?.offer_name ?? null,
    created_at: created,
    age_seconds: since === undefined ? null : Math.max(0, Math.floor((now - since) / 1000)),
    paid_until: instance?.paid_until ?? null,
    failure_reason: instance?.failure_reason ?? null,
    unread: row.unread === true,
    last_seen_at: last?.seen_at ?? null,
  };
}

/** A drive in the JSON of `status`. */
export interface DriveRow {
  readonly id: string;
  readonly name: string | null;
  readonly status: string | null;
  readonly bills: boolean | null;
  readonly price_per_hour: string | null;
  readonly size_gb: number | null;
  readonly current_instance_id: string | null;
  readonly paid_until: string | null;
  /** Of a suspended drive: the range in which it is deleted for good. */
  readonly deleted_at_earliest: string | null;
  readonly deleted_at_latest: string | null;
}

export function driveRow(drive: Drive): DriveRow {
  const deletion = drive.status === 'SUSPENDED' ? deletionOf(drive) : undefined;
  return {
    id: drive.id,
    name: drive.name ?? null,
    status: drive.status ?? null,
    bills: billsFlag(driveItem(drive)),
    price_per_hour: drive.price_per_hour ?? null,
    size_gb: drive.size_gb ?? null,
    current_instance_id: drive.current_instance_id ?? null,
    paid_until: drive.paid_until ?? null,
    deleted_at_earliest: isoOrNull(deletion?.earliest),
    deleted_at_latest: isoOrNull(deletion?.latest),
  };
}

function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

/** The most expensive first, unknown prices last. */
export function byPrice(a: InstanceRow, b: InstanceRow): number {
  const [one, other] = [priceOf(a), priceOf(b)];
  if (one === undefined || other === undefined)
    return one === other ? 0 : one === undefined ? 1 : -1;
  return other.cmp(one);
}

export function priceOf({ price_per_hour_snapshot: price }: InstanceRow): Money | undefined {
  const amount = money(price ?? '');
  return amount.ok ? amount.value : undefined;
}
