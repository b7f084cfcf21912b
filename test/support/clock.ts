import type { Clock } from '../../src/system/clock.ts';

export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
  /** Changes the wall clock without passing time, as a person or NTP does. */
  step(milliseconds: number): void;
  /** The duration of each sleep in milliseconds. */
  readonly slept: readonly number[];
}

/** Creates a clock that only a test or a sleep moves. A sleep returns at once. */
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
      // Lets pending sockets and promises run, as a real sleep would.
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
