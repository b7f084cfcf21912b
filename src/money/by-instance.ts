import { isReadNow, type Listed } from '../instances/known-instances.ts';
import type { InstanceSpending } from '../json-results/money.ts';
import { instant } from '../output/time.ts';
import { kopecksText, type Money, priceIn, zero } from '../rules/money.ts';
import { instanceStatus, isTerminated, leadsTo } from '../rules/statuses.ts';
import { instanceCharge, type Window } from './charges.ts';

const HOUR = 3_600_000;

/** The proven costs of ended instances by their IDs, in roubles, as decimals. */
export type ExactCosts = ReadonlyMap<string | null, string>;

/**
 * Estimates what each known instance cost in a window: its price times its lifetime, or its exact
 * cost if it is known and the window has the whole lifetime. The service's transactions name no
 * instance. The last row is the rest of `charged`: drives, instances unknown here, and the error of
 * the estimates. It is below zero if the estimates exceed the charges.
 */
export function spendingByInstance(
  rows: readonly Listed[],
  charged: Money,
  window: Window,
  exact: ExactCosts,
): InstanceSpending[] {
  const each = rows.flatMap((row) => spendingOf(row, window, exact));
  const sum = each.reduce((total, { cost }) => total.plus(cost ?? zero()), zero());
  const rest = {
    id: null,
    name: null,
    status: null,
    price_per_hour: null,
    hours: null,
    cost_estimate: kopecksText(charged.minus(sum)),
  };
  return [...each.sort(dearestFirst).map(({ spending }) => spending), rest];
}

/**
 * Estimates what an instance cost until now; null if its price or lifetime is unknown. Also returns
 * whether that may count time while it was stopped.
 */
export function costEstimate(
  row: Listed,
  now: number,
  exact: ExactCosts,
): Pick<InstanceSpending, 'cost_estimate' | 'was_stopped'> {
  const [estimate] = spendingOf(row, { from: Number.NEGATIVE_INFINITY, to: now }, exact);
  const { cost_estimate = null, was_stopped } = estimate?.spending ?? {};
  return { cost_estimate, was_stopped };
}

/**
 * Returns the highest price of the time that billing instances have run in a window since their last
 * charge, which the estimates contain and the charges do not. Undefined if an instance was charged
 * more than an hour ago: it may have been stopped since then.
 */
export function unchargedIn(rows: readonly Listed[], window: Window): Money | undefined {
  return rows.reduce<Money | undefined>((sum, row) => {
    const { from, billedAt } = instanceCharge(row);
    const price = priceIn(row.price_per_hour_snapshot);
    if (!isReadNow(row) || instanceStatus(row.status).bills !== 'yes') return sum;
    if (from === undefined || price === undefined) return sum;
    const time = window.to - Math.max(billedAt ?? from, from, window.from);
    if (time > HOUR) return undefined;
    return time > 0 ? sum?.plus(price.times(time).div(HOUR).round(2, 3)) : sum;
  }, zero());
}

interface Estimate {
  readonly cost: Money | undefined;
  readonly spending: InstanceSpending;
}

function spendingOf(row: Listed, window: Window, exact: ExactCosts): Estimate[] {
  const { id, name, status, price_per_hour_snapshot } = row;
  const { from, to } = instanceCharge(row);
  if (id === null) return [];
  const paid = paidUntil(row);
  const isEndUnknown = to === undefined && isTerminated(status);
  const time =
    from === undefined || isEndUnknown
      ? undefined
      : Math.min(to ?? window.to, paid ?? window.to, window.to) - Math.max(from, window.from);
  if (time !== undefined && time <= 0) return [];
  const price = priceIn(price_per_hour_snapshot);
  const isWhole = from !== undefined && to !== undefined && from >= window.from && to <= window.to;
  const known = isWhole ? priceIn(exact.get(id)) : undefined;
  const isStopped = paid !== undefined && leadsTo('STOPPED', status);
  const cost = known ?? (time === undefined ? undefined : price?.times(time).div(HOUR).round(2, 3));
  const spending = {
    id,
    name,
    status,
    price_per_hour: price === undefined ? null : (price_per_hour_snapshot ?? null),
    hours: time === undefined ? null : zero().plus(time).div(HOUR).toFixed(2),
    cost_estimate: cost === undefined ? null : kopecksText(cost),
    // Neither an exact cost nor the charges until a stop count time while stopped.
    ...(row.was_stopped === true && known === undefined && !isStopped && { was_stopped: true }),
  };
  return [{ cost, spending }];
}

/**
 * Returns when the charges of an instance end that may no longer bill, so that no time while stopped
 * or terminating counts. Undefined if it bills: then its charges are only late.
 */
function paidUntil(row: Listed): number | undefined {
  const isBilling = !isReadNow(row) || instanceStatus(row.status).bills === 'yes';
  return isBilling ? undefined : instant(row.paid_until);
}

/** Instances with an unknown cost come first. */
function dearestFirst({ cost: a }: Estimate, { cost: b }: Estimate): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  return b.cmp(a);
}
