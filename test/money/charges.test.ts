import Big from 'big.js';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import {
  archivedCharge,
  type Chargeable,
  checkCharges,
  driveCharge,
  instanceCharge,
  isChanged,
  unreadableCharge,
  type Window,
  windowsOf,
  withoutVerdict,
} from '../../src/money/charges.ts';
import { fc } from '../support/random.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 0, 15);
const WINDOW = { from: NOW - 24 * HOUR, to: NOW };

/** Compares one charge with the known resources, after a deposit if `toppedUp`. */
function explain(charged: Big, known: readonly Chargeable[], window: Window, toppedUp: boolean) {
  const at = { status: 'COMPLETED', created_at: new Date(NOW).toISOString() };
  const charge = { ...at, id: 'charge', type: 'USAGE_CHARGE', amount: charged.toFixed() };
  const deposit = { ...at, id: 'deposit', type: 'DEPOSIT', amount: '1' };
  return checkCharges(window, known, toppedUp ? [charge, deposit] : [charge]);
}

/** An instance that the service charges at the beginning or end of each hour. */
const instance = fc.record({
  kopecks: fc.integer({ min: 1, max: 500_000 }),
  from: fc.integer({ min: -100 * HOUR, max: 0 }).map((back) => NOW + back),
  lasts: fc.integer({ min: 0, max: 120 * HOUR }),
  atEnd: fc.boolean(),
});

type Life = typeof instance extends fc.Arbitrary<infer T> ? T : never;

function chargesOf({ kopecks, from, lasts, atEnd }: Life): Big {
  const end = Math.min(from + lasts, NOW);
  let sum = new Big(0);
  for (let start = from; start < end; start += HOUR) {
    const part = Math.min(end - start, HOUR);
    const at = atEnd ? start + part : start;
    // A charge at the start of an hour covers the whole hour.
    const share = atEnd ? part : HOUR;
    if (at > WINDOW.from && at <= WINDOW.to) {
      sum = sum.plus(new Big(kopecks).div(100).times(share).div(HOUR).round(2, 0));
    }
  }
  return sum;
}

describe('checkCharges', () => {
  test('accepts hours that are charged at their start or end', () => {
    fc.assert(
      fc.property(fc.array(instance, { maxLength: 8 }), (instances) => {
        const known: Chargeable[] = instances.map(({ kopecks, from, lasts }) => ({
          kind: 'instance',
          price: (kopecks / 100).toFixed(2),
          from,
          to: from + lasts < NOW ? from + lasts : undefined,
        }));
        const charged = instances.reduce((sum, one) => sum.plus(chargesOf(one)), new Big(0));
        expect(explain(charged, known, WINDOW, false)?.unexplained.toFixed()).toBe('0');
      }),
    );
  });

  const known: Chargeable[] = [
    { kind: 'instance', price: '100', from: NOW - 1000 * HOUR, to: undefined },
    { kind: 'drive', price: '2', from: NOW - 10 * HOUR, to: undefined },
  ];
  /** Two drives and two instances, by the times of their creation and termination. */
  const drive = (from?: number) => [{ ...known[1], from } as Chargeable];
  const life = (from: number | undefined, to?: number, billedAt?: number) => [
    { ...known[0], from, to, billedAt } as Chargeable,
  ];
  const { from: start, to: end } = WINDOW;

  test.each<[string, readonly Chargeable[], boolean, string, string]>([
    ['all hours of the window and one more, 25 and 11', known, false, '2522', '0'],
    ['the debt of a drive of 10 hours after a deposit', known, true, '2542', '0'],
    ['7 days of a drive of unknown creation after a deposit', drive(), true, '386', '0'],
    ['no debt without a deposit', drive(), false, '50', '0'],
    ['an instance of unknown creation', life(undefined), false, '2500', '0'],
    ['an instance that began with the last moment', life(end), false, '100', '0'],
    ['no instance that began later', life(end + 1), false, '0', '0'],
    ['one that ended an hour before the window', life(0, start - HOUR), false, '100', '0'],
    ['late, one that ended before that', life(0, start - HOUR - 1), false, '100', '100'],
    ['late, one that ended a day before', life(0, start - 24 * HOUR), false, '100', '100'],
    ['none that ended before that', life(0, start - 24 * HOUR - 1), false, '0', '0'],
    [
      'late, all hours up to the last charge',
      life(0, start, start + 3 * HOUR),
      false,
      '400',
      '300',
    ],
    [
      'no more than a day after the end',
      life(0, start - HOUR, start + 24 * HOUR),
      false,
      '2400',
      '2300',
    ],
  ])('explains %s', (_what, resources, toppedUp, atMost, late) => {
    const charged = explain(new Big('100000'), resources, WINDOW, toppedUp);
    const fields = { atMost: charged?.atMost, late: charged?.late, rest: charged?.unexplained };
    expect(JSON.parse(JSON.stringify(fields))).toEqual({
      ...{ atMost, late },
      rest: new Big('100000').minus(atMost).toFixed(),
    });
  });

  test('returns undefined for an unknown price, unless the instance was terminated earlier', () => {
    const untold = { kind: 'instance', price: null, from: undefined } as const;
    expect(explain(new Big('1'), [{ ...untold, to: undefined }], WINDOW, false)).toBeUndefined();
    const ended = { ...untold, to: WINDOW.from - 2 * HOUR };
    expect(explain(new Big('1'), [ended], WINDOW, false)?.unexplained.toFixed()).toBe('1');
  });

  test('reports every charge if no instance or drive is known', () => {
    expect(explain(new Big('0.001'), [], WINDOW, false)?.unexplained.toFixed()).toBe('0.001');
  });
});

const TIME = new Date(NOW).toISOString();
test('finds the first unreadable charge in a window', () => {
  const found = [
    ...[{}, { type: 'REFUND' }, { type: 'DEPOSIT' }, { amount: '1' }, { status: 'PENDING' }],
    ...['soon', NOW + 1, WINDOW.from].map((at) => ({ created_at: new Date(at).toJSON() })),
  ].map((more) => {
    const entry = { type: 'USAGE_CHARGE', status: 'COMPLETED', amount: 'much', created_at: TIME };
    const entries = ['a', 'b'].map((id) => ({ ...entry, ...more, id }));
    return unreadableCharge(WINDOW, entries)?.id ?? '-';
  });
  expect(found.join('')).toBe('aa---a--');
});

test.each([
  ['the last day, and the last 3 hours', 48 * HOUR, [24 * HOUR, 3 * HOUR]],
  ['all that was read, and the last 3 hours', 3 * HOUR + 1, [3 * HOUR + 1, 3 * HOUR]],
  ['all that was read', HOUR, [HOUR]],
  ['nothing', HOUR - 1, []],
])('checks %s of a history of %d ms', (_what, length, windows) => {
  const expected = windows.map((each) => ({ from: NOW - each, to: NOW }));
  expect(windowsOf(NOW - length, NOW)).toEqual(expected);
});

test.each([
  [25, 0, true],
  [26, 0, false],
  [1, 30, true],
  // Not changed since its creation.
  [1, 1, false],
])('says whether a drive changed: %d h ago, created %d h ago', (updated, created, changed) => {
  const ago = (hours: number) => new Date(NOW - hours * HOUR).toISOString();
  const drive = { created_at: ago(created === 0 ? 1000 : created), updated_at: ago(updated) };
  expect(isChanged({ id: 'd', ...drive }, NOW)).toBe(changed);
});

const hours = (count: number) => NOW + count * HOUR;
const iso = (count: number) => new Date(hours(count)).toISOString();
/** What a row of the list says, and what may be charged for it. */
const INSTANCE = {
  ...{ id: 'i', name: 'box', price_per_hour_snapshot: '2', ends_at: null, unread: false },
  ...{ created_at: iso(-9), last_billed_at: iso(-1) },
} as const;
const LIFE = { kind: 'instance', price: '2', from: hours(-9) } as const;

test.each<[string, object, object]>([
  ['a running one', { status: 'ACTIVE' }, { to: undefined, billedAt: hours(-1) }],
  [
    'a terminating one',
    { status: 'TERMINATING', terminated_at: iso(-2) },
    { to: undefined, billedAt: hours(-1) },
  ],
  [
    'a terminated one',
    { status: 'TERMINATED', terminated_at: iso(-2), last_seen_at: iso(-1) },
    { to: hours(-2), billedAt: hours(-1) },
  ],
  [
    'one without an end',
    { status: 'TERMINATED', last_seen_at: iso(-1) },
    { to: undefined, billedAt: hours(-1) },
  ],
  [
    'one that is gone',
    { status: 'GONE', terminated_at: iso(-2), last_seen_at: iso(-3) },
    { to: hours(-3), billedAt: undefined },
  ],
  ['one that was never seen', { status: 'GONE' }, { to: -Infinity, billedAt: undefined }],
  [
    'an unread one',
    { status: 'TERMINATED', unread: true, terminated_at: iso(-2) },
    { to: undefined, billedAt: undefined },
  ],
])('takes the life of an instance from its row: %s', (_what, row, charge) => {
  expect(instanceCharge({ ...INSTANCE, ...row } as never)).toEqual({ ...LIFE, ...charge });
});

const there = (fields: object) =>
  ({ kind: 'there', instance: { ...INSTANCE, ...fields } }) as never;
const unread = { kind: 'unread', fault: new CliError('refused', 'No.') } as never;
const gone = { kind: 'gone' } as never;
test.each<[string, object, undefined, object]>([
  [
    'not read again',
    { status: 'TERMINATED', terminated_at: iso(-4) },
    undefined,
    { to: hours(-4) },
  ],
  ['last seen', { status: 'ACTIVE' }, undefined, { to: hours(-3) }],
  ['never seen', { status: 'ACTIVE', seen_at: null }, undefined, { to: -Infinity }],
  ['gone', { status: 'ACTIVE' }, gone, { to: hours(-3) }],
  ['unread', { status: 'ACTIVE' }, unread, { to: undefined }],
  ['unread, terminated', { status: 'TERMINATED' }, unread, { to: hours(-3) }],
  [
    'running again',
    { status: 'TERMINATED' },
    there({ status: 'ACTIVE' }),
    { to: undefined, billedAt: hours(-1) },
  ],
  [
    'ended now',
    { status: 'ACTIVE' },
    there({ status: 'TERMINATED', terminated_at: iso(-2) }),
    { to: hours(-2), billedAt: hours(-1) },
  ],
  [
    'ended at an unknown time',
    { status: 'TERMINATED', terminated_at: iso(-4) },
    there({ status: 'TERMINATED' }),
    { to: hours(-4), billedAt: hours(-1) },
  ],
  [
    'ended since it was seen',
    { status: 'ACTIVE' },
    there({ status: 'TERMINATED' }),
    { to: hours(-3), billedAt: hours(-1) },
  ],
])(
  'takes the life of an archived instance from its last reading: %s',
  (_what, last, reading, charge) => {
    const seen = { ...INSTANCE, last_billed_at: iso(-5), seen_at: iso(-3), version: 2, ...last };
    expect(archivedCharge(seen as never, reading)).toEqual({
      ...LIFE,
      billedAt: undefined,
      ...charge,
    });
  },
);

test('compares all charges of a window, in groups, with the known resources', () => {
  const entry = (type: string, amount: string, more: object = {}) => ({
    ...{ id: 'e', type, amount, status: 'COMPLETED', created_at: iso(-1) },
    ...more,
  });
  const drive = driveCharge({ id: 'd', price_per_hour: '0.001', created_at: iso(-1) });
  expect(drive).toEqual({ kind: 'drive', price: '0.001', from: hours(-1), to: undefined });
  const known: Chargeable[] = [
    drive,
    { kind: 'instance', price: '2', from: hours(-2), to: undefined },
    { kind: 'instance', price: '0.001', from: 0, to: hours(-30) },
  ];
  const charge = (amount: string, description?: string) =>
    entry('USAGE_CHARGE', amount, { description });
  const checked = checkCharges(WINDOW, known, [
    ...[charge('2', 'box'), charge('5', 'odd'), charge('4', 'odd'), charge('4', 'odd')],
    ...[charge('2', 'box'), charge('2.0'), charge('9', 'odd'), entry('REFUND', '3.5')],
    ...[entry('FEE', '1'), entry('FEE', '1'), entry('FEE', '1', { direction: 'INCOMING' })],
    ...[entry('USAGE_CHARGE', '7', { status: 'PENDING' }), entry('BONUS', '50')],
    ...[entry('USAGE_CHARGE', '8', { created_at: iso(-24) })],
    ...[entry('USAGE_CHARGE', '8', { created_at: iso(0.1) })],
  ]);
  const group = (description: string, amount: string, count: number) => {
    return { description, amount, count };
  };
  const expected = {
    ...{ ...WINDOW, charged: '24.5', refunded: '3.5', atMost: '6.02', late: '0.01' },
    ...{ unexplained: '18.48', maybeDrives: '0', unclear: [group('FEE', '1', 2)] },
    groups: [
      ...[group('odd', '9', 1), group('odd', '4', 2), group('odd', '5', 1)],
      ...[group('box', '2', 2), group('', '2', 1)],
    ],
  };
  expect(JSON.parse(JSON.stringify(checked))).toEqual(expected);
  const unjudged = { ...expected, unexplained: '0', maybeDrives: '18.48' };
  expect(checked && JSON.parse(JSON.stringify(withoutVerdict(checked)))).toEqual(unjudged);
});
