import type { Drive } from '../api/index.ts';
import type { Listed } from '../instances/known-machines.ts';
import { type Money, money, zero } from '../rules/money.ts';
import { instanceStatus } from '../rules/statuses.ts';

/** One thing that may bill. */
export interface BillingItem {
  readonly kind: 'instance' | 'drive';
  readonly id: string | null;
  readonly name: string;
  readonly status: string;
  /** Roubles per hour, a decimal string of the service. */
  readonly price: string | null;
}

export function instanceItem({ id, name, status, instance, last }: Listed): BillingItem {
  const price = instance?.price_per_hour_snapshot ?? last?.price_per_hour ?? null;
  return { kind: 'instance', id, name, status, price };
}

export function driveItem({ id, name, status, price_per_hour: price }: Drive): BillingItem {
  return { kind: 'drive', id, name: name ?? id, status: status ?? 'unknown', price: price ?? null };
}

/** Whether the API document says that something of this status bills; `untold` if it is silent. */
type Bills = 'yes' | 'no' | 'untold';

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
  return kind === 'instance' ? instanceStatus(status).bills : (DRIVES.get(status) ?? 'untold');
}

/** For JSON; null if the published API does not say whether it bills. */
export function billsFlag(item: BillingItem): boolean | null {
  const bills = billsOf(item);
  return bills === 'untold' ? null : bills === 'yes';
}

/** What a set of instances and drives costs per hour. */
export interface Burn {
  /** Roubles per hour of everything that certainly bills at a known price. */
  readonly perHour: Money;
  readonly instances: Money;
  readonly drives: Money;
  /** With the full price of what may bill; undefined if one of its prices is not known. */
  readonly atMost: Money | undefined;
  /** What is missing in `perHour`: its price is not known, or nobody says whether it bills. */
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
    const price = priceOf(item);
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

/** undefined for what is not a price: an hour never costs less than nothing. */
export function priceOf({
  price,
}: {
  readonly price: string | null | undefined;
}): Money | undefined {
  const amount = money(price ?? '');
  return amount.ok && amount.value.gte(0) ? amount.value : undefined;
}
