import { instant } from '../output/time.ts';
import { type Money, zero } from '../rules/money.ts';
import {
  createLeftOut,
  type Direction,
  type Entry,
  type Heading,
  type Posted,
  postingOf,
} from './ledger.ts';

/** Exact sums of one period. */
export interface Spent {
  /** Milliseconds since 1970, `to` excluded. */
  readonly from: number;
  readonly to: number;
  /** Sums per documented type, without a sign. */
  readonly sums: Readonly<Record<Heading, Money>>;
  /** Undocumented types, and documented types in the other direction. */
  readonly other: readonly Other[];
  readonly count: number;
}

export interface Other {
  readonly type: string;
  readonly direction: Direction | undefined;
  readonly amount: Money;
  readonly count: number;
}

/** Charges minus refunds for failures (API document: REFUND). */
export function netOf({ sums }: Pick<Spent, 'sums'>): Money {
  return sums.charged.minus(sums.refunded);
}

export type Books = ReturnType<typeof openBooks>;

/** Leaves out empty periods if there are more than this many. */
const MOST_ROWS = 4000;

interface Page {
  sums: Record<Heading, Money>;
  other: Map<string, Other>;
  count: number;
}

/**
 * Counts transactions from `from` up to, but not including, `to`. Counts one at a time, so that a
 * history of any length fits in memory.
 */
export function openBooks({ step, from, to }: { step: Step; from: number; to: number }) {
  const pages = new Map<number, Page>();
  const total = newPage();
  const left = createLeftOut();
  let first = Number.POSITIVE_INFINITY;

  function post(page: Page, entry: Entry, posting: Posted): void {
    page.count += 1;
    if (posting.heading !== 'other') {
      page.sums[posting.heading] = page.sums[posting.heading].plus(posting.amount);
      return;
    }
    const type = entry.type ?? 'no type';
    const key = `${type}\n${posting.direction}`;
    const before = page.other.get(key);
    page.other.set(key, {
      type,
      direction: posting.direction,
      amount: (before?.amount ?? zero()).plus(posting.amount),
      count: (before?.count ?? 0) + 1,
    });
  }

  return {
    /** Transactions that were left out, each with the reason. */
    left,
    add(entry: Entry) {
      const at = instant(entry.created_at);
      if (at === undefined) return left.add('time', entry.id);
      first = Math.min(first, at);
      if (at < from || at >= to) return;
      const posting = postingOf(entry);
      if (!posting.counts) {
        return posting.why === 'amount' ? left.add('amount', entry.id) : left.status(entry.status);
      }
      if (posting.amount.lt(0)) left.add('sign', entry.id);
      const start = startOf(step, at);
      const page = pages.get(start) ?? newPage();
      pages.set(start, page);
      post(page, entry, posting);
      post(total, entry, posting);
    },
    /**
     * Returns the periods up to `until`, including empty periods. `trimmed` omits periods before
     * the account's first transaction.
     */
    rows(until: number, { trimmed = false } = {}): readonly Spent[] {
      const range = { from, to: Math.min(to, until) };
      const starts = startsOf([...pages.keys()], step, range).filter(
        (start) => !trimmed || startOf(step, start, 1) > first,
      );
      return starts.map((start) => ({
        from: Math.max(start, from),
        to: Math.min(startOf(step, start, 1), to),
        ...closed(pages.get(start) ?? newPage()),
      }));
    },
    total: () => closed(total),
  };
}

/** Yields every period from the first requested or used period to the last. */
function startsOf(
  filled: readonly number[],
  step: Step,
  { from, to }: { from: number; to: number },
): number[] {
  const sorted = [...filled].sort((a, b) => a - b);
  const first = Number.isFinite(from) ? startOf(step, from) : sorted[0];
  if (first === undefined) return [];
  const last = Math.max(sorted.at(-1) ?? first, startOf(step, Math.max(to - 1, first)));
  const all: number[] = [];
  for (let start = first; start <= last; start = startOf(step, start, 1)) {
    if (all.length === MOST_ROWS) return sorted;
    all.push(start);
  }
  return all;
}

function newPage(): Page {
  return {
    sums: { charged: zero(), refunded: zero(), deposited: zero(), bonus: zero() },
    other: new Map(),
    count: 0,
  };
}

function closed({ sums, other, count }: Page): Omit<Spent, 'from' | 'to'> {
  return { sums, other: [...other.values()], count };
}

/** Calendar periods in the local time zone. Weeks start on Monday. */
export const STEPS = ['day', 'week', 'month'] as const;
export type Step = (typeof STEPS)[number];

/**
 * Returns the start of the period that contains a moment, in milliseconds since 1970. `steps` moves
 * the start by that many periods, back if negative. A day has 23 or 25 hours when the clock
 * changes; if the clock skips midnight, the day starts after the gap.
 */
export function startOf(step: Step, at: number, steps = 0): number {
  const date = new Date(at);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  switch (step) {
    case 'day': {
      const start = new Date(year, month, day + steps).getTime();
      // Apia skipped 30 December 2011: before the 31st comes the 29th.
      const isStuck = steps < 0 && start === startOf('day', at);
      return isStuck ? startOf('day', at, steps - 1) : start;
    }
    case 'week':
      return new Date(year, month, day - ((date.getDay() + 6) % 7) + 7 * steps).getTime();
    case 'month':
      return new Date(year, month + steps, 1).getTime();
  }
}

/**
 * Formats `2026-01-15`, `2026-W03` (ISO 8601: the year that holds most of the week) or `2026-01`.
 */
export function labelOf(step: Step, start: number): string {
  const date = new Date(start);
  if (step === 'day') return `${monthText(date)}-${two(date.getDate())}`;
  if (step === 'month') return monthText(date);
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 3, 12);
  const newYear = new Date(thursday.getFullYear(), 0, 1, 12);
  const week = 1 + Math.floor(Math.round((+thursday - +newYear) / 86_400_000) / 7);
  return `${year(thursday)}-W${two(week)}`;
}

/** Returns the zone's name and its UTC offset at a moment: `Europe/Moscow, UTC+03:00`. */
export function zoneText(at: number): string {
  const ahead = -new Date(at).getTimezoneOffset();
  const minutes = Math.abs(ahead);
  const offset = `UTC${ahead < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (name === 'UTC') return name;
  // Node returns undefined if TZ names no time zone.
  return name === undefined ? offset : `${name}, ${offset}`;
}

function monthText(date: Date): string {
  return `${year(date)}-${two(date.getMonth() + 1)}`;
}

function year(date: Date): string {
  return String(date.getFullYear()).padStart(4, '0');
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
