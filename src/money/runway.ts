import { type Money, zero } from '../rules/money.ts';

/** How long a balance lasts at a rate. */
interface Runway {
  /** Whole seconds, rounded down; exact however large. */
  readonly seconds: Money;
  /** Milliseconds since 1970; undefined if it is beyond the calendar. */
  readonly endsAt: number | undefined;
}

/** The end of the year 9999, after which dates have no four-digit year. */
const LAST = Date.UTC(10_000, 0, 1) - 1;

/**
 * A balance divided by a rate of roubles per hour. undefined if nothing is spent; a balance of
 * zero or below lasts for no time.
 */
export function runwayOf(balance: Money, perHour: Money, now: number): Runway | undefined {
  if (perHour.lte(0)) {
    return undefined;
  }
  const seconds = balance.lte(0) ? zero() : wholeQuotient(balance.times(3600), perHour);
  const end = seconds.times(1000).plus(now);
  return { seconds, endsAt: end.gt(LAST) ? undefined : Number(end.toFixed()) };
}

/** `3.12`: hours with two decimals, rounded down. */
export function hoursText({ seconds }: Pick<Runway, 'seconds'>): string {
  return wholeQuotient(seconds, zero().plus(36)).div(100).toFixed(2);
}

/** Division rounds after 20 decimals; the whole part must not be rounded up by it. */
function wholeQuotient(dividend: Money, divisor: Money): Money {
  const quotient = dividend.div(divisor).round(0, 0);
  return quotient.times(divisor).gt(dividend) ? quotient.minus(1) : quotient;
}
