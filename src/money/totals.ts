import { amountOf, createSum, inRoubles, isNegative, type Sum } from '../rules/money.ts';
import { type Direction, directionOf, type Entry } from './ledger.ts';
import { createLeftOut } from './left-out.ts';

/** Exact sums of incoming and outgoing amounts, and what could not be counted. */
export function createTotals() {
  const sums: Record<Direction, Sum> = { INCOMING: createSum(), OUTGOING: createSum() };
  const left = createLeftOut();
  let count = 0;
  return {
    add(transaction: Entry) {
      count += 1;
      const { id, amount: text, status } = transaction;
      const amount = amountOf(text ?? '');
      const direction = directionOf(transaction);
      if (amount === undefined) {
        left.add('amount', `${id} (${text == null ? 'none' : `"${text.slice(0, 40)}"`})`);
      } else if (status !== 'COMPLETED') {
        left.status(status);
      } else if (direction === undefined) {
        left.add('direction', id);
      } else {
        sums[direction].add(amount);
        if (isNegative(amount)) left.add('sign', id);
      }
    },
    /** Lines for people; none if nothing was added. */
    lines() {
      if (count === 0) return [];
      const [incoming, outgoing] = [sums.INCOMING.total(), sums.OUTGOING.total()].map(inRoubles);
      return [
        `Totals of ${count} ${count === 1 ? 'transaction' : 'transactions'}: ${incoming} in, ${outgoing} out.`,
        ...left.notes(),
        ...left.warnings(),
      ];
    },
  };
}
