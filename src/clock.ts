/** Time and chance, given by the edge so that no test sleeps or rolls dice. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /** Waits; rejects with the signal's reason as soon as it is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** At least 0, below 1, as `Math.random()`. */
  random(): number;
}

/** Milliseconds; timers of Node fire at once beyond this. */
export const LONGEST_TIMER = 2 ** 31 - 1;
