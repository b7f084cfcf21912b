import Big from 'big.js';
import { describe, expect, test } from 'vitest';
import { hoursText, runwayOf } from '../../src/money/facts.ts';
import { fc } from '../support/random.ts';
import { amount, units } from './amounts.ts';

const NOW = Date.parse('2026-01-15T12:00:00.000Z');
const of = (balance: string, rate: string) => runwayOf(new Big(balance), new Big(rate), NOW);

describe('runwayOf', () => {
  test('returns the whole seconds that the balance covers', () => {
    fc.assert(
      fc.property(amount, amount, (balance, rate) => {
        fc.pre(units(rate) > 0n);
        const seconds = BigInt(of(balance, rate)?.seconds.toFixed() ?? '-1');
        expect(seconds * units(rate) <= units(balance) * 3600n).toBe(true);
        expect((seconds + 1n) * units(rate) > units(balance) * 3600n).toBe(true);
      }),
    );
  });

  test.each([
    ['269.70', '89.90', '3.00', '2026-01-15T15:00:00.000Z'],
    ['269.69', '89.90', '2.99', '2026-01-15T14:59:59.000Z'],
    ['0.005', '0.01', '0.50', '2026-01-15T12:30:00.000Z'],
    ['0', '1', '0.00', '2026-01-15T12:00:00.000Z'],
    ['-12.345', '1', '0.00', '2026-01-15T12:00:00.000Z'],
  ])('returns the hours for %s at %s per hour: %s', (balance, rate, hours, end) => {
    const runway = of(balance, rate);
    expect(runway && hoursText(runway)).toBe(hours);
    expect(new Date(runway?.endsAt ?? 0).toISOString()).toBe(end);
  });

  test('returns exact seconds for a balance of 30 digits', () => {
    const runway = of('123456789012345678901234567890', '0.36');
    expect(runway?.seconds.toFixed()).toBe('1234567890123456789012345678900000');
    expect(runway && hoursText(runway)).toBe('342935525034293552503429355250.00');
    expect(runway?.endsAt).toBeUndefined();
  });

  test.each([
    [0, Date.UTC(10_000, 0, 1) - 1],
    [1, undefined],
  ])('returns no end after the year 9999: %d ms later', (later, end) => {
    const now = Date.UTC(9999, 11, 31, 23) - 1 + later;
    expect(runwayOf(new Big('1'), new Big('1'), now)?.endsAt).toBe(end);
  });

  test('rounds a runway down to whole seconds', () => {
    // Two seconds at this rate, minus a millionth of a rouble.
    const runway = of('19999999999999999999999999.999999', '36000000000000000000000000000');
    expect(runway?.seconds.toFixed()).toBe('1');
  });

  test('returns no runway if nothing is spent', () => {
    expect(of('100', '0')).toBeUndefined();
    expect(of('-100', '0')).toBeUndefined();
  });
});
