import { expect, test } from 'vitest';
import { nearest } from '../../src/rules/nearest.ts';

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
