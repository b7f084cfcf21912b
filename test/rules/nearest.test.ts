import { expect, test } from 'vitest';
import { nearest, nearestFirst } from '../../src/rules/nearest.ts';

const OFFERS = ['8x H100 80GB SXM5', 'RTX 4090', 'A100 80GB', 'H100 80GB'];

test.each([
  ['4090', 'RTX 4090'],
  ['rtx 409', 'RTX 4090'],
  ['a100', 'A100 80GB'],
  ['h100', 'H100 80GB'],
  ['sxm', '8x H100 80GB SXM5'],
  ['80', undefined],
  ['B200', undefined],
])('returns the nearest name to %j: %j', (word, meant) => {
  expect(nearest(word, OFFERS)).toBe(meant);
});

test.each([
  // One letter missing, too many, changed, or swapped with its neighbour, in this order.
  ['abcd', ['abdcx', 'xyzw', 'abdc', 'abcd', 'ABCD'], ['abcd', 'ABCD', 'abdc', 'abdcx', 'xyzw']],
  ['ab', ['xxx', 'ba', 'a', 'abc', 'xb', ''], ['ba', 'a', 'abc', 'xb', '', 'xxx']],
])('sorts the names by their distance to %s', (word, names, sorted) => {
  expect(nearestFirst(word, names)).toEqual(sorted);
});

test.each([
  ['abc', ['abd'], undefined, 'abd'],
  ['abc', ['axx'], undefined, undefined],
  ['abcdef', ['abcdxy'], undefined, 'abcdxy'],
  ['abcdef', ['abcdxy'], 1, undefined],
  ['ab', ['xab'], undefined, 'xab'],
  ['ab', ['xxab'], undefined, undefined],
  ['abc', ['xxxxxabc', 'abcxxxxx'], undefined, 'abcxxxxx'],
  ['abc', ['xxxxxabc', 'yyyyyabc'], undefined, 'xxxxxabc'],
  ['', ['a'], undefined, undefined],
  ['a', [], undefined, undefined],
])(
  'returns the only near name to %j of %j, at most %j letters away: %j',
  (word, names, most, near) => {
    expect(nearest(word, names, most)).toBe(near);
  },
);
