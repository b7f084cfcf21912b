import Big from 'big.js';
import { broken, kept, type Verdict } from './rule.ts';

/**
 * An amount of roubles (spec: Conventions): a decimal of any length, held exactly from end to end.
 * A JavaScript number never takes part, since `0.1 + 0.2` is not `0.3` there.
 */
export type Money = Big;

/** Reads a decimal string of the service or of a flag: `0`, `-12.5`, `1234567890.123456789`. */
export function money(text: string): Verdict<Money> {
  return /^-?[0-9]{1,400}(\.[0-9]{1,400})?$/.test(text)
    ? kept(new Big(text))
    : broken('an amount is a decimal number of roubles, such as 1500 or 99.90');
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
