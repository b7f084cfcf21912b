import { describe, expect, test } from 'vitest';
import type { Entry } from '../../src/money/ledger.ts';
import { labelOf, netOf, openBooks, STEPS } from '../../src/money/spend.ts';
import { fc, runs } from '../support/random.ts';
import { amount, sumOf, units } from './amounts.ts';

const START = new Date(2026, 0, 1).getTime();
const END = new Date(2026, 3, 1).getTime();
const WAY: Readonly<Record<string, string>> = {
  USAGE_CHARGE: 'OUTGOING',
  REFUND: 'INCOMING',
  DEPOSIT: 'INCOMING',
  BONUS: 'INCOMING',
};

const entry: fc.Arbitrary<Entry> = fc
  .record({
    id: fc.uuid(),
    type: fc.constantFrom('USAGE_CHARGE', 'USAGE_CHARGE', 'REFUND', 'DEPOSIT', 'BONUS', 'CASHBACK'),
    status: fc.constantFrom('COMPLETED', 'COMPLETED', 'PENDING', 'FAILED', 'FROZEN', null),
    amount: fc.oneof({ weight: 8, arbitrary: amount }, fc.constantFrom(null, '', '1e3', 'free')),
    at: fc.integer({ min: START - 1e9, max: END + 1e9 }),
    turned: fc.nat(20).map((chance) => chance === 0),
  })
  .map(({ at, turned, ...rest }) => ({
    ...rest,
    direction: turned ? 'SIDEWAYS' : (WAY[rest.type] ?? 'INCOMING'),
    created_at: new Date(at).toISOString(),
  }));

function isCounted(one: Entry): boolean {
  return one.status === 'COMPLETED' && /^\d+(\.\d+)?$/.test(one.amount ?? '');
}

describe('the statement', () => {
  test.each(STEPS)('counts each transaction in exactly one %s, to the last digit', (step) => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 80 }), (entries) => {
        const books = openBooks({ step, from: START, to: END });
        for (const one of entries) books.add(one);
        const rows = books.rows(END);
        const inside = entries.filter((one) => {
          const at = Date.parse(one.created_at ?? '');
          return at >= START && at < END;
        });
        const amounts = (type: string) =>
          sumOf(
            inside
              .filter((one) => isCounted(one) && one.type === type && one.direction === WAY[type])
              .map((one) => one.amount ?? ''),
          );
        const column = (of: (row: (typeof rows)[number]) => string) => sumOf(rows.map(of));
        expect(column((row) => row.sums.charged.toFixed())).toBe(amounts('USAGE_CHARGE'));
        expect(column((row) => row.sums.refunded.toFixed())).toBe(amounts('REFUND'));
        expect(column((row) => row.sums.deposited.toFixed())).toBe(amounts('DEPOSIT'));
        expect(column((row) => row.sums.bonus.toFixed())).toBe(amounts('BONUS'));
        expect(column((row) => netOf(row).toFixed())).toBe(
          amounts('USAGE_CHARGE') - amounts('REFUND'),
        );
        expect(units(netOf(books.total()).toFixed())).toBe(
          amounts('USAGE_CHARGE') - amounts('REFUND'),
        );
        expect(rows.reduce((sum, row) => sum + row.count, 0)).toBe(inside.filter(isCounted).length);

        expect(rows[0]?.from).toBe(START);
        expect(rows.at(-1)?.to).toBe(END);
        expect(rows.slice(1).map(({ from }) => from)).toEqual(
          rows.slice(0, -1).map(({ to }) => to),
        );
      }),
      { numRuns: runs(60) },
    );
  });

  const charge = { type: 'USAGE_CHARGE', status: 'COMPLETED', direction: 'OUTGOING' };
  const dated = (id: string, amount: string, more: Partial<Entry> = {}) => {
    return { ...charge, id, amount, created_at: '2026-01-02T00:00:00Z', ...more };
  };
  const booked = (entries: readonly Entry[]) => {
    const books = openBooks({ step: 'day', from: START, to: Number.POSITIVE_INFINITY });
    for (const one of entries) books.add(one);
    return books;
  };

  test('shows an unknown type by name, and excludes it from all sums', () => {
    const total = booked([
      dated('a', '10'),
      dated('b', '1.5', { type: 'TAX' }),
      dated('c', '2.5', { type: 'TAX', created_at: '2026-01-03T01:00:00Z' }),
      dated('d', '7', { direction: 'INCOMING' }),
    ]).total();
    expect(netOf(total).toFixed()).toBe('10');
    const others = total.other.map((one) => ({ ...one, amount: one.amount.toFixed() }));
    expect(others).toEqual([
      { type: 'TAX', direction: 'OUTGOING', amount: '4', count: 2 },
      { type: 'USAGE_CHARGE', direction: 'INCOMING', amount: '7', count: 1 },
    ]);
  });

  test('lists the transactions that the statement does not count', () => {
    const { left } = booked([
      dated('pending', '10', { status: 'PENDING' }),
      ...[dated('free', 'free'), dated('zero', '0'), dated('minus', '-1')],
      dated('when', '1', { created_at: 'yesterday' }),
    ]);
    expect(left.notes()).toEqual(['Not counted (only COMPLETED counts): 1 PENDING.']);
    expect(left.warnings()).toEqual(['Counted with a minus sign: negative amount: 1: minus.']);
    expect(() => left.assertWhole()).toThrow(
      'The totals are incomplete. Not counted: unreadable amount: 1: free. Not counted: unreadable time: 1: when.',
    );
  });

  test("includes the statement's start time and excludes its end time", () => {
    const books = openBooks({ step: 'day', from: START, to: END });
    const times = { first: START, before: START - 1, last: END - 1, after: END };
    for (const [id, at] of Object.entries(times)) {
      books.add({ ...charge, id, amount: '1', created_at: new Date(at).toISOString() });
    }
    expect(books.total().count).toBe(2);
    expect(books.rows(END)[0]?.count).toBe(1);
    expect(books.rows(END).at(-1)?.count).toBe(1);
  });

  test.each([
    ['without gaps', '2026-01-04', ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04']],
    ['without empty days up to 9999', '9999-01-02', ['2026-01-01', '2026-01-02', '9999-01-02']],
  ])('sorts the days of transactions in any order, %s', (_how, last, days) => {
    const open = Number.POSITIVE_INFINITY;
    const books = openBooks({ step: 'day', from: -open, to: open });
    for (const day of ['2026-01-02', last, '2026-01-01'])
      books.add({ ...charge, id: day, amount: '1', created_at: `${day}T12:00:00Z` });
    expect(books.rows(START).map(({ from }) => labelOf('day', from))).toEqual(days);
  });

  test('starts a trimmed statement on the day of the first transaction', () => {
    const created_at = new Date(2026, 0, 5).toISOString();
    const books = booked([{ ...charge, id: 'a', amount: '1', created_at }]);
    const until = new Date(2026, 0, 8).getTime();
    expect(books.rows(until)).toHaveLength(7);
    expect(books.rows(until, { trimmed: true })).toHaveLength(3);
    expect(booked([]).rows(until, { trimmed: true })).toEqual([]);
  });
});

test('lists a type twice if it occurs in both directions', () => {
  const books = openBooks({ step: 'day', from: START, to: END });
  const created_at = new Date(START).toISOString();
  for (const [direction, amount] of [
    ['INCOMING', '5'],
    ['OUTGOING', '2'],
    ['OUTGOING', '1'],
  ] as const) {
    const id = `${direction}-${amount}`;
    books.add({ id, type: 'CASHBACK', status: 'COMPLETED', amount, direction, created_at });
  }
  const { other } = books.total();
  expect(other.map(({ direction, amount }) => [direction, amount.toFixed()])).toEqual([
    ['INCOMING', '5'],
    ['OUTGOING', '3'],
  ]);
});
