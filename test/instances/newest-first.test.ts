import { describe, expect, test } from 'vitest';
import type { Listed } from '../../src/instances/known-instances.ts';
import { newestFirst } from '../../src/instances/newest-first.ts';

function instance(id: string, created_at?: string | null, ordered_at?: string): Listed {
  const own = { id, name: id, status: 'ACTIVE', ends_at: null, unread: false };
  return { ...own, created_at, ...(ordered_at === undefined ? {} : { ordered_at }) };
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
    const rows = [
      instance('a', at(1)),
      instance('b', at(3)),
      instance('c', at(2)),
      instance('d', undefined, at(0)),
    ];
    for (const order of orders(rows)) expect(ids(order)).toEqual(['b', 'c', 'a', 'd']);
  });

  test('takes the time of the request for one that the service does not show', () => {
    const asked = (id: string, asked_at: string | null, ordered_at?: string) => ({
      ...{ id, asked_at, ...(ordered_at === undefined ? {} : { ordered_at }) },
    });
    const rows = [
      { id: 'a', created_at: at(2), asked_at: at(9), ordered_at: at(9) },
      { ...asked('b', at(3), at(9)), created_at: null },
      asked('c', null, at(5)),
      asked('d', at(4)),
    ];
    for (const order of orders(rows)) {
      expect(newestFirst(order).map(({ id }) => id)).toEqual(['c', 'd', 'b', 'a']);
    }
  });

  test('sorts equal creation times by request time, then by ID', () => {
    const rows = [
      instance('b', at(1), at(5)),
      instance('c', at(1), at(6)),
      instance('a', at(1), at(5)),
      instance('0', at(1)),
    ];
    for (const order of orders(rows)) expect(ids(order)).toEqual(['c', 'a', 'b', '0']);
  });

  test('sorts rows without a readable time last', () => {
    const rows = [instance('a', null), instance('b', 'soon'), instance('c', at(1))];
    for (const order of orders(rows)) expect(ids(order)).toEqual(['c', 'a', 'b']);
  });
});
