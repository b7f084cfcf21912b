import { afterEach, describe, expect, test } from 'vitest';
import { labelOf, STEPS, startOf, zoneText } from '../../src/money/spend.ts';
import { fc, runs } from '../support/random.ts';

const TZ = process.env.TZ;
afterEach(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

const HOUR = 3_600_000;
/**
 * Time zones that change at night, at midnight (both ways), by half an hour, by a day, or never.
 */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Europe/Moscow',
  'America/New_York',
  'America/Havana',
  'America/Sao_Paulo',
  'Africa/Cairo',
  'Australia/Lord_Howe',
  'Asia/Colombo',
  'Pacific/Apia',
];

function inZone(zone: string): void {
  process.env.TZ = zone;
  expect(new Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone);
}

describe.each(ZONES)('the calendar in %s', (zone) => {
  test.each(STEPS)('assigns each time to exactly one %s', (step) => {
    inZone(zone);
    const moment = fc.integer({ min: Date.UTC(2005, 0, 1), max: Date.UTC(2035, 0, 1) });
    fc.assert(
      fc.property(moment, (at) => {
        const start = startOf(step, at);
        const next = startOf(step, start, 1);
        expect(start <= at && at < next).toBe(true);
        expect(startOf(step, start)).toBe(start);
        expect(startOf(step, next - 1)).toBe(start);
        expect(startOf(step, next)).toBe(next);
        expect(labelOf(step, next) > labelOf(step, start)).toBe(true);
        expect(startOf(step, next, -1)).toBe(start);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('a day', () => {
  test('skips a day missing in the time zone, in both directions', () => {
    inZone('Pacific/Apia');
    const before = startOf('day', Date.parse('2011-12-29T12:00:00-10:00'));
    const after = startOf('day', before, 1);
    expect([before, after].map((start) => labelOf('day', start))).toEqual([
      '2011-12-29',
      '2011-12-31',
    ]);
    expect(startOf('day', after, -1)).toBe(before);
  });

  test('returns days of 23 or 25 hours when the clock changes', () => {
    inZone('Europe/Berlin');
    const length = (day: number, month: number) => {
      const start = startOf('day', new Date(2026, month - 1, day, 12).getTime());
      return (startOf('day', start, 1) - start) / HOUR;
    };
    expect([length(28, 3), length(29, 3), length(30, 3)]).toEqual([24, 23, 24]);
    expect([length(24, 10), length(25, 10), length(26, 10)]).toEqual([24, 25, 24]);
  });

  test('starts a day after midnight if the clock skips midnight', () => {
    inZone('Africa/Cairo');
    const start = startOf('day', Date.parse('2026-04-24T09:00:00Z'));
    expect(new Date(start).toISOString()).toBe('2026-04-23T22:00:00.000Z');
    expect(labelOf('day', start)).toBe('2026-04-24');
  });
});

describe('a week', () => {
  test.each([
    ['2026-01-01', '2026-W01'],
    ['2025-12-29', '2026-W01'],
    ['2025-12-28', '2025-W52'],
    ['2027-01-03', '2026-W53'],
    ['2027-01-04', '2027-W01'],
    ['2024-12-30', '2025-W01'],
  ])('includes the day %s in the week %s', (day, week) => {
    inZone('Europe/Moscow');
    expect(labelOf('week', startOf('week', Date.parse(`${day}T12:00:00+03:00`)))).toBe(week);
  });
});

test("returns the time zone's name and offset", () => {
  inZone('Asia/Tehran');
  expect(zoneText(Date.UTC(2026, 0, 1))).toBe('Asia/Tehran, UTC+03:30');
  inZone('America/New_York');
  expect(zoneText(Date.UTC(2026, 6, 1))).toBe('America/New_York, UTC-04:00');
  expect(zoneText(Date.UTC(2026, 0, 1))).toBe('America/New_York, UTC-05:00');
  inZone('UTC');
  expect(zoneText(Date.UTC(2026, 0, 1))).toBe('UTC');
  // Node reads the file, but knows no name for it. Some systems set this for speed.
  process.env.TZ = ':/etc/localtime';
  expect(zoneText(Date.UTC(2026, 0, 1))).toMatch(/^(?:[A-Z]\S+, )?UTC(?:[+-]\d\d:\d\d)?$/);
});
