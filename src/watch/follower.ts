import type { Clock } from '../system/clock.ts';
import type { Cursor } from './cursor.ts';
import { type DatedEvent, type LogEvent, type ReadPage, type Walk, walkLog } from './log-walk.ts';

/** Milliseconds between two deep walks, which find late events. */
const SWEEP_EVERY = 60_000;

interface FollowerOptions<E extends LogEvent> {
  readonly read: ReadPage<E>;
  readonly cursor: Cursor;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The first walk of a log ignores events before this time; see {@link WalkOptions}. */
  readonly since?: () => number;
}

/** Result of one log read. */
export type Look<E extends LogEvent> = Pick<Walk<E>, 'news' | 'gap'>;

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
        now: clock.now,
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
      if (!walk.isWhole && isFull) walk = await walkTo(Number.POSITIVE_INFINITY);
      if (isSweep) swept = now;
      cursor.begin(walk.horizon);
      cursor.learn(walk.older);
      return { news: walk.news, gap: walk.gap };
    },
    take: (events) => cursor.learn(events),
  };
}
