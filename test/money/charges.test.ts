import Big from 'big.js';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import {
  archivedCharge,
  type Chargeable,
  checkCharges,
  isChanged,
  unreadableCharge,
  type Window,
  windowsOf,
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
test.each([
  ['TERMINATED', false, NOW],
  ['TERMINATED', true, NOW],
  ['ACTIVE', false, NOW],
  ['ACTIVE', true, undefined],
])('ends the charges of an archived %s instance, unread %s, at %s', (status, isUnread, to) => {
  const last = { id: 'i', name: 'box', status, seen_at: TIME, version: 2 } as const;
  const unread = { kind: 'unread', fault: new CliError('refused', 'No.') } as const;
  expect(archivedCharge(last, isUnread ? unread : undefined).to).toBe(to);
});

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
