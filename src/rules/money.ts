import Big from 'big.js';
import { broken, kept, type Verdict } from './rule.ts';

/**
 * An amount of roubles (spec: Conventions): a decimal of any length, held exactly from end to end.
 * A JavaScript number never holds roubles, since `0.1 + 0.2` is not `0.3` there.
 */
export type Money = Big;

/** Reads a decimal string of the service or of a flag: `0`, `-12.5`, `1234567890.123456789`. */
export function money(text: string): Verdict<Money> {
  return isMoney(text)
    ? kept(new Big(text))
    : broken('an amount is a decimal number of roubles, such as 1500 or 99.90');
}

/** Whether {@link money} would read a text, told without its library. */
export function isMoney(text: string): boolean {
  return kopecksOf(text) !== undefined || /^-?[0-9]{1,400}(\.[0-9]{1,400})?$/.test(text);
}

/** The same above zero, for limits: nothing is rented for nothing. */
export function positiveMoney(text: string): Verdict<Money> {
  const verdict = money(text);
  return verdict.ok && verdict.value.lte(0)
    ? broken('an amount here is more than zero roubles')
    : verdict;
}

export function zero(): Money {
  return new Big(0);
}

/** At least two decimals, as prices are written; more where the amount has more. */
export function kopecksText(amount: Money): string {
  const exact = amount.toFixed();
  const decimals = exact.includes('.') ? exact.length - exact.indexOf('.') - 1 : 0;
  return decimals < 2 ? amount.toFixed(2) : exact;
}

/** Whether a text is an amount above zero. */
export function isAboveZero(text: string | null | undefined): boolean {
  const amount = money(text ?? '');
  return amount.ok && amount.value.gt(0);
}

/** What {@link money} would read, in a form that is quick to make and to add to a {@link Sum}. */
export type Amount = Money | Kopecks;

/** A whole number of them that a double holds exactly. */
type Kopecks = number;

/** The longest amount that is counted in kopecks: a thousand of them are far below 2^53. */
const LONGEST = '99999999999.99'.length;

/** Reads an amount; undefined where {@link money} would refuse it. */
export function amountOf(text: string): Amount | undefined {
  const kopecks = kopecksOf(text);
  if (kopecks !== undefined) return kopecks;
  const read = money(text);
  return read.ok ? read.value : undefined;
}

export function isNegative(amount: Amount): boolean {
  return typeof amount !== 'number' && amount.lt(0);
}

/** Of `89.90` and its like, digit by digit; undefined for any other form. */
function kopecksOf(text: string): Kopecks | undefined {
  const point = text.length - 3;
  if (point < 1 || text.length > LONGEST || text[point] !== '.') return undefined;
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (at === point) continue;
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return undefined;
    sum = sum * 10 + digit;
  }
  return sum;
}

/**
 * An exact sum of very many amounts. The usual ones are counted in whole kopecks, which takes a
 * tenth of the time; before their number could grow beyond what a double holds exactly it is put
 * to the rest.
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
