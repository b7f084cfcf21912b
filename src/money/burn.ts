import { type Money, money, zero } from '../rules/money.ts';
import { broken } from '../rules/rule.ts';
import { instanceStatus } from '../rules/statuses.ts';

/** A machine or drive as far as its price goes. */
export interface Priced {
  readonly kind: 'machine' | 'drive';
  readonly status: string | null | undefined;
  /** Roubles an hour, a decimal string of the service. */
  readonly price: string | null | undefined;
}

/** Whether the API document says that something of this status bills; `untold` where it is silent. */
export type Bills = 'yes' | 'no' | 'untold';

/** "They are billed per hour by size" (API document: What the service does); frozen hours are debt. */
const DRIVES: Readonly<Record<string, Bills>> = {
  AVAILABLE: 'yes',
  IN_USE: 'yes',
  SYNCING: 'yes',
  SUSPENDED: 'yes',
  ERROR: 'yes',
  DELETED: 'no',
};

/** A stopped machine, one in ERROR and statuses to come are `untold`: nothing is called free. */
export function billsOf({ kind, status }: Pick<Priced, 'kind' | 'status'>): Bills {
  if (kind === 'machine') return instanceStatus(status).bills;
  const word = status ?? '';
  return Object.hasOwn(DRIVES, word) ? (DRIVES[word] ?? 'untold') : 'untold';
}

/** What a set of machines and drives costs in an hour. */
export interface Burn<T> {
  /** Roubles an hour of all that certainly bills and whose price is told. */
  readonly perHour: Money;
  readonly machines: Money;
  readonly drives: Money;
  /** The same with the full price of what may bill; undefined where one of its prices is not told. */
  readonly atMost: Money | undefined;
  /** What is not in `perHour`: it bills at a price that is not told, or nobody says whether it bills. */
  readonly uncounted: readonly Uncounted<T>[];
}

export interface Uncounted<T> {
  readonly item: T;
  readonly why: 'price' | 'status';
}

export function burnOf<T extends Priced>(items: readonly T[]): Burn<T> {
  const sums = { machine: zero(), drive: zero() };
  const uncounted: Uncounted<T>[] = [];
  let more: Money | undefined = zero();
  for (const item of items) {
    const bills = billsOf(item);
    const price = priceOf(item);
    if (bills === 'no') continue;
    if (bills === 'yes' && price.ok) {
      sums[item.kind] = sums[item.kind].plus(price.value);
      continue;
    }
    uncounted.push({ item, why: bills === 'yes' ? 'price' : 'status' });
    more = price.ok ? more?.plus(price.value) : undefined;
  }
  const perHour = sums.machine.plus(sums.drive);
  return {
    perHour,
    machines: sums.machine,
    drives: sums.drive,
    atMost: more === undefined ? undefined : perHour.plus(more),
    uncounted,
  };
}

/** An hour below zero is no price that anybody told. */
function priceOf({ price }: Priced): ReturnType<typeof money> {
  const amount = money(price ?? '');
  return amount.ok && amount.value.lt(0) ? broken('a price is not below zero') : amount;
}

/** Hours of a day, and of the 30 days that stand for a month. */
export const HOURS = { day: 24, month: 720 } as const;
