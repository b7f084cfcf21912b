import type { Transaction } from '../../api/index.ts';
import { type Direction, directionOf } from '../../money/ledger.ts';
import { amountOf, createSum, isNegative, kopecksText, type Sum } from '../../rules/money.ts';

/** What came in and went out, exact, and an honest word on what could not be counted. */
export interface Totals {
  add(transaction: Transaction): void;
  /** Lines for people; none where nothing was added. */
  lines(): readonly string[];
}

export function createTotals(): Totals {
  const sums: Record<Direction, Sum> = { INCOMING: createSum(), OUTGOING: createSum() };
  const statuses = new Map<string, number>();
  const unreadable = namedFew();
  const undirected = namedFew();
  const negative = namedFew();
  let count = 0;

  return {
    add(transaction) {
      count += 1;
      const { id, amount: text, status } = transaction;
      const amount = amountOf(text ?? '');
      const direction = directionOf(transaction);
      if (amount === undefined) {
        unreadable.add(`${id} (${text == null ? 'none' : `"${text.slice(0, 40)}"`})`);
      } else if (status !== 'COMPLETED') {
        const word = status ?? 'without a status';
        statuses.set(word, (statuses.get(word) ?? 0) + 1);
      } else if (direction === undefined) {
        undirected.add(id);
      } else {
        sums[direction].add(amount);
        if (isNegative(amount)) negative.add(id);
      }
    },
    lines() {
      if (count === 0) {
        return [];
      }
      const others = [...statuses].map(([word, times]) => `${times} ${word}`).join(', ');
      return [
        `Totals of ${count} ${count === 1 ? 'transaction' : 'transactions'}: incoming ${kopecksText(sums.INCOMING.total())} RUB, outgoing ${kopecksText(sums.OUTGOING.total())} RUB.`,
        ...(others === '' ? [] : [`Not in the totals, since only COMPLETED counts: ${others}.`]),
        ...unreadable.line((many) => `Not in the totals, amount not readable: ${many}`),
        ...undirected.line((many) => `Not in the totals, direction not known: ${many}`),
        ...negative.line(
          (many) => `In the totals with its sign, though amounts should be absolute: ${many}`,
        ),
      ];
    },
  };
}

const NAMED = 3;

/** Counts all and names a few: a history can hold a million of them. */
function namedFew() {
  const names: string[] = [];
  let count = 0;
  return {
    add(name: string): void {
      count += 1;
      if (names.length < NAMED) names.push(name);
    },
    line(word: (many: string) => string): string[] {
      if (count === 0) return [];
      const more = count > NAMED ? `, and ${count - NAMED} more` : '';
      return [`${word(`${count}: ${names.join(', ')}${more}`)}.`];
    },
  };
}
