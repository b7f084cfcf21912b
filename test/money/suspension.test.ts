import { describe, expect, test } from 'vitest';
import { deletionOf } from '../../src/money/rows.ts';

describe('when a suspended drive is deleted', () => {
  const at = (time: number | undefined) =>
    time === undefined ? null : new Date(time).toISOString();

  test('is between 7 days after its paid time and 7 days after its last change', () => {
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

  test('is unknown if the needed fields are missing', () => {
    expect(deletionOf({ paid_until: null, updated_at: 'soon' })).toEqual({
      earliest: undefined,
      latest: undefined,
    });
  });
});
