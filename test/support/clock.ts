import type { Clock } from '../../src/clock.ts';

export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
  /** Sets the computer's clock forward or back, as a person or NTP does. No time passes. */
  step(milliseconds: number): void;
  /** The duration of each sleep in milliseconds. */
  readonly slept: readonly number[];
}

/** A clock that stands still until a test moves it. A sleep moves it and returns at once. */
export function manualClock(start = '2026-01-15T12:00:00.000Z'): ManualClock {
  let now = Date.parse(start);
  let passed = 0;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    monotonic: () => passed,
    random: () => 0.5,
    async sleep(milliseconds, signal) {
      signal?.throwIfAborted();
      slept.push(milliseconds);
      now += milliseconds;
      passed += milliseconds;
      // Gives sockets and waiters a turn, as a real sleep would.
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
    advance(milliseconds) {
      now += milliseconds;
      passed += milliseconds;
    },
    step(milliseconds) {
      now += milliseconds;
    },
  };
}
