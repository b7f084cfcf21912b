/** Time and randomness, passed in from main.ts so that no test sleeps or depends on chance. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /**
   * Milliseconds since some fixed moment. Measures durations: setting the computer's clock changes
   * `now`, but not this.
   */
  monotonic(): number;
  /** Waits; rejects with the signal's reason when it aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** At least 0, below 1, as `Math.random()`. */
  random(): number;
}

/** In milliseconds; longer timers fire at once in Node. */
export const LONGEST_TIMER = 2 ** 31 - 1;
