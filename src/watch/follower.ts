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

/** Milliseconds between two walks that look for late events among all that are remembered. */
const SWEEP_EVERY = 60_000;

interface FollowerOptions<E extends LogEvent> {
  readonly read: ReadPage<E>;
  readonly cursor: Cursor;
  readonly clock: Pick<Clock, 'now'>;
  /** Events before this are no news at the first walk of a log; see {@link WalkOptions}. */
  readonly since?: () => number;
  readonly bounds?: Partial<Bounds>;
}

/** Follows one log. */
export interface Follower<E extends LogEvent> {
  /** Whether a page of the log has been read: the service knows the log, and lets us read it. */
  hasStarted(): boolean;
  /** What is new, oldest first. It stays new until it is taken. */
  look(how?: { readonly isSweep?: boolean }): Promise<Pick<Walk<E>, 'news' | 'gap'>>;
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

  return {
    hasStarted: () => started,
    async look(how = {}) {
      // A clock that is set back must not put it off.
      const now = clock.now();
      const isSweep = how.isSweep === true || Math.abs(now - swept) >= SWEEP_EVERY;
      const walk = await walkLog(
        async (page) => {
          const answer = await read(page);
          started = true;
          return answer;
        },
        cursor,
        {
          depth: cursor.begun && isSweep ? cursor.kept : 0,
          now: () => clock.now(),
          ...(since === undefined ? {} : { since }),
          ...(bounds === undefined ? {} : { bounds }),
        },
      );
      if (isSweep) swept = now;
      cursor.begin(walk.horizon);
      cursor.learn(walk.older);
      return walk;
    },
    take: (events) => cursor.learn(events),
  };
}
