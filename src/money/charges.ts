import type { Drive, Transaction } from '../api/index.ts';
import type { Listed } from '../instances/known-machines.ts';
import type { Snapshot } from '../journal/index.ts';
import { instant } from '../output/time.ts';
import { type Money, zero } from '../rules/money.ts';
import { isTerminated } from '../rules/statuses.ts';
import { priceOf } from './burn.ts';
import { momentOf, postingOf } from './ledger.ts';

/** Milliseconds since 1970. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** The charges of a window compared with what is known here. Amounts are roubles. */
export interface CheckedCharges extends Window {
  readonly charged: Money;
  /** The most that everything known can have been charged in the window. */
  readonly atMost: Money;
  /** The charges above that, or zero. */
  readonly unexplained: Money;
}

/** Something that may have been charged, and when. */
export interface Chargeable {
  readonly kind: 'instance' | 'drive';
  /** Roubles per hour, a decimal string of the service. */
  readonly price: string | null | undefined;
  /** When it was created; undefined if that is not known. */
  readonly from: number | undefined;
  /** When it certainly stopped billing; undefined if it may bill now. */
  readonly to: number | undefined;
}

export function instanceCharge({ instance, last, status }: Listed): Chargeable {
  return {
    kind: 'instance',
    price: instance?.price_per_hour_snapshot ?? last?.price_per_hour,
    from: instant((instance ?? last)?.created_at),
    to: isTerminated(status) ? instant(instance?.terminated_at) : undefined,
  };
}

/** Of an archived instance: it ended no later than it was seen to have ended. */
export function archivedCharge(last: Snapshot): Chargeable {
  return {
    kind: 'instance',
    price: last.price_per_hour,
    from: instant(last.created_at),
    to: isTerminated(last.status) ? instant(last.seen_at) : undefined,
  };
}

export function driveCharge(drive: Drive): Chargeable {
  return {
    kind: 'drive',
    price: drive.price_per_hour,
    from: instant(drive.created_at),
    to: undefined,
  };
}

const HOUR = 3_600_000;
/** In hours: a long window shows what is small, a short one what is new. */
const WINDOWS = [24, 3] as const;
export const LONGEST_WINDOW = WINDOWS[0] * HOUR;

/**
 * The windows to check, of a history that was read back to `from`: less of it than a day still
 * shows something, but less than an hour may hold the charge of a whole one.
 */
export function windowsOf(from: number, now: number): Window[] {
  const starts = new Set(WINDOWS.map((hours) => Math.max(now - hours * HOUR, from)));
  return [...starts]
    .filter((start) => now - start >= HOUR)
    .map((start) => ({ from: start, to: now }));
}

/** undefined if a price is not known, or a charge has no readable amount or time. */
export function checkCharges(
  window: Window,
  known: readonly Chargeable[],
  entries: readonly Transaction[],
): CheckedCharges | undefined {
  let charged = zero();
  let toppedUp = false;
  for (const entry of entries) {
    const at = momentOf(entry);
    if (at !== undefined && (at <= window.from || at > window.to)) continue;
    const posting = postingOf(entry);
    const isUnclear = at === undefined || (!posting.counts && posting.why === 'amount');
    if (isUnclear && entry.type === 'USAGE_CHARGE') return undefined;
    if (!posting.counts || at === undefined) continue;
    if (posting.heading === 'charged') charged = charged.plus(posting.amount);
    toppedUp ||= posting.heading === 'deposited' || posting.heading === 'bonus';
  }
  const atMost = explainedBy(known, window, toppedUp);
  if (atMost === undefined) return undefined;
  const unexplained = charged.gt(atMost) ? charged.minus(atMost) : zero();
  return { ...window, charged, atMost, unexplained };
}

/** The hours of the 7 days after which a suspended drive is deleted (API document: Drive status). */
const SUSPENDED_HOURS = 168;

/**
 * The most that everything known can have been charged in a window. The document says neither at
 * which end of an hour it is charged nor what a charge is for, so each thing explains one hour more
 * than it existed. After a top-up, drives also explain the debt of their frozen time. undefined if a
 * price is not known.
 */
function explainedBy(
  known: readonly Chargeable[],
  window: Window,
  toppedUp: boolean,
): Money | undefined {
  // In rouble-milliseconds, so that only the end divides.
  let most = zero();
  for (const { kind, price, from, to } of known) {
    const start = Math.max(from ?? window.from, window.from);
    const end = Math.min(to ?? window.to, window.to);
    if (end < window.from - HOUR || start > window.to) continue;
    const amount = priceOf({ price });
    if (amount === undefined) return undefined;
    const debt = kind === 'drive' && toppedUp ? SUSPENDED_HOURS * HOUR : 0;
    most = most.plus(amount.times(Math.max(0, end - start) + HOUR + debt));
  }
  // Rounded up, so that what is called unexplained really is.
  return most.div(HOUR).round(2, 3);
}
