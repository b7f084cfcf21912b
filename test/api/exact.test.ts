import { expect, test } from 'vitest';
import { parseExactly } from '../../src/api/response/exact.ts';
import { fc, runs } from '../support/random.ts';

const BIG = '12345678901234567890';

test.each([
  ['alone', BIG, BIG],
  ['below zero', `[-${BIG}]`, [`-${BIG}`]],
  ['after a colon', `{"a":${BIG}}`, { a: BIG }],
  ['after a comma', `[1,${BIG}]`, [1, BIG]],
  ['after a line break', `{"a":\n\t${BIG}\r\n}`, { a: BIG }],
  ['with many decimals', '[0.1000000000000000055]', ['0.1000000000000000055']],
  ['of 16 digits', '[9007199254740993]', ['9007199254740993']],
  ['with an exponent', '[ 1e400, 1.5e3, -1E-400]', ['1e400', 1500, '-1E-400']],
  ['beside safe ones', `[${BIG},-0.0,1.50e2,9007199254740992]`, [BIG, -0, 150, 2 ** 53]],
  ['beside zeros', `[${BIG},0.10000000000000000000]`, [BIG, 0.1]],
  [
    'after a string that ends in a backslash',
    `["\\\\",${BIG},"a\\"1e400"]`,
    ['\\', BIG, 'a"1e400'],
  ],
  [
    'next to a string that contains it',
    `{"a":"[${BIG}, 1e400]","b":7}`,
    { a: `[${BIG}, 1e400]`, b: 7 },
  ],
])('parses an unsafe number %s as a string', (_where, json, value) => {
  expect(parseExactly(json)).toEqual(value);
});

test('parses JSON with ordinary numbers exactly like JSON.parse', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 1), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      expect(parseExactly(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('parses a long string or number in linear time', () => {
  const long = runs(12, 1) * 1024 * 1024;
  for (const text of ['x'.repeat(long), 'a"\\\n'.repeat(long / 8)]) {
    expect(parseExactly(`{"b":${BIG},"a":${JSON.stringify(text)}}`)).toEqual({ b: BIG, a: text });
  }
  // A search that restarts at each zero would take hours.
  const zeros = `1.${'0'.repeat(long / 8)}1`;
  expect(parseExactly(`[${zeros}]`)).toEqual([zeros]);
});
