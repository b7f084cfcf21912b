import { kopecksText, type Money, money } from '../rules/money.ts';

/** Reads an amount of the state or of the catalog, which both hold checked decimals only. */
export function roubles(text: string): Money {
  const verdict = money(text);
  if (!verdict.ok) {
    throw new Error(`${JSON.stringify(text)} is not an amount`);
  }
  return verdict.value;
}

/** An amount as the state keeps it and the service shows it: exact, with at least two decimals. */
export function text(amount: Money): string {
  return kopecksText(amount);
}
