import type { Drive } from '../api/index.ts';
import type { Listed } from '../instances/known-instances.ts';
import { type Money, priceIn, zero } from '../rules/money.ts';
import { instanceStatus } from '../rules/statuses.ts';

/** One thing that may bill. */
export interface BillingItem {
  readonly kind: 'instance' | 'drive';
  readonly id: string | null;
  readonly name: string;
  readonly status: string;
  /** RUB per hour, the service's decimal string. */
  readonly price: string | null;
}

export function instanceItem({ id, name, status, instance, last }: Listed): BillingItem {
  const price = instance?.price_per_hour_snapshot ?? last?.price_per_hour ?? null;
  return { kind: 'instance', id, name, status, price };
}

export function driveItem({ id, name, status, price_per_hour: price }: Drive): BillingItem {
  return { kind: 'drive', id, name: name ?? id, status: status ?? 'unknown', price: price ?? null };
}

/** Whether this status bills by the API document; `undocumented` if the document doesn't say. */
type Bills = 'yes' | 'no' | 'undocumented';

/** "They are billed per hour by size" (API document: What the service does); frozen hours are debt. */
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

/** For JSON; null if the document doesn't say whether the status bills. */
export function billsFlag(item: BillingItem): boolean | null {
  const bills = billsOf(item);
  return bills === 'undocumented' ? null : bills === 'yes';
}

/** The hourly cost of a set of instances and drives. */
export interface Burn {
  /** RUB per hour of everything that certainly bills at a known price. */
  readonly perHour: Money;
  readonly instances: Money;
  readonly drives: Money;
  /** The same plus the full price of what may bill; undefined if one of those prices is unknown. */
  readonly atMost: Money | undefined;
  /** Items missing in `perHour`: the price is unknown, or the status may or may not bill. */
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
