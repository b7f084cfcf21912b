import { fc } from '../support/random.ts';

/** Exact decimal arithmetic for tests, in units of 10⁻²⁰. */
export const UNIT = 10n ** 20n;

export function units(text: string): bigint {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const value = BigInt(whole) * UNIT + BigInt(fraction.padEnd(20, '0').slice(0, 20));
  return sign === '-' ? -value : value;
}

export function sumOf(texts: readonly string[]): bigint {
  return texts.reduce((sum, text) => sum + units(text), 0n);
}

/** Amounts that a service may return: up to 30 digits and 6 decimals. */
export const amount = fc
  .tuple(
    fc.oneof(fc.nat(5000).map(String), fc.bigInt({ min: 0n, max: 10n ** 29n }).map(String)),
    fc.stringMatching(/^\d{0,6}$/),
  )
  .map(([whole, fraction]) => (fraction === '' ? whole : `${whole}.${fraction}`));
