import { describe, expect, test } from 'vitest';
import type { Listed } from '../../src/instances/known-instances.ts';
import { spendingByInstance } from '../../src/money/by-instance.ts';
import { money, zero } from '../../src/rules/money.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 0, 15, hour)).toISOString();
const WINDOW = { from: Date.parse(at(0)), to: Date.parse(at(12)) };
const row = (name: string, fields: object): Listed => ({
  id: `id-${name}`,
  name,
  status: 'ACTIVE',
  price_per_hour_snapshot: '89.90',
  ends_at: null,
  unread: false,
  ...fields,
});
const sum = (text: string) => {
  const amount = money(text);
  return amount.ok ? amount.value : zero();
};

describe('spendingByInstance', () => {
  test.each([
    ['running since before', { created_at: at(-5) }, '12.00', '1078.80'],
    ['created in the window', { created_at: at(10) }, '2.00', '179.80'],
    [
      'terminated in the window',
      { created_at: at(1), status: 'TERMINATED', terminated_at: at(3) },
      '2.00',
      '179.80',
    ],
    ['terminating: may end later', { created_at: at(9), status: 'TERMINATING' }, '3.00', '269.70'],
    [
      'gone: until last seen',
      { created_at: at(1), status: 'GONE', last_seen_at: at(2) },
      '1.00',
      '89.90',
    ],
    [
      'terminated at an unknown time',
      { created_at: at(1), status: 'TERMINATED', unread: true },
      null,
      null,
    ],
    ['an unknown price', { created_at: at(10), price_per_hour_snapshot: null }, '2.00', null],
    ['an unknown start', {}, null, null],
  ])('%s', (_what, fields, hours, cost) => {
    const [one, rest] = spendingByInstance([row('one', fields)], sum('2000'), WINDOW);
    expect(one).toMatchObject({ id: 'id-one', name: 'one', hours, cost_estimate: cost });
    expect(rest).toEqual({
      id: null,
      name: null,
      status: null,
      price_per_hour: null,
      hours: null,
      cost_estimate: sum('2000')
        .minus(sum(cost ?? '0'))
        .toFixed(2),
    });
  });

  test('leaves out instances outside the window and requests without an ID', () => {
    const rows = [
      row('before', { created_at: at(-9), status: 'TERMINATED', terminated_at: at(-1) }),
      row('after', { created_at: at(13) }),
      row('lost', { id: null, status: 'UNKNOWN' }),
    ];
    expect(spendingByInstance(rows, sum('5'), WINDOW)).toMatchObject([
      { id: null, cost_estimate: '5.00' },
    ]);
  });

  test('sorts unknown costs first, then the dearest, and the rest may be negative', () => {
    const rows = [
      row('cheap', { created_at: at(11) }),
      row('dear', { created_at: at(1) }),
      row('odd', { created_at: at(1), price_per_hour_snapshot: 'x' }),
    ];
    const all = spendingByInstance(rows, sum('0'), WINDOW);
    expect(all.map(({ name }) => name)).toEqual(['odd', 'dear', 'cheap', null]);
    expect(all.at(-1)?.cost_estimate).toBe('-1078.80');
  });
});
