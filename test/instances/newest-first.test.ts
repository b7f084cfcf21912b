import { describe, expect, test } from 'vitest';
import { type Listed, newestFirst } from '../../src/instances/known-instances.ts';

function instance(id: string, created_at: string | null, more: Partial<Listed> = {}): Listed {
  return {
    id,
    name: id,
    status: 'ACTIVE',
    instance: { id, status: 'ACTIVE', created_at },
    ...more,
  };
}

const at = (hour: number) => `2026-01-15T${String(hour).padStart(2, '0')}:00:00.000Z`;
const ids = (rows: readonly Listed[]) => newestFirst(rows).map(({ id }) => id);

/** Returns all permutations. */
function orders<T>(rows: readonly T[]): T[][] {
  return rows.length < 2
    ? [[...rows]]
    : rows.flatMap((row, i) => orders(rows.toSpliced(i, 1)).map((rest) => [row, ...rest]));
}

describe('newestFirst', () => {
  test('sorts rows by creation time, newest first', () => {
    const last = { id: 'c', name: 'c', status: 'STOPPED', created_at: at(2), seen_at: at(9) };
    const rows = [
      instance('a', at(1)),
      instance('b', at(3)),
      { id: 'c', name: 'c', status: 'GONE', last },
      { id: 'd', name: 'd', status: 'UNREAD', ordered_at: at(0) },
    ];
    for (const order of orders(rows)) expect(ids(order)).toEqual(['b', 'c', 'a', 'd']);
  });

  test('sorts equal creation times by request time, then by ID', () => {
    const rows = [
      instance('b', at(1), { ordered_at: at(5) }),
      instance('c', at(1), { ordered_at: at(6) }),
      instance('a', at(1), { ordered_at: at(5) }),
      instance('0', at(1)),
    ];
    for (const order of orders(rows)) expect(ids(order)).toEqual(['c', 'a', 'b', '0']);
  });

  test('sorts rows without a readable time last', () => {
    const rows = [instance('a', null), instance('b', 'soon'), instance('c', at(1))];
    for (const order of orders(rows)) expect(ids(order)).toEqual(['c', 'a', 'b']);
  });
});
