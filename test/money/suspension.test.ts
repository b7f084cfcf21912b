import { describe, expect, test } from 'vitest';
import { deletionOf } from '../../src/money/rows.ts';

describe('deletionOf', () => {
  const at = (time: number | undefined) =>
    time === undefined ? null : new Date(time).toISOString();

  test('returns the earliest and the latest deletion time of a suspended drive', () => {
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

  test('returns no deletion time if the required fields are missing', () => {
    expect(deletionOf({ paid_until: null, updated_at: 'soon' })).toEqual({
      earliest: undefined,
      latest: undefined,
    });
  });
});
