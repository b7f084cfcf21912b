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
