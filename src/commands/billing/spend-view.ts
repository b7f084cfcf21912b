import { labelOf, type Step, startOf } from '../../money/calendar.ts';
import { netOf, type Spent } from '../../money/spend.ts';
import { type Block, type Column, field, type View } from '../../output/output.ts';
import type { Spending } from '../../results/money.ts';
import { kopecksText, roublesText } from '../../rules/money.ts';

type SpendRow = ReturnType<typeof rowOf>;

/** One period in the JSON of `billing spend`. Amounts are roubles. */
export function rowOf(spent: Spent, by: Step) {
  const { sums, other, count, from, to } = spent;
  return {
    /** `2026-01-15`, `2026-W03`, `2026-01`. */
    period: labelOf(by, startOf(by, from)),
    /** The requested part of the period, `to` excluded. */
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    /** Charges minus refunds. */
    spent: kopecksText(netOf(spent)),
    charged: kopecksText(sums.charged),
    refunded: kopecksText(sums.refunded),
    deposited: kopecksText(sums.deposited),
    bonus: kopecksText(sums.bonus),
    /** Undocumented types, and types in the other direction. No sum includes them. */
    other: other.map(({ type, direction, amount, count: times }) => ({
      type,
      direction: direction ?? null,
      amount: kopecksText(amount),
      count: times,
    })),
    transactions: count,
  } satisfies Spending;
}

const columns: readonly Column<SpendRow>[] = [
  field('period', 'PERIOD'),
  field('spent', 'SPENT', { kind: 'money' }),
  field('charged', 'CHARGED', { kind: 'money' }),
  field('refunded', 'REFUNDED', { kind: 'money' }),
  field('deposited', 'DEPOSITED', { kind: 'money' }),
  field('bonus', 'BONUS', { kind: 'money' }),
  {
    id: 'other',
    header: 'OTHER',
    value: (r) => r.other.map(({ type, amount }) => `${type} ${amount}`).join(' '),
    hidden: true,
  },
  field('transactions', 'TRANSACTIONS', { hidden: true }),
  field('from', 'FROM', { kind: 'time', hidden: true }),
  field('to', 'TO', { kind: 'time', hidden: true }),
];

export const spendView: View<SpendRow> = {
  columns,
  id: (r) => r.period,
  empty: 'No transactions.',
};

/** A bar for each period, scaled to its spending; its length needs no exact amount. */
export function spendBlocks(rows: readonly SpendRow[]): Block[] {
  const most = Math.max(0, ...rows.map(({ spent }) => Number(spent)));
  const bars = rows.map(({ period, spent }) => ({
    label: period,
    value: roublesText(spent),
    share: Number(spent) > 0 ? Number(spent) / most : 0,
  }));
  return [{ kind: 'bars', bars }];
}
