import { expect, it } from 'vitest';
import { isMoney, kopecksOf } from '../../src/rules/is-money.ts';
import {
  amountOf,
  createSum,
  isNegative,
  kopecksText,
  money,
  zero,
} from '../../src/rules/money.ts';
import { fc } from '../support/random.ts';

const digits = (most: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: most });
const text = fc.oneof(
  fc.tuple(digits(11), fc.nat(99)).map(([whole, part]) => `${whole}.${`${part}`.padStart(2, '0')}`),
  fc.tuple(fc.constantFrom('', '-'), digits(40), digits(5)).map((parts) => parts.join('')),
  fc
    .tuple(fc.constantFrom('', '-', '+'), digits(20), digits(30))
    .map(([s, a, b]) => `${s}${a}.${b}`),
  fc.constantFrom('', '.', '.50', '1.', '1,50', '1.5x', ' 1.50', '1e2', '-.10', '::.::', '9.9/'),
);

it('recognizes the same amounts as the parser', () => {
  fc.assert(
    fc.property(fc.oneof(text, fc.string()), (one) => {
      expect(isMoney(one)).toBe(money(one).ok);
      expect(isMoney(one)).toBe(/^-?[0-9]{1,400}(\.[0-9]{1,400})?$/.test(one));
    }),
  );
});

it('sums amounts to the same digits as exact decimals', () => {
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const sum = createSum();
      let slow = zero();
      for (const one of texts) {
        const amount = amountOf(one);
        const read = money(one);
        expect(amount !== undefined).toBe(read.ok);
        if (amount === undefined || !read.ok) continue;
        expect(isNegative(amount)).toBe(read.value.lt(0));
        sum.add(amount);
        slow = slow.plus(read.value);
      }
      expect(kopecksText(sum.total())).toBe(kopecksText(slow));
      expect(sum.total().eq(slow)).toBe(true);
    }),
  );
});

it('sums exactly beyond the safe integers of a double', () => {
  const sum = createSum();
  const amount = amountOf('99999999999.99') ?? 0;
  for (let time = 0; time < 100_001; time += 1) sum.add(amount);
  expect(sum.total().toFixed(2)).toBe('10000099999998999.99');
});

it.each<[text: string, kopecks: number | undefined]>([
  ['0.00', 0],
  ['89.90', 8990],
  ['1.09', 109],
  ['99999999999.99', 9_999_999_999_999],
  ['100000000000.00', undefined],
  ...['', '.00', '1', '1.0', '1.000', '-1.00', '1:00', '1/.00', ' 1.00', '1.0.0', '1.0a'].map(
    (text): [string, undefined] => [text, undefined],
  ),
])('counts the kopecks of %j: %s', (text, kopecks) => {
  expect(kopecksOf(text)).toBe(kopecks);
});
