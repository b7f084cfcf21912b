import { describe, expect, it } from 'vitest';
import { comingAt, comingWord, moment, since, timeOf, until } from '../../../src/rules/times.ts';

const NOW = Date.parse('2026-01-15T12:00:00.000Z');

function at(rule: typeof since, text: string): string {
  const verdict = rule(text);
  return verdict.ok ? new Date(timeOf(verdict.value, NOW)).toISOString() : verdict.rule;
}

/** Converts local time to ISO 8601. */
function here(...parts: [number, number, number, ...number[]]): string {
  const [year, month, day, hour = 0, minute = 0, second = 0, thousandth = 0] = parts;
  return new Date(year, month - 1, day, hour, minute, second, thousandth).toISOString();
}

describe('moments', () => {
  it.each([
    ['2026-01-31T18:00Z', '2026-01-31T18:00:00.000Z'],
    ['2026-12-31T23:59:59Z', '2026-12-31T23:59:59.000Z'],
    ['2026-01-31T18:00:05Z', '2026-01-31T18:00:05.000Z'],
    ['2026-01-31T18:00:05.1234567Z', '2026-01-31T18:00:05.123Z'],
    ['2026-01-31T18:00:05.5Z', '2026-01-31T18:00:05.500Z'],
    ['2026-01-31T01:00:00+03:00', '2026-01-30T22:00:00.000Z'],
    ['2026-01-31T22:30:00-02:30', '2026-02-01T01:00:00.000Z'],
    // People copy times in this format from `get`.
    ['2026-01-31 01:00:00 +03:00', '2026-01-30T22:00:00.000Z'],
    ['2024-02-29T00:00Z', '2024-02-29T00:00:00.000Z'],
    ['7d', '2026-01-08T12:00:00.000Z'],
    ['90m', '2026-01-15T10:30:00.000Z'],
    ['2026-01-31T18:00', here(2026, 1, 31, 18)],
    ['2026-01-31T18:00:05.25', here(2026, 1, 31, 18, 0, 5, 250)],
  ])('parses the time %s', (text, time) => {
    expect(at(since, text)).toBe(time);
    expect(at(until, text)).toBe(time);
  });

  it('parses a date as the whole local day', () => {
    expect(at(since, '2026-01-31')).toBe(here(2026, 1, 31));
    expect(at(until, '2026-01-31')).toBe(here(2026, 2, 1));
  });

  it.each([
    ['2026-02-30', 'there is no such day'],
    ['2025-02-29', 'there is no such day'],
    ['2026-13-01', 'there is no such day'],
    ['2026-00-10', 'there is no such day'],
    ['2026-01-00T10:00Z', 'there is no such day'],
    ['2026-01-01T24:00Z', 'there is no such time of day'],
    ['2026-01-01T10:60Z', 'there is no such time of day'],
    ['2026-01-01T10:00:60Z', 'there is no such time of day'],
  ])('rejects the time %s: %s', (text, rule) => {
    expect(at(since, text)).toBe(rule);
  });

  it.each([
    '',
    'yesterday',
    '7',
    '-7d',
    '01.02.2026',
    '2026-1-1',
    'x2026-01-01',
    '1767225600',
    '2026-01-31T18',
    ' 7d',
  ])('rejects the time %j and lists the valid forms', (text) => {
    expect(at(since, text)).toMatch(/^must be a date \(2026-01-31\), a time .* or an age \(7d\)$/);
  });
});

describe('coming times', () => {
  // A Thursday, in this computer's time zone.
  const now = new Date(2026, 0, 15, 12, 30).getTime();

  it.each([
    ['18:00', here(2026, 1, 15, 18), '18:00'],
    ['9:05', here(2026, 1, 16, 9, 5), '09:05'],
    ['12:30', here(2026, 1, 16, 12, 30), '12:30'],
    ['fri 18:00', here(2026, 1, 16, 18), 'fri 18:00'],
    ['Friday 18:00', here(2026, 1, 16, 18), 'fri 18:00'],
    ['thu 18:00', here(2026, 1, 15, 18), 'thu 18:00'],
    ['THURSDAY 12:30', here(2026, 1, 22, 12, 30), 'thu 12:30'],
    ['wednes 00:00', here(2026, 1, 21), 'wed 00:00'],
    ['sun 8:00', here(2026, 1, 18, 8), 'sun 08:00'],
  ])('reads %s as its next occurrence', (text, time, word) => {
    const verdict = moment(text);
    if (!verdict.ok) throw new Error(verdict.rule);
    expect(new Date(comingAt(verdict.value, now)).toISOString()).toBe(time);
    expect(comingWord(verdict.value)).toBe(word);
    expect(moment(word)).toEqual(verdict);
  });

  it.each([
    'fr 18:00',
    'frida y 18:00',
    'fri',
    'fri18:00',
    'fri 24:00',
    'xyz 18:00',
    'fridays 18:00',
  ])('rejects %s', (text) => {
    expect(moment(text).ok).toBe(false);
  });
});
