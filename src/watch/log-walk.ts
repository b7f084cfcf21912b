import { pagesOf } from '../api/pages.ts';
import { instant } from '../output/time.ts';
import type { Cursor, Dated } from './cursor.ts';

/** What the follower needs to know of an event (API document: Instance event). */
export interface LogEvent {
  readonly id: string;
  readonly created_at?: string | null | undefined;
}

/** One page of a log, newest first (API document: Endpoints, GET /instances/{id}/events). */
export interface LogPage<E extends LogEvent> {
  readonly data: readonly E[];
  readonly meta: {
    readonly total: number;
    readonly limit: number;
    readonly total_pages: number;
  };
}

/** Reads a page by its number, from 1. */
export type ReadPage<E extends LogEvent> = (page: number) => Promise<LogPage<E>>;

export interface DatedEvent<E extends LogEvent> extends Dated {
  readonly event: E;
}

export interface WalkOptions {
  /**
   * Events before this are no news at the first walk of a log. Asked for when it is needed: what
   * "ten minutes ago" means to the service, its first answer tells.
   */
  since?(): number;
  /** Known events to walk past at least, in search of late ones; Infinity for all that are kept. */
  readonly depth: number;
  /** Milliseconds since 1970, for events that bear no time. */
  now(): number;
  readonly bounds?: Partial<Bounds>;
}

export interface Bounds {
  /** News gathered in one walk: they wait in memory until the walk has joined what is known. */
  readonly news: number;
  readonly pages: number;
}

export interface Walk<E extends LogEvent> {
  /** New events, oldest first; those of one moment in the order of the log. */
  readonly news: DatedEvent<E>[];
  /** At the first walk: events before the beginning, to be known from now on. */
  readonly older: Dated[];
  /** At the first walk: all that was not read lies at or before this moment. */
  readonly horizon: number | undefined;
  /**
   * Events may be missing between what was known and the news: the log no longer holds anything that
   * was known, or there were more news than one walk may gather.
   */
  readonly gap: 'pruned' | 'bound' | undefined;
  /** Everything after the cursor's horizon was read. */
  readonly isWhole: boolean;
  /** The length of the log as its first and its last page gave it. */
  readonly total: { readonly first: number; readonly last: number };
}

/** So many known events in a row are taken for the end of the news. */
const SETTLED = 10;

const BOUNDS: Bounds = { news: 20_000, pages: 5_000 };

/**
 * So often a walk begins anew for one reason: a log that loses its oldest events all the time, say,
 * would never be walked to its end otherwise.
 */
const SLIPS: Readonly<Record<Slip, number>> = { longer: 20, moved: 3, shorter: 3 };

/**
 * Walks a log from its newest event until what comes is known.
 *
 * Pages are cut by number, and the log goes on while they are read: events that arrive push others
 * onto the next page, where they are met again and passed over. A single known event ends nothing,
 * since others may have entered the log behind it. When the log becomes shorter, or its pages
 * longer, events can slip through between two pages; then the walk begins anew.
 *
 * Nothing is changed in the cursor. Throws what the reading throws; then the walk is worth nothing.
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
 * Why events may have slipped through between two pages: the pages became longer; more came in than
 * a page holds; the log became shorter.
 */
type Slip = 'longer' | 'moved' | 'shorter';

/** A page, and the log that it was cut from. */
type Cut = ReturnType<typeof cutOf>;

function cutOf<E extends LogEvent>({ data, meta: { total, limit } }: LogPage<E>) {
  const times = data.flatMap(({ created_at }) => instant(created_at) ?? []);
  return { total, limit, length: data.length, newest: times[0], oldest: times.at(-1) };
}

function slipBetween(before: Cut, now: Cut): Slip | undefined {
  if (now.limit > before.limit || now.length > before.length) return 'longer';
  if ((now.newest ?? 0) > (before.oldest ?? Number.POSITIVE_INFINITY)) return 'moved';
  // Where they all bear the same time, the log's length alone tells: what comes now stood before it.
  if (now.total - before.total >= before.limit) return 'moved';
  return now.total < before.total ? 'shorter' : undefined;
}

async function walkOnce<E extends LogEvent>(
  read: ReadPage<E>,
  cursor: Cursor,
  options: WalkOptions,
  slipsLeft: Record<Slip, number>,
): Promise<Walk<E> | undefined> {
  const bounds = { ...BOUNDS, ...options.bounds };
  const seen = new Set<string>();
  const news: DatedEvent<E>[] = [];
  const older: Dated[] = [];
  let settled = 0;
  let known = 0;
  let past = 0;
  let joined = false;
  let time: number | undefined;
  let before: Cut | undefined;
  let firstTotal: number | undefined;

  const done = (end: 'joined' | 'log' | 'bound'): Walk<E> => ({
    news: oldestFirst(news),
    older,
    horizon: cursor.begun || end === 'log' ? undefined : time,
    gap: end === 'bound' ? 'bound' : isTornOff() ? 'pruned' : undefined,
    isWhole: end === 'log' || past >= SETTLED,
    total: { first: firstTotal ?? 0, last: before?.total ?? 0 },
  });
  const isTornOff = () => cursor.size > 0 && !joined && news.length > 0;

  for await (const { number, page, isLast } of pagesOf(read)) {
    const cut = cutOf(page);
    const slip = before === undefined ? undefined : slipBetween(before, cut);
    if (slip !== undefined && slipsLeft[slip] > 0) {
      slipsLeft[slip] -= 1;
      return undefined;
    }
    before = cut;
    firstTotal ??= cut.total;

    let added: DatedEvent<E>[] = [];
    for (const event of page.data) {
      const { id } = event;
      if (seen.has(id)) {
        putBefore(id, added, news);
        added = [];
        continue;
      }
      seen.add(id);
      // One without a time is taken to have happened with the newer one beside it.
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
    // Asked at the end of a page alone: what has been read is looked at to its last event.
    const isDeep = known >= options.depth || past >= SETTLED;
    if (settled >= SETTLED && isDeep) return done('joined');
    if (isLast) break;
    if (news.length >= bounds.news || number >= bounds.pages) return done('bound');
  }
  return done('log');
}

/**
 * Events that came into the log while it was read are met in front of one that was met before. Their
 * place counts among those of one moment, which no time puts in order.
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

/** The order of the log, turned round, holds within a moment: sorting keeps it. */
function oldestFirst<E extends LogEvent>(news: readonly DatedEvent<E>[]): DatedEvent<E>[] {
  return [...news].reverse().sort((a, b) => a.time - b.time);
}
