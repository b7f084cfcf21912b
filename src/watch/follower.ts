import type { Clock } from '../clock.ts';
import type { Cursor } from './cursor.ts';
import { type DatedEvent, type LogEvent, type ReadPage, type Walk, walkLog } from './log-walk.ts';

/** Milliseconds between two deep walks of a log whose length reveals no late event. */
const SWEEP_EVERY = 60_000;

interface FollowerOptions<E extends LogEvent> {
  readonly read: ReadPage<E>;
  readonly cursor: Cursor;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The first walk of a log ignores events before this time; see {@link WalkOptions}. */
  readonly since?: () => number;
}

/** Number of events that entered the log late, at or before the horizon. Their IDs are unknown. */
export interface Missed {
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly before: number;
}

/** Result of one log read. */
export interface Look<E extends LogEvent> extends Pick<Walk<E>, 'news' | 'gap'> {
  readonly missed?: Missed | undefined;
}

/** Follows one log. */
export interface Follower<E extends LogEvent> {
  /** Whether a page has been read, so the log exists and is readable. */
  hasStarted(): boolean;
  /** Returns new events, oldest first. Events stay new until they are taken. */
  look(how?: { readonly isSweep?: boolean }): Promise<Look<E>>;
  /** Marks these events as emitted and seen; pass them in the order of `news`. */
  take(events: readonly DatedEvent<E>[]): void;
}

export function createFollower<E extends LogEvent>({
  read,
  cursor,
  clock,
  since,
}: FollowerOptions<E>): Follower<E> {
  let started = false;
  let swept = Number.NEGATIVE_INFINITY;
  const tally = createTally();

  function walkTo(depth: number): Promise<Walk<E>> {
    return walkLog(
      async (page) => {
        const answer = await read(page);
        started = true;
        return answer;
      },
      cursor,
      {
        depth,
        now: () => clock.now(),
        ...(since === undefined ? {} : { since }),
      },
    );
  }

  return {
    hasStarted: () => started,
    async look(how = {}) {
      const now = clock.monotonic();
      const isSweep = how.isSweep === true || now - swept >= SWEEP_EVERY;
      let walk = await walkTo(cursor.begun && isSweep ? cursor.kept : 0);
      // New events would push the oldest events out of memory, and late events among these would go
      // unnoticed.
      const isFull = cursor.begun && cursor.size + walk.news.length > 2 * cursor.kept;
      if (!walk.isWhole && (isFull || tally.hidden(walk) > 0)) {
        walk = await walkTo(Number.POSITIVE_INFINITY);
      }
      if (isSweep) swept = now;
      const { horizon } = cursor;
      const count = tally.missed(walk);
      cursor.begin(walk.horizon);
      cursor.learn(walk.older);
      // Without a horizon the walk compared the whole log, so it missed nothing.
      const missed = count > 0 && Number.isFinite(horizon) ? { count, before: horizon } : undefined;
      return { news: walk.news, gap: walk.gap, missed };
    },
    take(events) {
      tally.taken(events.length);
      cursor.learn(events);
    },
  };
}

/**
 * Detects events that a walk missed. If the log grew by more events than the walk found, the
 * others were inserted below the row at which the walk stopped.
 */
function createTally() {
  let accounted: number | undefined;
  let suspected = 0;

  const hidden = ({ total, news }: Pick<Walk<LogEvent>, 'total' | 'news'>) =>
    accounted === undefined ? 0 : total.first - accounted - news.length;

  return {
    hidden,
    taken(count: number): void {
      if (accounted !== undefined) accounted += count;
    },
    /** Returns how many events a walk could not reach. */
    missed(walk: Walk<LogEvent>): number {
      const still = hidden(walk);
      // A service may count an event before it lists it; the next read then finds the event.
      const count = walk.isWhole ? Math.max(0, Math.min(suspected, still)) : 0;
      suspected = still;
      const isQuiet = walk.news.length === 0 && walk.total.first === walk.total.last;
      const isOff = walk.gap !== undefined || (isQuiet && still < 0);
      if (accounted === undefined || count > 0 || isOff) {
        accounted = walk.total.last - walk.news.length;
        suspected = 0;
      }
      return count;
    },
  };
}
