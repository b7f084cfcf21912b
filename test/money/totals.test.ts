import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../src/api/index.ts';
import { createTotals } from '../../src/money/ledger.ts';

function totalsOf(...rows: Partial<Transaction>[]): readonly string[] {
  const totals = createTotals();
  rows.forEach((row, at) => {
    totals.add({ id: `t-${at + 1}`, status: 'COMPLETED', direction: 'INCOMING', ...row });
  });
  try {
    totals.assertWhole();
    return totals.lines();
  } catch (error) {
    return [...totals.lines(), (error as Error).message];
  }
}

describe('createTotals', () => {
  it('prints no totals for an empty list', () => {
    expect(totalsOf()).toEqual([]);
  });

  it('adds the amounts 0.1 and 0.2 to exactly 0.3', () => {
    expect(totalsOf({ amount: '0.1' }, { amount: '0.2' })).toEqual([
      'Totals of 2 transactions: 0.30 ₽ in, 0.00 ₽ out.',
    ]);
  });

  it('keeps thirty digits on each side of the decimal point', () => {
    expect(
      totalsOf(
        { amount: '123456789012345678901234567890.000000000000000000000000000001' },
        { amount: '1' },
        { amount: '999999999999999999999999999999', direction: 'OUTGOING' },
        { amount: '0.1', direction: 'OUTGOING' },
      ),
    ).toEqual([
      'Totals of 4 transactions: 123,456,789,012,345,678,901,234,567,891.000000000000000000000000000001 ₽ in, 999,999,999,999,999,999,999,999,999,999.10 ₽ out.',
    ]);
  });

  it('subtracts a negative amount, and reports it', () => {
    expect(totalsOf({ amount: '10' }, { amount: '-2.5' })).toEqual([
      'Totals of 2 transactions: 7.50 ₽ in, 0.00 ₽ out.',
      'Counted with a minus sign: negative amount: 1: t-2.',
    ]);
  });

  it('lists and counts unreadable amounts, and never prints NaN', () => {
    const unreadable = ['', ' ', 'NaN', '1e5', 'Infinity', '1,5', null, undefined];
    const lines = totalsOf({ amount: '5' }, ...unreadable.map((amount) => ({ amount })));
    expect(lines).toEqual([
      'Totals of 9 transactions: 5.00 ₽ in, 0.00 ₽ out.',
      'The totals are incomplete. Not counted: unreadable amount: 8: t-2 (""), t-3 (" "), t-4 ("NaN"), and 5 more.',
    ]);
    expect(totalsOf({ amount: null })[1]).toBe(
      'The totals are incomplete. Not counted: unreadable amount: 1: t-1 (none).',
    );
  });

  it('counts only COMPLETED transactions in totals', () => {
    expect(
      totalsOf(
        { amount: '1' },
        { amount: '500', status: 'PENDING' },
        { amount: '500', status: 'FAILED' },
        { amount: '500', status: 'FAILED' },
        { amount: '500', status: 'REVERSED' },
        { amount: '500', status: null },
      ),
    ).toEqual([
      'Totals of 6 transactions: 1.00 ₽ in, 0.00 ₽ out.',
      'Not counted (only COMPLETED counts): 1 PENDING, 2 FAILED, 1 REVERSED, 1 no status.',
    ]);
  });

  it('derives a missing direction only from a documented type', () => {
    expect(
      totalsOf(
        ...['DEPOSIT', 'BONUS', 'REFUND', 'USAGE_CHARGE'].map((type) => ({
          type,
          amount: '1',
          direction: null,
        })),
        { type: 'FEE', amount: '1', direction: null },
        { type: 'DEPOSIT', amount: '1', direction: 'SIDEWAYS' },
        { type: 'constructor', amount: '1', direction: null },
      ),
    ).toEqual([
      'Totals of 7 transactions: 3.00 ₽ in, 1.00 ₽ out.',
      'The totals are incomplete. Not counted: unknown direction: 3: t-5, t-6, t-7.',
    ]);
  });
});
