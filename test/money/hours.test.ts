import { describe, expect, test } from 'vitest';
import { restOfHour } from '../../src/instances/paid-hour.ts';
import { deletionOf } from '../../src/money/suspension.ts';

const NOW = Date.parse('2026-01-15T12:00:00Z');
const MINUTE = 60_000;

describe('the rest of a paid hour', () => {
  test.each([
    ['89.90', 60, '89.9'],
    ['89.90', 30, '44.95'],
    ['89.90', 1, '1.49'],
    ['0.001', 59, '0'],
  ])('%s an hour, %i minutes left: %s', (price, minutes, amount) => {
    const rest = restOfHour(price, NOW + minutes * MINUTE, NOW);
    expect(rest?.amount.toFixed()).toBe(amount);
    expect(rest?.left).toBe(minutes * MINUTE);
  });

  test('is not told where the fields tell no running hour', () => {
    expect(restOfHour('89.90', NOW, NOW)).toBeUndefined();
    expect(restOfHour('89.90', NOW - 1, NOW)).toBeUndefined();
    expect(restOfHour('89.90', NOW + 61 * MINUTE, NOW)).toBeUndefined();
    expect(restOfHour('89.90', undefined, NOW)).toBeUndefined();
    expect(restOfHour(null, NOW + MINUTE, NOW)).toBeUndefined();
  });
});

describe('when a suspended drive is deleted', () => {
  const at = (time: number | undefined) =>
    time === undefined ? null : new Date(time).toISOString();

  test('lies between 7 days after it was paid for and 7 days after its last change', () => {
    const { earliest, latest } = deletionOf({
      paid_until: '2026-01-10T00:00:00Z',
      last_billed_at: '2026-01-10T00:00:00Z',
      updated_at: '2026-01-12T00:00:00Z',
    });
    expect([at(earliest), at(latest)]).toEqual([
      '2026-01-17T00:00:00.000Z',
      '2026-01-19T00:00:00.000Z',
    ]);
  });

  test('is not told where no field tells it', () => {
    expect(deletionOf({ paid_until: null, updated_at: 'soon' })).toEqual({
      earliest: undefined,
      latest: undefined,
    });
  });
});
