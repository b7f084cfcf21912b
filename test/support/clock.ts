import type { Clock } from '../../src/clock.ts';

export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
  /** Each sleep that was asked for, in milliseconds. */
  readonly slept: readonly number[];
}

/** A clock that stands still until it is moved; sleeping moves it and returns at once. */
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
      // Let sockets and other waiters have their turn, as a real sleep would.
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}
