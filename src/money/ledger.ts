import type { Transaction } from '../api/index.ts';
import { type Money, money } from '../rules/money.ts';

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

/** The direction in the response; if missing, the direction of a documented type. */
export function directionOf({ direction, type }: Entry): Direction | undefined {
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

/** Only COMPLETED has moved money (API document: Transaction, statuses). */
export function postingOf(entry: Entry): Posting {
  const amount = money(entry.amount ?? '');
  if (!amount.ok) return { counts: false, why: 'amount' };
  if (entry.status !== 'COMPLETED') return { counts: false, why: 'status' };
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
