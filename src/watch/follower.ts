import type { Clock } from '../clock.ts';
import type { Cursor } from './cursor.ts';
import {
  type Bounds,
  type DatedEvent,
  type LogEvent,
  type ReadPage,
  type Walk,
  walkLog,
} from './log-walk.ts';

/** Milliseconds between two deep walks of a log whose length does not show that an event came late. */
const SWEEP_EVERY = 60_000;

interface FollowerOptions<E extends LogEvent> {
  readonly read: ReadPage<E>;
  readonly cursor: Cursor;
  readonly clock: Pick<Clock, 'now'>;
  /** Events before this are no news at the first walk of a log; see {@link WalkOptions}. */
  readonly since?: () => number;
  readonly bounds?: Partial<Bounds>;
}

/** Events that entered the log late, at or before the horizon: which ones they are is not known. */
export interface Missed {
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly before: number;
}

/** What a look at a log found. */
export interface Look<E extends LogEvent> extends Pick<Walk<E>, 'news' | 'gap'> {
  readonly missed?: Missed | undefined;
}

/** Follows one log. */
export interface Follower<E extends LogEvent> {
  /** Whether a page of the log has been read: the service knows the log, and lets us read it. */
  hasStarted(): boolean;
  /** What is new, oldest first. It stays new until it is taken. */
  look(how?: { readonly isSweep?: boolean }): Promise<Look<E>>;
  /** These have been handed on and are known from now on; give them in the order of `news`. */
  take(events: readonly DatedEvent<E>[]): void;
}

export function createFollower<E extends LogEvent>({
  read,
  cursor,
  clock,
  since,
  bounds,
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
        ...(bounds === undefined ? {} : { bounds }),
      },
    );
  }

  return {
    hasStarted: () => started,
    async look(how = {}) {
      // A clock that is set back must not put it off.
      const now = clock.now();
      const isSweep = how.isSweep === true || Math.abs(now - swept) >= SWEEP_EVERY;
      let walk = await walkTo(cursor.begun && isSweep ? cursor.kept : 0);
      // The news push the oldest out of memory: a late event among these could not be told from them.
      const isFull = cursor.begun && cursor.size + walk.news.length > 2 * cursor.kept;
      if (!walk.isWhole && (isFull || tally.hidden(walk) > 0)) {
        walk = await walkTo(Number.POSITIVE_INFINITY);
      }
      if (isSweep) swept = now;
      const { horizon } = cursor;
      const count = tally.missed(walk);
      cursor.begin(walk.horizon);
      cursor.learn(walk.older);
      // Without a horizon the whole log was compared, so nothing can be missing.
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
 * Compares the length of a log with the events that were found in it. What it grew by beyond them
 * entered it late, below where a walk ended.
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
    /** How many events a walk could not reach. */
    missed(walk: Walk<LogEvent>): number {
      const still = hidden(walk);
      // A service may count a moment after it lists: an event that arrived between is found next time.
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
