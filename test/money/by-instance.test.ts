import { describe, expect, test } from 'vitest';
import type { Listed } from '../../src/instances/known-instances.ts';
import { costEstimate, spendingByInstance, unchargedIn } from '../../src/money/by-instance.ts';
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
const NONE = new Map<string, string>();
const sum = (text: string) => {
  const amount = money(text);
  return amount.ok ? amount.value : zero();
};

describe('spendingByInstance', () => {
  const made = (hour: number, more: object = {}) => ({ created_at: at(hour), ...more });
  const ended = (hour: number) => ({ status: 'TERMINATED', terminated_at: at(hour) });
  const COSTS = { '1.00': '89.90', '2.00': '179.80', '3.00': '269.70', '12.00': '1078.80' };
  test.each<[string, object, keyof typeof COSTS | null]>([
    ['running since before', made(-5), '12.00'],
    ['created in the window', made(10), '2.00'],
    ['terminated in the window', made(1, ended(3)), '2.00'],
    ['terminating: may end later', made(9, { status: 'TERMINATING' }), '3.00'],
    ['gone: until last seen', made(1, { status: 'GONE', last_seen_at: at(2) }), '1.00'],
    ['terminated at an unknown time', made(1, { status: 'TERMINATED', unread: true }), null],
    ['stopped: until it is paid', made(1, { status: 'STOPPED', paid_until: at(3) }), '2.00'],
    [
      'terminating: until it is paid',
      made(1, { status: 'TERMINATING', paid_until: at(3) }),
      '2.00',
    ],
    ['terminated within a paid hour', made(1, { ...ended(2), paid_until: at(3) }), '1.00'],
    ['overdue: it still bills', made(10, { paid_until: at(11) }), '2.00'],
    [
      'stopped when last read: it may have been started',
      made(10, { status: 'STOPPED', paid_until: at(11), unread: true }),
      '2.00',
    ],
    ['an unknown price', made(10, { price_per_hour_snapshot: null }), '2.00'],
    ['an unknown start', {}, null],
  ])('%s', (_what, fields, hours) => {
    const isUnknown = hours === null || 'price_per_hour_snapshot' in fields;
    const cost = isUnknown ? null : COSTS[hours];
    const [one, rest] = spendingByInstance([row('one', fields)], sum('2000'), WINDOW, NONE);
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

  test.each([
    ['whole in the window', { created_at: at(1), terminated_at: at(3) }, '0.15'],
    ['partly before it', { created_at: at(-1), terminated_at: at(3) }, '269.70'],
    ['partly after it', { created_at: at(10), terminated_at: at(13) }, '179.80'],
  ])('takes the exact cost of a lifetime %s', (_what, fields, cost) => {
    const exact = new Map([['id-one', '0.15']]);
    const one = row('one', { ...fields, status: 'TERMINATED' });
    expect(spendingByInstance([one], sum('300'), WINDOW, exact)[0]).toMatchObject({
      cost_estimate: cost,
    });
    const estimate = (own: typeof exact) =>
      costEstimate({ ...one, was_stopped: true }, Date.parse(at(20)), own);
    // An exact cost counts no time while stopped.
    expect(estimate(exact)).toEqual({ cost_estimate: '0.15' });
    expect(estimate(new Map()).was_stopped).toBe(true);
  });

  test('marks an instance that was stopped, unless its exact cost is known', () => {
    const ended = { created_at: at(1), status: 'TERMINATED', terminated_at: at(3) };
    const rows = [row('one', ended), row('two', ended)].map((each) => ({
      ...each,
      was_stopped: true,
    }));
    const all = spendingByInstance(rows, sum('300'), WINDOW, new Map([['id-one', '0.15']]));
    expect(all.map(({ name, was_stopped }) => [name, was_stopped])).toEqual([
      ['two', true],
      ['one', undefined],
      [null, undefined],
    ]);
  });

  test('leaves out instances outside the window and requests without an ID', () => {
    const rows = [
      row('before', { created_at: at(-9), status: 'TERMINATED', terminated_at: at(-1) }),
      row('after', { created_at: at(13) }),
      row('lost', { id: null, status: 'UNKNOWN' }),
    ];
    expect(spendingByInstance(rows, sum('5'), WINDOW, NONE)).toMatchObject([
      { id: null, cost_estimate: '5.00' },
    ]);
  });

  test('sorts unknown costs first, then the dearest, and the rest may be negative', () => {
    const rows = [
      row('cheap', { created_at: at(11) }),
      row('dear', { created_at: at(1) }),
      row('odd', { created_at: at(1), price_per_hour_snapshot: 'x' }),
    ];
    const all = spendingByInstance(rows, sum('0'), WINDOW, NONE);
    expect(all.map(({ name }) => name)).toEqual(['odd', 'dear', 'cheap', null]);
    expect(all.at(-1)?.cost_estimate).toBe('-1078.80');
  });
});

test.each([
  ['since its last charge', { created_at: at(1), last_billed_at: at(11) }, '89.90'],
  ['without a charge since its creation', { created_at: at(11) }, '89.90'],
  [
    'perhaps stopped since its last charge',
    { created_at: at(1), last_billed_at: at(10) },
    undefined,
  ],
  ['charged after the window', { created_at: at(1), last_billed_at: at(13) }, '0.00'],
  ['stopped', { created_at: at(1), last_billed_at: at(2), status: 'STOPPED' }, '0.00'],
  ['unread', { created_at: at(1), last_billed_at: at(2), unread: true }, '0.00'],
])('prices the time that is not charged yet: %s', (_what, fields, cost) => {
  const rows = [row('one', fields), row('two', { created_at: at(12) })];
  expect(unchargedIn(rows, WINDOW)?.toFixed(2)).toBe(cost);
});
