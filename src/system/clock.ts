/** Time and randomness. main.ts provides them, so that no test sleeps or depends on chance. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /**
   * Milliseconds since some fixed moment. Use it for durations: setting the computer's clock
   * changes only `now`.
   */
  monotonic(): number;
  /** Waits; rejects with the signal's reason when the signal aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** A number from 0 up to, but not including, 1, like `Math.random()`. */
  random(): number;
}

/** Milliseconds. Node fires longer timers at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Waits as {@link Clock.sleep} does. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    let left = milliseconds;
    let timer: NodeJS.Timeout;
    const next = () => {
      const longest = Math.min(left, LONGEST_TIMER);
      left -= longest;
      timer = setTimeout(left > 0 ? next : end, longest);
    };
    const end = () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    next();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Limits on differences between clocks, in milliseconds, each with its reason. */
export const CLOCKS = {
  /** Two readings agree: the Date header has whole seconds and arrives late. */
  agree: 2_000,
  /** The difference between two clocks stayed the same from one pass of `reap` to the next. */
  moved: 10_000,
  /** An instance's clock and the service's agree about an interval, read through a slow SSH. */
  interval: 30_000,
  /** Relative times are right to the minute. */
  noticed: 60_000,
  /** One of two clocks is wrong. */
  wrong: 5 * 60_000,
} as const;
