import { pagesOf } from '../api/pages.ts';
import { instant } from '../output/time.ts';
import type { Cursor, Dated } from './cursor.ts';

/** Event fields for the follower (API document: Instance event). */
export interface LogEvent {
  readonly id: string;
  readonly created_at?: string | null | undefined;
}

/** One page of a log, newest first (API document: Endpoints, GET /instances/{id}/events). */
export interface LogPage<E extends LogEvent> {
  readonly data: readonly E[];
  readonly meta: {
    readonly total: number;
    /** False if `total` is only what gpucloud has seen. */
    readonly isCounted?: boolean;
    readonly limit: number;
    readonly total_pages: number;
  };
}

/** Reads a page by number, counting from 1. */
export type ReadPage<E extends LogEvent> = (page: number) => Promise<LogPage<E>>;

export interface DatedEvent<E extends LogEvent> extends Dated {
  readonly event: E;
}

export interface WalkOptions {
  /**
   * Returns the time at which the first walk's news starts. Computed after the first response: "ten
   * minutes ago" means the service's clock, and that response sets it.
   */
  since?(): number;
  /** Number of known events to walk past in search of late events; Infinity for all. */
  readonly depth: number;
  /** Milliseconds since 1970. Dates events that have no time. */
  now(): number;
}

export interface Walk<E extends LogEvent> {
  /** New events, oldest first; events with the same time keep the log's order. */
  readonly news: DatedEvent<E>[];
  /** On the first walk: events before the start, to be marked as seen. */
  readonly older: Dated[];
  /** On the first walk: every unread event is at or before this time. */
  readonly horizon: number | undefined;
  /**
   * Why events may be missing between the seen events and the news. `pruned`: the log no longer
   * holds any seen event. `bound`: there were more new events than one walk may collect. `missing`:
   * the log's pages held fewer events than the service reports.
   */
  readonly gap: 'pruned' | 'bound' | 'missing' | undefined;
  /** Whether the walk read everything after the cursor's horizon. */
  readonly isWhole: boolean;
}

/** This many known events in a row mark the end of the news. */
const SETTLED = 10;

/**
 * Limit of news per walk, since the walk holds all news in memory until it reaches known events.
 */
const MOST_NEWS = 20_000;
const MOST_PAGES = 5_000;

/**
 * Maximum number of restarts per reason. Without a limit, the walk of a log that keeps losing its
 * oldest events would never end.
 */
const SLIPS: Readonly<Record<Slip, number>> = { longer: 20, moved: 3, shorter: 3 };

/**
 * Walks a log from its newest event until the events are known.
 *
 * Pages are numbered, and the log grows during the walk: new events push others onto the next page,
 * where the walk skips them. One known event doesn't stop the walk, since others may have entered
 * the log behind it. If the log gets shorter, or its pages longer, events can slip through between
 * two pages; then the walk restarts.
 *
 * The cursor does not change. If a read throws, the walk's result is lost.
 */
export async function walkLog<E extends LogEvent>(
  read: ReadPage<E>,
  cursor: Cursor,
  options: WalkOptions,
): Promise<Walk<E>> {
  const slipsLeft = { ...SLIPS };
  for (;;) {
    const walk = await walkOnce(read, cursor, options, slipsLeft);
    if (walk !== undefined) return walk;
  }
}

/**
 * Why events may have slipped through between two pages: longer pages, more arrivals than a page
 * holds, or a shorter log.
 */
type Slip = 'longer' | 'moved' | 'shorter';

/** The length, times and totals of a page, for comparison with the next page. */
type Cut = ReturnType<typeof cutOf>;

function cutOf<E extends LogEvent>({ data, meta: { total, limit } }: LogPage<E>) {
  const times = data.flatMap(({ created_at }) => instant(created_at) ?? []);
  return { total, limit, length: data.length, newest: times[0], oldest: times.at(-1) };
}

function slipBetween(before: Cut, now: Cut): Slip | undefined {
  if (now.limit > before.limit || now.length > before.length) return 'longer';
  if ((now.newest ?? 0) > (before.oldest ?? Number.POSITIVE_INFINITY)) return 'moved';
  // If all events have the same time, only the log's length shows that newer events arrived.
  if (now.total - before.total >= before.limit) return 'moved';
  return now.total < before.total ? 'shorter' : undefined;
}

async function walkOnce<E extends LogEvent>(
  read: ReadPage<E>,
  cursor: Cursor,
  options: WalkOptions,
  slipsLeft: Record<Slip, number>,
): Promise<Walk<E> | undefined> {
  const seen = new Set<string>();
  const news: DatedEvent<E>[] = [];
  const older: Dated[] = [];
  let settled = 0;
  let known = 0;
  let past = 0;
  let joined = false;
  let time: number | undefined;
  let before: Cut | undefined;
  let total = Number.POSITIVE_INFINITY;

  const done = (end: 'joined' | 'log' | 'bound'): Walk<E> => ({
    news: oldestFirst(news),
    older,
    horizon: cursor.begun || end === 'log' ? undefined : time,
    gap:
      end === 'bound' ? 'bound' : isTornOff() ? 'pruned' : isMissing(end) ? 'missing' : undefined,
    isWhole: end === 'log' || past >= SETTLED,
  });
  // New events raise the total during the walk.
  const isMissing = (end: string) => end === 'log' && seen.size < total;
  const isTornOff = () => cursor.size > 0 && !joined && news.length > 0;

  for await (const { number, page, isLast } of pagesOf(read, { what: 'events' })) {
    const cut = cutOf(page);
    const slip = before === undefined ? undefined : slipBetween(before, cut);
    if (slip !== undefined && slipsLeft[slip] > 0) {
      slipsLeft[slip] -= 1;
      return undefined;
    }
    before = cut;
    total = Math.min(total, page.meta.isCounted === false ? 0 : page.meta.total);

    let added: DatedEvent<E>[] = [];
    for (const event of page.data) {
      const { id } = event;
      if (seen.has(id)) {
        putBefore(id, added, news);
        added = [];
        continue;
      }
      seen.add(id);
      // Dates an event without a time by the next newer event.
      time = instant(event.created_at) ?? time ?? options.now();
      const isKnown = cursor.has(id);
      const isPast = !isKnown && cursor.isPast(time);
      const isOlder = !cursor.begun && time < (options.since?.() ?? Number.NEGATIVE_INFINITY);
      joined ||= isKnown;
      known += isKnown ? 1 : 0;
      past = isPast ? past + 1 : 0;
      if (isOlder) older.push({ id, time });
      else if (!isKnown && !isPast) added.push({ id, time, event });
      settled = isKnown || isPast || isOlder ? settled + 1 : 0;
    }
    news.push(...added);
    // Checks only at the end of a page, so that every event on it is considered.
    const isDeep = known >= options.depth || past >= SETTLED;
    if (settled >= SETTLED && isDeep) return done('joined');
    // The follower reports missing events as a gap, where a list would fail.
    if (isLast) break;
    if (news.length >= MOST_NEWS || number >= MOST_PAGES) return done('bound');
  }
  return done('log');
}

/**
 * Inserts events that arrived during the walk before an event that was already seen. Among events
 * with the same time, this position decides the order.
 */
function putBefore<E extends LogEvent>(
  id: string,
  added: readonly DatedEvent<E>[],
  news: DatedEvent<E>[],
): void {
  if (added.length === 0) return;
  const at = news.findIndex((other) => other.id === id);
  news.splice(at < 0 ? news.length : at, 0, ...added);
}

/**
 * Sorts by time. Sorting is stable, so events with the same time keep the reversed order of the
 * log.
 */
function oldestFirst<E extends LogEvent>(news: readonly DatedEvent<E>[]): DatedEvent<E>[] {
  return [...news].reverse().sort((a, b) => a.time - b.time);
}
