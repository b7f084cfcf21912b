import type { Clock } from '../../src/system/clock.ts';
import type { World } from '../support/run-cli.ts';

export interface PassingClock extends Clock {
  /** Moves the clock and ends the sleeps that are over by then. */
  advance(milliseconds: number): void;
}

/** Shows the computer's time until moved, and divides sleeps by `speed`. */
export function passingClock(speed: number): PassingClock {
  let ahead = 0;
  const wakers = new Set<() => void>();
  const now = () => Date.now() + ahead;
  return {
    now,
    monotonic: () => performance.now() + ahead,
    random: () => 0.5,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const end = now() + milliseconds;
        const timer = setTimeout(wake, milliseconds / speed);
        function forget(): void {
          clearTimeout(timer);
          wakers.delete(check);
          signal?.removeEventListener('abort', stop);
        }
        function wake(): void {
          forget();
          resolve();
        }
        function check(): void {
          if (now() >= end) wake();
        }
        function stop(): void {
          forget();
          reject(signal?.reason);
        }
        wakers.add(check);
        signal?.addEventListener('abort', stop, { once: true });
      }),
    advance(milliseconds) {
      ahead += milliseconds;
      for (const check of [...wakers]) check();
    },
  };
}

/** Skips sleeps of exactly these lengths, in milliseconds. */
export function withoutPauses(...skipped: readonly number[]): Clock {
  const clock = passingClock(5);
  return {
    ...clock,
    sleep: (milliseconds, signal) =>
      skipped.includes(milliseconds) && signal?.aborted !== true
        ? Promise.resolve()
        : clock.sleep(milliseconds, signal),
  };
}

/** A world whose time limits never pass, although the sleep of its clock ends at once. */
export function withoutLimits(world: World): World {
  const sleep: Clock['sleep'] = (milliseconds, signal) =>
    milliseconds < 10_000 || signal?.aborted === true
      ? world.clock.sleep(milliseconds, signal)
      : new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
  return { ...world, clock: { ...world.clock, sleep } };
}
