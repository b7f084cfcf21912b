import { randomUUID } from 'node:crypto';
import { kopecksText, type Money, money, zero } from '../../rules/money.ts';
import { badRequest } from '../refusal.ts';
import {
  type State,
  TRANSACTION_TYPES,
  type Transaction,
  type TransactionType,
} from '../store/state.ts';
import { iso } from '../time.ts';
import { type Page, pageOf } from './pages.ts';

/** Returns the funds not held for a running hour. */
export function available(state: State): Money {
  return roubles(state.account.available);
}

/** Returns the funds held for instances: the sum of their reservations. */
export function reserved(state: State): Money {
  return state.instances.reduce((sum, instance) => sum.plus(roubles(instance.reserved)), zero());
}

/** Returns the total of unpaid drive hours. */
export function debt(state: State): Money {
  return state.drives.reduce((sum, drive) => sum.plus(roubles(drive.debt)), zero());
}

/** Returns the wallet balance: available plus reserved (API document: User). */
export function total(state: State): Money {
  return available(state).plus(reserved(state));
}

/** Returns the funds for a new instance: available minus debt. */
export function spendable(state: State): Money {
  return available(state).minus(debt(state));
}

export function addAvailable(state: State, amount: Money): void {
  state.account.available = text(available(state).plus(amount));
}

/** Records a transaction, unless it is zero. */
export function enter(
  state: State,
  type: TransactionType,
  amount: Money,
  description: string,
  at: number,
): void {
  if (amount.gt(0)) {
    state.transactions.push({ id: randomUUID(), type, amount: text(amount), description, at });
  }
}

/**
 * Records a top-up. Pays the debt of drives first (API document: Drive status, SUSPENDED), oldest
 * drive first, as far as the funds allow.
 */
export function topUp(
  state: State,
  type: 'DEPOSIT' | 'BONUS',
  amount: Money,
  description: string,
  at: number,
): void {
  enter(state, type, amount, description, at);
  addAvailable(state, amount);
  for (const drive of state.drives) {
    payDebt(state, drive, at);
  }
}

/** Pays as much of a drive's debt as the available funds cover. */
export function payDebt(state: State, drive: State['drives'][number], at: number): void {
  const owed = roubles(drive.debt);
  const funds = available(state);
  const paid = funds.lt(owed) ? funds : owed;
  if (paid.lte(0)) return;
  drive.debt = text(owed.minus(paid));
  drive.lastBilledAt = at;
  drive.updatedAt = at;
  addAvailable(state, paid.times(-1));
  enter(state, 'USAGE_CHARGE', paid, `Drive ${drive.name}: debt`, at);
}

/**
 * Reads the `type` filter: several types separated by commas (API document: GET
 * /billing/transactions).
 */
function typesOf(filter: string | undefined): readonly string[] {
  if (filter === undefined) return TRANSACTION_TYPES;
  const wanted = filter.split(',');
  const unknown = wanted.find((name) => !TRANSACTION_TYPES.some((type) => type === name));
  if (unknown !== undefined) {
    throw badRequest(`type must be a list of ${TRANSACTION_TYPES.join(', ')}`);
  }
  return wanted;
}

/** Returns a page of transactions, newest first (GET /billing/transactions). */
export function transactionsPage(
  state: State,
  page: number,
  limit: number,
  filter: string | undefined,
): Page<Record<string, unknown>> {
  const types = typesOf(filter);
  const entries = state.transactions.filter((entry) => types.includes(entry.type)).reverse();
  return pageOf(entries, page, limit, transactionView);
}

function transactionView(entry: Transaction): Record<string, unknown> {
  return {
    id: entry.id,
    type: entry.type,
    // Payments are instant in the sandbox, so no other status occurs.
    status: 'COMPLETED',
    amount: entry.amount,
    direction: entry.type === 'USAGE_CHARGE' ? 'OUTGOING' : 'INCOMING',
    description: entry.description,
    created_at: iso(entry.at),
  };
}

/** Reads an amount of the state or the catalog. Both contain only checked decimals. */
export function roubles(text: string): Money {
  const verdict = money(text);
  if (!verdict.ok) throw new Error(`${JSON.stringify(text)} is not an amount`);
  return verdict.value;
}

/**
 * Formats an amount as the state stores it and the service shows it: exact, with at least two
 * decimals.
 */
export function text(amount: Money): string {
  return kopecksText(amount);
}
