import { type Money, zero } from '../rules/money.ts';

/** How long a balance lasts at a rate. */
interface Runway {
  /** Whole seconds, rounded down; exact at any size. */
  readonly seconds: Money;
  /** Milliseconds since 1970; undefined after the calendar's end. */
  readonly endsAt: number | undefined;
}

/** End of the year 9999; later dates need a five-digit year. */
const LAST = Date.UTC(10_000, 0, 1) - 1;

/**
 * Divides a balance by a rate in RUB per hour. Returns undefined if the rate is zero. A balance of
 * zero or below lasts zero seconds.
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

/** Division rounds after 20 decimals, which must not round up the whole part. */
function wholeQuotient(dividend: Money, divisor: Money): Money {
  const quotient = dividend.div(divisor).round(0, 0);
  return quotient.times(divisor).gt(dividend) ? quotient.minus(1) : quotient;
}
