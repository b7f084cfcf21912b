import Big from 'big.js';
import { isMoney, type Kopecks, kopecksOf } from './is-money.ts';
import { broken, kept, type Verdict } from './rule.ts';

/**
 * An amount of roubles (API document: Conventions): an exact decimal of any length. A JavaScript
 * number never holds roubles, since it turns `0.1 + 0.2` into `0.30000000000000004`.
 */
export type Money = Big;

/** Parses a decimal string from the service or a flag: `0`, `-12.5`, `1234567890.123456789`. */
export function money(text: string): Verdict<Money> {
  return isMoney(text)
    ? kept(new Big(text))
    : broken('must be a decimal number of roubles, such as 1500 or 99.90');
}

export function positiveMoney(text: string): Verdict<Money> {
  const verdict = money(text);
  return verdict.ok && verdict.value.lte(0) ? broken('must be more than zero roubles') : verdict;
}

export function moneyFromZero(text: string): Verdict<Money> {
  const verdict = money(text);
  return verdict.ok && verdict.value.lt(0) ? broken('must not be negative') : verdict;
}

/** Parses a price from the service; undefined if it is missing, invalid or negative. */
export function priceIn(text: string | null | undefined): Money | undefined {
  const price = money(text ?? '');
  return price.ok && price.value.gte(0) ? price.value : undefined;
}

/** Whether a price is above a limit. An unreadable, missing or negative price counts as above it. */
export function isOver(price: string | null | undefined, limit: Money): boolean {
  return priceIn(price)?.lte(limit) !== true;
}

export function zero(): Money {
  return new Big(0);
}

/** Adds prices; undefined if one of them is unknown. */
export function sumOf(prices: readonly (Money | undefined)[]): Money | undefined {
  return prices.reduce<Money | undefined>(
    (sum, price) => (price === undefined ? undefined : sum?.plus(price)),
    zero(),
  );
}

const HOUR = 3_600_000;

/**
 * Returns the hours that the service may charge in full: every started hour, at least one. This is
 * an upper limit, since the service returns the rest of the last hour (API document: terminate).
 */
export function startedHours(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / HOUR));
}

/** Formats an amount with at least two decimals, like prices; with more if the amount has more. */
export function kopecksText(amount: Money): string {
  const exact = amount.toFixed();
  const [, decimals = ''] = exact.split('.');
  return decimals.length < 2 ? amount.toFixed(2) : exact;
}

/** Formats for people: `10,500.00 ₽`. */
export function inRoubles(amount: Money): string {
  const [whole = '', ...decimals] = kopecksText(amount).split('.');
  return `${[whole.replace(/\B(?=(?:\d{3})+$)/g, ','), ...decimals].join('.')} ₽`;
}

/** Formats a text as roubles; returns it unchanged if it is not an amount. */
export function roublesText(text: string): string {
  const amount = money(text);
  return amount.ok ? inRoubles(amount.value) : text;
}

export function isAboveZero(text: string | null | undefined): boolean {
  const amount = money(text ?? '');
  return amount.ok && amount.value.gt(0);
}

/** An amount in a form that is fast to parse and to add to a {@link Sum}. */
type Amount = Money | Kopecks;

/** Parses an amount; undefined if {@link money} would reject it. */
export function amountOf(text: string): Amount | undefined {
  const kopecks = kopecksOf(text);
  if (kopecks !== undefined) return kopecks;
  const read = money(text);
  return read.ok ? read.value : undefined;
}

export function isNegative(amount: Amount): boolean {
  return typeof amount !== 'number' && amount.lt(0);
}

/**
 * Adds up very many amounts exactly. Counts usual amounts in whole kopecks, since that takes a
 * tenth of the time. Moves them to the exact sum before a double loses precision.
 */
export interface Sum {
  add(amount: Amount): void;
  total(): Money;
}

export function createSum(): Sum {
  let large = zero();
  let kopecks = 0;
  const settle = () => {
    large = large.plus(new Big(kopecks).div(100));
    kopecks = 0;
  };
  return {
    add(amount) {
      if (typeof amount !== 'number') large = large.plus(amount);
      else if (kopecks + amount <= Number.MAX_SAFE_INTEGER) kopecks += amount;
      else {
        settle();
        kopecks = amount;
      }
    },
    total() {
      settle();
      return large;
    },
  };
}
