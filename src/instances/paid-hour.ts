import { type Money, money } from '../rules/money.ts';

/** What is left of the hour that a machine has reserved. */
export interface Rest {
  /** Milliseconds. */
  readonly left: number;
  /** Roubles, rounded down to the kopeck: how the service rounds is not published. */
  readonly amount: Money;
}

const HOUR = 3_600_000;

/**
 * The part of the running hour that comes back at a termination ("unused reserved funds for the
 * current hour returned", API document: terminate), reckoned from `paid_until`. undefined where the
 * fields tell no running hour of at most one hour.
 */
export function restOfHour(
  price: string | null | undefined,
  paidUntil: number | undefined,
  now: number,
): Rest | undefined {
  const amount = money(price ?? '');
  const left = paidUntil === undefined ? 0 : paidUntil - now;
  if (!amount.ok || left <= 0 || left > HOUR) {
    return undefined;
  }
  return { left, amount: amount.value.times(left).div(HOUR).round(2, 0) };
}
