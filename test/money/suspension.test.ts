import { describe, expect, test } from 'vitest';
import { deletionOf } from '../../src/money/rows.ts';

describe('deletionOf', () => {
  const at = (time: number | undefined) =>
    time === undefined ? null : new Date(time).toISOString();

  test('returns 7 days after the paid time to 7 days after the last change', () => {
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

  test('returns undefined times if the required fields are missing', () => {
    expect(deletionOf({ paid_until: null, updated_at: 'soon' })).toEqual({
      earliest: undefined,
      latest: undefined,
    });
  });
});
