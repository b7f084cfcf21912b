import { describe, expect, test } from 'vitest';
import type { Listed } from '../../src/instances/known-instances.ts';
import type { AccountInstance } from '../../src/json-results/money.ts';
import {
  type BillingItem,
  billsOf,
  burnOf,
  byPrice,
  driveRow,
  instanceRows,
  lineOf,
} from '../../src/money/rows.ts';
import { fc } from '../support/random.ts';
import { amount, sumOf, units } from './amounts.ts';

const BILLING = [
  'CREATING',
  'PROVISIONING',
  'INSTALLING',
  'ACTIVE',
  'STOPPING',
  'STARTING',
  'REBOOTING',
];
const SILENT = ['STOPPED', 'ERROR', 'GONE', 'UNKNOWN', 'UNREAD', 'HIBERNATING', '', 'toString'];

describe('billsOf', () => {
  test('returns the documented billing of each instance status, or "undocumented"', () => {
    const of = (status: string) => billsOf({ kind: 'instance', status });
    for (const status of BILLING) expect(of(status), status).toBe('yes');
    for (const status of ['TERMINATING', 'TERMINATED']) expect(of(status)).toBe('no');
    for (const status of SILENT) expect(of(status), status).toBe('undocumented');
  });

  test('returns "yes" for a SUSPENDED drive, which accrues debt', () => {
    const of = (status: string) => billsOf({ kind: 'drive', status });
    for (const status of ['AVAILABLE', 'IN_USE', 'SYNCING', 'SUSPENDED', 'ERROR']) {
      expect(of(status)).toBe('yes');
    }
    expect(of('DELETED')).toBe('no');
    expect(of('DELETING')).toBe('undocumented');
  });
});

const item: fc.Arbitrary<BillingItem> = fc.record({
  id: fc.constant('id'),
  name: fc.constant('box'),
  kind: fc.constantFrom('instance' as const, 'drive' as const),
  status: fc.constantFrom(...BILLING, ...SILENT, 'TERMINATED', 'AVAILABLE', 'SUSPENDED'),
  price: fc.oneof(amount, fc.constantFrom(null, '', 'free', '1e3', '-5')),
});

const box = { kind: 'instance', id: 'id', name: 'box', status: 'ACTIVE' } as const;

describe('burnOf', () => {
  test('adds the known prices exactly, and lists the other items', () => {
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const isTold = (one: BillingItem) => /^\d+(\.\d+)?$/.test(one.price ?? '');
        const counted = items.filter((one) => billsOf(one) === 'yes' && isTold(one));
        const burn = burnOf(items);
        expect(units(burn.perHour.toFixed())).toBe(sumOf(counted.map(({ price }) => price ?? '')));
        expect(burn.perHour.eq(burn.instances.plus(burn.drives))).toBe(true);
        const others = items.filter((one) => billsOf(one) !== 'no' && !counted.includes(one));
        expect(burn.uncounted.map(({ item: one }) => one)).toEqual(others);
        expect(burn.atMost === undefined).toBe(others.some((one) => !isTold(one)));
        if (burn.atMost !== undefined) expect(burn.atMost.gte(burn.perHour)).toBe(true);
      }),
    );
  });

  test('does not count an unknown price as zero', () => {
    const { perHour, atMost, uncounted } = burnOf([
      { ...box, price: null },
      { ...box, price: '0.1' },
      { ...box, price: '0.2' },
    ]);
    expect(perHour.toFixed()).toBe('0.3');
    expect(atMost).toBeUndefined();
    expect(uncounted.map(({ why }) => why)).toEqual(['price']);
  });
});

const row = {
  id: 'i-1',
  name: 'box',
  status: 'ACTIVE',
  price_per_hour_snapshot: '9.9',
  unread: false,
};
test.each([
  [{}, 'box (i-1), ACTIVE, 9.90 ₽ per hour'],
  [{ name: 'i-1' }, 'i-1, ACTIVE, 9.90 ₽ per hour'],
  [{ id: null, status: 'UNKNOWN' }, 'box, UNKNOWN, 9.90 ₽ per hour'],
  [{ unread: true }, 'box (i-1), ACTIVE when last seen, 9.90 ₽ per hour'],
  [{ price_per_hour_snapshot: null }, 'box (i-1), ACTIVE, price unknown'],
])('describes an instance with %j', (fields, line) => {
  expect(lineOf({ ...row, ...fields } as AccountInstance)).toBe(line);
});

test('sorts by price, the most expensive first and unknown prices last', () => {
  const rows = [null, '2', '10', null, '2.5'].map((price, at) => ({
    ...{ id: at, price_per_hour_snapshot: price },
  })) as unknown as AccountInstance[];
  expect(rows.sort(byPrice).map(({ id }) => id)).toEqual([2, 4, 1, 0, 3]);
});

const NOW = Date.parse('2026-01-15T12:00:00.000Z');
const day = (date: number) => `2026-01-${date}T12:00:00.000Z`;
const shared = { id: 'i-1', name: 'box', status: 'ACTIVE', unread: false };
const idle = { if_idle_seconds: 600, idle_seconds: 60 };
const rescue = { rescue: [{ remote: 'out', local: 'in' }], rescue_failing: 'full disk' };
const times = { created_at: day(14), paid_until: day(16), ends_at: day(17), last_seen_at: day(15) };
const full = {
  ...{ ...shared, ...times, ...idle, ...rescue, price_per_hour_snapshot: '9.9' },
  ...{ offer: { id: 'o-1', name: 'RTX' }, failure_reason: 'no power' },
};
const whole = {
  ...{ ...shared, ...times, ...idle, bills: true, price_per_hour_snapshot: '9.9', offer: 'RTX' },
  ...{ age_seconds: 86_400, rescue: ['out'], rescue_failing: 'full disk' },
  failure_reason: 'no power',
};
const ended = { if_idle_seconds: null, idle_seconds: null, rescue: null, rescue_failing: null };
const empty = Object.fromEntries(Object.keys(whole).map((name) => [name, null]));

test.each<[what: string, row: object, json: readonly object[]]>([
  ['all fields', full, [whole]],
  ['an unread state', { ...full, unread: true }, [{ ...whole, unread: true, paid_until: null }]],
  [
    'a request',
    { ...shared, id: null, status: 'UNKNOWN', ends_at: null, asked_at: day(16) },
    [
      {
        ...{ ...empty, name: 'box', status: 'UNKNOWN', unread: false },
        ...{ created_at: day(16), age_seconds: 0 },
      },
    ],
  ],
  [
    'a terminating instance',
    { ...full, status: 'TERMINATING' },
    [{ ...whole, ...ended, status: 'TERMINATING', bills: false }],
  ],
  ['a terminated instance', { ...full, status: 'TERMINATED' }, []],
])('returns %s of an instance as JSON', (_what, row, json) => {
  expect(instanceRows([row as Listed], NOW)).toEqual(json);
});

const kept = {
  ...{ id: 'd-1', name: 'data', status: 'IN_USE', price_per_hour: '0.12', size_gb: 100 },
  ...{ used_bytes: '7', current_instance_id: 'i-1', paid_until: day(16) },
};
const deleted = { deleted_at_earliest: day(23), deleted_at_latest: day(24) };
const undated = { deleted_at_earliest: null, deleted_at_latest: null };
test.each([
  [kept, { ...kept, ...undated, bills: true }],
  [
    { ...kept, status: 'SUSPENDED', last_billed_at: day(18), updated_at: day(17) },
    { ...kept, ...deleted, status: 'SUSPENDED', bills: true },
  ],
  [
    { id: 'd-1', status: 'NEW' },
    {
      ...Object.fromEntries(Object.keys(kept).map((name) => [name, null])),
      ...{ ...undated, id: 'd-1', status: 'NEW', bills: null },
    },
  ],
])('returns the drive %j as JSON', (drive, json) => {
  expect(driveRow(drive)).toEqual(json);
});
