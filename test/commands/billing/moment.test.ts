import { describe, expect, it } from 'vitest';
import { since, timeOf, until } from '../../../src/rules/times.ts';

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
    '1767225600',
    '2026-01-31T18',
    ' 7d',
  ])('rejects the time %j and lists the valid forms', (text) => {
    expect(at(since, text)).toMatch(/^must be a date \(2026-01-31\), a time .* or an age \(7d\)$/);
  });
});
