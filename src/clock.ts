/** Time and randomness, passed in from main.ts so that no test sleeps or depends on chance. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /**
   * Milliseconds since some fixed moment. Measures durations: setting the computer's clock changes
   * `now`, but not this value.
   */
  monotonic(): number;
  /** Waits; rejects with the signal's reason when the signal aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Returns a number from 0 up to but not including 1, as `Math.random()` does. */
  random(): number;
}

/** In milliseconds; longer timers fire at once in Node. */
export const LONGEST_TIMER = 2 ** 31 - 1;
