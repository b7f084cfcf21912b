import { describe, expect, it, test } from 'vitest';
import type { Cell, Kind } from '../../src/output/output.ts';
import {
  barOf,
  cellText,
  checkColour,
  detailText,
  isNumeric,
  isWhole,
  rawText,
  shownCell,
} from '../../src/output/table/kinds.ts';
import { inSeconds, instant, local, relative } from '../../src/output/time.ts';
import { inZone } from '../support/in-zone.ts';
import { NOW } from './world.ts';

const terminal = { terminal: true, now: () => NOW };
const pipe = { terminal: false, now: () => NOW };

describe('values for people', () => {
  it.each<[Cell, Kind | undefined, string, string]>([
    ['89.9', 'money', '89.90 ₽', '89.9'],
    ['-0.005', 'money', '-0.005 ₽', '-0.005'],
    [
      '12345678901234567890.123456789',
      'money',
      '12,345,678,901,234,567,890.123456789 ₽',
      '12345678901234567890.123456789',
    ],
    ['0', 'money', '0.00 ₽', '0'],
    ['free', 'money', 'free', 'free'],
    [null, 'money', '', ''],
    ['1073741824', 'bytes', '1.00 GiB', '1.00 GiB'],
    ['1', 'bytes', '<0.01 GiB', '<0.01 GiB'],
    ['10737418', 'bytes', '<0.01 GiB', '<0.01 GiB'],
    ['10737419', 'bytes', '0.01 GiB', '0.01 GiB'],
    ['-1', 'bytes', '-1', '-1'],
    ['1 B', 'bytes', '1 B', '1 B'],
    ['0', 'bytes', '0.00 GiB', '0.00 GiB'],
    ['many', 'bytes', 'many', 'many'],
    [500, 'gigabytes', '500 GB', '500 GB'],
    ['0.5', 'gigabytes', '0.5 GB', '0.5 GB'],
    ['a1', 'gigabytes', 'a1', 'a1'],
    ['1a', 'gigabytes', '1a', '1a'],
    [7, 'load', '7 %', '7'],
    [null, 'load', '', ''],
    [55, 'bar', '█████▌', '█████▌'],
    [0, 'bar', ' ', ' '],
    [true, 'mark', '*', '*'],
    [false, 'mark', '', ''],
    ['maybe', 'yes', 'maybe', 'maybe'],
    [true, 'yes', 'yes', 'yes'],
    [false, 'yes', 'no', 'no'],
    [true, undefined, 'true', 'true'],
    ['2026-03-01T11:57:00Z', 'time', '3 min ago', inZone('2026-03-01 11:57:00')],
    ['yesterday\u001b[2J', 'time', 'yesterday', 'yesterday'],
    ['', 'text', '', ''],
    [undefined, undefined, '', ''],
  ])('formats %j as %s', (value, kind, forPerson, forPipe) => {
    expect(cellText(value, kind, terminal)).toBe(forPerson);
    expect(cellText(value, kind, pipe)).toBe(forPipe);
  });

  it('formats an undocumented object as JSON', () => {
    expect(rawText({ a: 1 } as unknown as Cell)).toBe('{"a":1}');
  });

  it('formats local time in details, with the age in a terminal', () => {
    const iso = '2026-03-01T11:57:00.000Z';
    expect(detailText(iso, 'time', terminal)).toBe(`${local(Date.parse(iso))} (3 min ago)`);
    expect(detailText(iso, 'time', pipe)).toBe(local(Date.parse(iso)));
  });
});

describe('a bar', () => {
  it.each([
    [-1, ''],
    [0, ''],
    [0.0001, '▏'],
    [0.5, '█████'],
    [0.56, '█████▋'],
    [1, '██████████'],
    [2, '██████████'],
  ])('of %d is %s', (share, bar) => {
    expect(barOf(share, 10)).toBe(bar);
  });
});

describe('times for people', () => {
  it.each([
    [0, 'now'],
    [-999, 'now'],
    [-1000, '1 s ago'],
    [-59_999, '59 s ago'],
    [-60_000, '1 min ago'],
    [-3_599_999, '59 min ago'],
    [-3_600_000, '1 h ago'],
    [-86_399_999, '23 h ago'],
    [-86_400_000, '1 day ago'],
    [-172_800_000, '2 days ago'],
    [52 * 60_000 + 30_000, 'in 52 min'],
    [6 * 3_600_000 - 4_000, 'in 5 h 59 min'],
    [6 * 3_600_000, 'in 6 h'],
    [47 * 3_600_000, 'in 1 day 23 h'],
    [29 * 86_400_000 + 3_600_000, 'in 29 days 1 h'],
    [30 * 86_400_000 + 3_600_000, 'in 30 days'],
    [730 * 86_400_000 - 1_000, 'in 729 days'],
    [730 * 86_400_000, 'in 2 years'],
    [36_500 * 86_400_000 - 1_000, 'in 99 years'],
    [36_500 * 86_400_000, 'in more than 100 years'],
  ])('formats %d ms from now as %s', (distance, words) => {
    expect(relative(NOW + distance, NOW)).toBe(words);
  });

  it.each(['Europe/Moscow', 'Asia/Kolkata', 'America/St_Johns', 'UTC'])(
    'formats local time in %s as Intl does',
    (zone) => {
      const before = process.env.TZ;
      process.env.TZ = zone;
      try {
        const parts = new Intl.DateTimeFormat('sv-SE', {
          timeZone: zone,
          dateStyle: 'short',
          timeStyle: 'medium',
        }).format(NOW);
        const offset = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
          .formatToParts(NOW)
          .find(({ type }) => type === 'timeZoneName')
          ?.value.replace('GMT', '');
        expect(local(NOW)).toBe(`${parts} ${offset || '+00:00'}`);
      } finally {
        if (before === undefined) delete process.env.TZ;
        else process.env.TZ = before;
      }
    },
  );

  it.each(['Asia/Tokyo', 'America/New_York', 'UTC'])(
    'reads a time without a zone as UTC in %s',
    (zone) => {
      const before = process.env.TZ;
      process.env.TZ = zone;
      try {
        const at = Date.UTC(2026, 2, 1, 14, 5, 9);
        expect(instant('2026-03-01T14:05:09')).toBe(at);
        expect(instant('2026-03-01T14:05:09.000000')).toBe(at);
        expect(instant('2026-03-01T14:05:09Z')).toBe(at);
        expect(instant('2026-03-01T17:05:09+03:00')).toBe(at);
        expect(instant('2026-03-01T14:05')).toBe(at - 9_000);
      } finally {
        if (before === undefined) delete process.env.TZ;
        else process.env.TZ = before;
      }
    },
  );

  it.each([
    '2026',
    'March 1 2026',
    '2026-13-01T00:00:00Z',
    'x2026-03-01T00:00:00Z',
    '+012026-03-01T00:00:00Z',
    '',
  ])('returns undefined for %j, which is not a time', (text) => {
    expect(instant(text)).toBeUndefined();
  });
});

test.each<[Kind, Record<string, readonly Cell[]>]>([
  [
    'status',
    {
      green: ['ACTIVE', 'AVAILABLE', 'IN_USE', 'COMPLETED'],
      yellow: ['PROVISIONING', 'REBOOTING'],
      red: ['ERROR', 'FAILED', 'SUSPENDED', 'UNKNOWN', 'GONE'],
      dim: ['STOPPED', 'TERMINATED', 'DELETED', 'CANCELLED', 'EXPIRED'],
      none: ['HIBERNATED', 'toString', '__proto__', 'ING', 'xSTOPPING', 'STOPPING.', null],
    },
  ],
  ['severity', { red: ['ERROR'], yellow: ['WARNING'], none: ['INFO', 'ACTIVE'] }],
  ['load', { green: [81, 100], none: [5, 80, '90', null], yellow: [0, 4] }],
  ['bar', { green: [81], none: [80], yellow: [4] }],
  ['text', { none: ['ERROR', 90] }],
])('colours values of the kind %s', (kind, expected) => {
  for (const [colour, values] of Object.entries(expected))
    for (const value of values)
      expect([value, shownCell(value, kind, terminal).colour ?? 'none']).toEqual([value, colour]);
});

test.each<[Cell, Kind | undefined, boolean | undefined]>([
  [1, undefined, true],
  [1, 'load', true],
  [1, 'bar', false],
  ['1', 'money', false],
  ['', undefined, undefined],
])('aligns %j of the kind %s as a number: %s', (value, kind, numeric) => {
  expect(shownCell(value, kind, pipe).numeric).toBe(numeric);
});

test('aligns headers of amounts to the right, and never cuts statuses, times and blocks', () => {
  const kinds: Kind[] = [
    ...(['text', 'status', 'severity', 'check', 'money', 'time', 'bytes', 'gigabytes'] as const),
    ...(['load', 'bar', 'blocks', 'yes', 'mark'] as const),
  ];
  expect(kinds.filter(isNumeric)).toEqual(['money', 'bytes', 'gigabytes', 'load']);
  expect(kinds.filter(isWhole)).toEqual(['status', 'time', 'blocks']);
});

test.each([
  ['pass', 'green'],
  ['WARN', 'yellow'],
  ['FAIL', 'red'],
])('colours the check %s %s', (mark, colour) => {
  expect(checkColour(mark)).toBe(colour);
});

test.each([
  [0, '0 s'],
  [1, '1 s'],
  [1000, '1 s'],
  [1001, '2 s'],
])('rounds %d ms up to %s', (milliseconds, text) => {
  expect(inSeconds(milliseconds)).toBe(text);
});
