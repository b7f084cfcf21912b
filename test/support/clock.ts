import type { Clock } from '../../src/clock.ts';

export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
  /** The milliseconds of each sleep. */
  readonly slept: readonly number[];
}

/** A clock that stands still until moved; a sleep moves it and returns at once. */
export function manualClock(start = '2026-01-15T12:00:00.000Z'): ManualClock {
  let now = Date.parse(start);
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    random: () => 0.5,
    async sleep(milliseconds, signal) {
      signal?.throwIfAborted();
      slept.push(milliseconds);
      now += milliseconds;
      // Gives sockets and waiters a turn, as a real sleep would.
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}
