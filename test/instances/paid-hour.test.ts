import { describe, expect, test } from 'vitest';
import { restOfHour } from '../../src/money/termination.ts';

const NOW = Date.parse('2026-01-15T12:00:00Z');
const MINUTE = 60_000;

describe('restOfHour', () => {
  test.each([
    ['89.90', 60, '89.9'],
    ['89.90', 30, '44.95'],
    ['89.90', 1, '1.49'],
    ['0.001', 59, '0'],
  ])(
    "returns the paid hour's value at %s per hour with %i minutes left: %s",
    (price, minutes, amount) => {
      const rest = restOfHour(price, NOW + minutes * MINUTE, NOW);
      expect(rest?.amount.toFixed()).toBe(amount);
      expect(rest?.left).toBe(minutes * MINUTE);
    },
  );

  test('returns undefined without a paid hour in progress', () => {
    expect(restOfHour('89.90', NOW, NOW)).toBeUndefined();
    expect(restOfHour('89.90', NOW - 1, NOW)).toBeUndefined();
    expect(restOfHour('89.90', NOW + 61 * MINUTE, NOW)).toBeUndefined();
    expect(restOfHour('89.90', undefined, NOW)).toBeUndefined();
    expect(restOfHour(null, NOW + MINUTE, NOW)).toBeUndefined();
  });
});
