import type { Transaction } from '../api/index.ts';
import { CliError } from '../errors.ts';
import {
  amountOf,
  createSum,
  inRoubles,
  isNegative,
  type Money,
  money,
  type Sum,
} from '../rules/money.ts';

/** The money-related fields of a transaction (API document: Transaction). */
export type Entry = Pick<
  Transaction,
  'id' | 'type' | 'status' | 'amount' | 'direction' | 'created_at'
>;

export type Direction = 'INCOMING' | 'OUTGOING';

/** "INCOMING (deposit, bonus, refund) or OUTGOING (usage)" (API document: Transaction). */
const DIRECTIONS: Readonly<Record<string, Direction>> = {
  DEPOSIT: 'INCOMING',
  BONUS: 'INCOMING',
  REFUND: 'INCOMING',
  USAGE_CHARGE: 'OUTGOING',
};

/** Returns the direction in the response; if missing, the direction of a documented type. */
function directionOf({ direction, type }: Entry): Direction | undefined {
  if (direction === 'INCOMING' || direction === 'OUTGOING') {
    return direction;
  }
  return direction == null && Object.hasOwn(DIRECTIONS, type ?? '')
    ? DIRECTIONS[type ?? '']
    : undefined;
}

/** How to book a transaction. `status`: no money moved. `amount`: the amount is unreadable. */
type Posting = Posted | { readonly counts: false; readonly why: 'status' | 'amount' };

export interface Posted {
  readonly counts: true;
  /** A documented type in its documented direction; otherwise `other`, under its own name. */
  readonly heading: Heading | 'other';
  readonly amount: Money;
  readonly direction: Direction | undefined;
}

export type Heading = 'charged' | 'refunded' | 'deposited' | 'bonus';

const HEADINGS: Readonly<Record<string, Heading>> = {
  USAGE_CHARGE: 'charged',
  REFUND: 'refunded',
  DEPOSIT: 'deposited',
  BONUS: 'bonus',
};

/**
 * Classifies a transaction. Only COMPLETED transactions moved money (API document: Transaction,
 * statuses).
 */
export function postingOf(entry: Entry): Posting {
  if (entry.status !== 'COMPLETED') return { counts: false, why: 'status' };
  const amount = money(entry.amount ?? '');
  if (!amount.ok) return { counts: false, why: 'amount' };
  const type = entry.type ?? '';
  const direction = directionOf(entry);
  const known = Object.hasOwn(HEADINGS, type) && DIRECTIONS[type] === direction;
  return {
    counts: true,
    heading: known ? (HEADINGS[type] ?? 'other') : 'other',
    amount: amount.value,
    direction,
  };
}

/**
 * Adds up incoming and outgoing amounts exactly, and collects transactions that could not be
 * counted.
 */
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
      if (status !== 'COMPLETED') {
        left.status(status);
      } else if (amount === undefined) {
        left.add('amount', `${id} (${text == null ? 'none' : `"${text.slice(0, 40)}"`})`);
      } else if (direction === undefined) {
        left.add('direction', id);
      } else {
        sums[direction].add(amount);
        if (isNegative(amount)) left.add('sign', id);
      }
    },
    assertWhole: left.assertWhole,
    /** Returns lines for people; none if nothing was added. */
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

/** Why a transaction is excluded, or is counted with a warning. */
const REASONS = {
  amount: 'Not counted: unreadable amount',
  time: 'Not counted: unreadable time',
  direction: 'Not counted: unknown direction',
  sign: 'Counted with a minus sign: negative amount',
} as const;

const NAMED = 3;

/** Collects the transactions missing from a sum: counts all, and names a few. */
export function createLeftOut() {
  const statuses = new Map<string, number>();
  const doubts = new Map<keyof typeof REASONS, { names: string[]; count: number }>();
  const lines = (isWanted: (reason: string) => boolean) =>
    Object.entries(REASONS).flatMap(([reason, text]) => {
      const doubt = doubts.get(reason as keyof typeof REASONS);
      if (doubt === undefined || !isWanted(reason)) return [];
      const more = doubt.count > NAMED ? `, and ${doubt.count - NAMED} more` : '';
      return [`${text}: ${doubt.count}: ${doubt.names.join(', ')}${more}.`];
    });
  return {
    /** Adds a transaction whose status moves no money. */
    status(status: string | null | undefined) {
      const word = status ?? 'no status';
      statuses.set(word, (statuses.get(word) ?? 0) + 1);
    },
    add(reason: keyof typeof REASONS, name: string) {
      const doubt = doubts.get(reason) ?? { names: [], count: 0 };
      doubts.set(reason, doubt);
      doubt.count += 1;
      if (doubt.names.length < NAMED) doubt.names.push(name);
    },
    /** Returns lines about uncounted statuses. Such statuses are normal. */
    notes() {
      const counts = [...statuses].map(([word, count]) => `${count} ${word}`).join(', ');
      return counts === '' ? [] : [`Not counted (only COMPLETED counts): ${counts}.`];
    },
    /** Returns lines about invalid transactions that are in the sum. */
    warnings: () => lines((reason) => reason === 'sign'),
    /** Throws CliError('notUnderstood') if a transaction is missing from the sum. */
    assertWhole() {
      const missing = lines((reason) => reason !== 'sign');
      if (missing.length === 0) return;
      throw new CliError('notUnderstood', `The totals are incomplete. ${missing.join(' ')}`);
    },
  };
}
