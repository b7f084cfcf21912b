import type { Listed } from '../instances/known-instances.ts';
import type { InstanceSpending } from '../json-results/money.ts';
import { kopecksText, type Money, priceIn, zero } from '../rules/money.ts';
import { isTerminated } from '../rules/statuses.ts';
import { instanceCharge, type Window } from './charges.ts';

const HOUR = 3_600_000;

/**
 * Estimates what each known instance cost in a window: its price times its lifetime. The service's
 * transactions name no instance. The last row is the rest of `charged`: drives, instances unknown
 * here, and the error of the estimates.
 */
export function spendingByInstance(
  rows: readonly Listed[],
  charged: Money,
  window: Window,
): InstanceSpending[] {
  const each = rows.flatMap((row) => spendingOf(row, window));
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

/** Estimates what an instance cost until now; null if its price or lifetime is unknown. */
export function costEstimate(row: Listed, now: number): string | null {
  const [estimate] = spendingOf(row, { from: Number.NEGATIVE_INFINITY, to: now });
  return estimate?.spending.cost_estimate ?? null;
}

interface Estimate {
  readonly cost: Money | undefined;
  readonly spending: InstanceSpending;
}

function spendingOf(row: Listed, window: Window): Estimate[] {
  const { id, name, status, price_per_hour_snapshot } = row;
  const { from, to } = instanceCharge(row);
  if (id === null) return [];
  const isEndUnknown = to === undefined && isTerminated(status);
  const time =
    from === undefined || isEndUnknown
      ? undefined
      : Math.min(to ?? window.to, window.to) - Math.max(from, window.from);
  if (time !== undefined && time <= 0) return [];
  const price = priceIn(price_per_hour_snapshot);
  const cost = time === undefined ? undefined : price?.times(time).div(HOUR).round(2, 3);
  const spending = {
    id,
    name,
    status,
    price_per_hour: price === undefined ? null : (price_per_hour_snapshot ?? null),
    hours: time === undefined ? null : zero().plus(time).div(HOUR).toFixed(2),
    cost_estimate: cost === undefined ? null : kopecksText(cost),
  };
  return [{ cost, spending }];
}

/** Instances with an unknown cost come first. */
function dearestFirst({ cost: a }: Estimate, { cost: b }: Estimate): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  return b.cmp(a);
}
