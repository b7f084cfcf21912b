import type { Clock } from '../clock.ts';

export type ServiceClock = ReturnType<typeof createServiceClock>;

/** Ignore smaller differences: the header has whole seconds and arrives late. */
const SAME_MS = 2_000;

/** A larger jump between two responses counts only after the next response confirms it. */
const JUMP_MS = 5 * 60_000;

/** The time in a response, and this computer's time when it arrived. All in milliseconds. */
export interface Reading {
  readonly service: number;
  readonly now: number;
  readonly monotonic: number;
}

/** How far the service's clock drifted from elapsed time between `a` and `b`, in milliseconds. */
export function driftBetween(a: Reading, b: Reading): number {
  return b.service - a.service - (b.monotonic - a.monotonic);
}

/**
 * Returns the service's time, in milliseconds since 1970. Every time in its responses uses this
 * clock. Until the first response, uses this computer's time.
 *
 * One response may show a wrong time. Before ending anything because of it, use `serviceTime`.
 */
export function createServiceClock(clock: Pick<Clock, 'now' | 'monotonic'>) {
  /** The reading that sets the clock. */
  let known: Reading | undefined;
  let last: Reading | undefined;
  let isExact = false;
  const read = (service: number) => ({
    service,
    now: clock.now(),
    monotonic: clock.monotonic(),
  });
  /** Whether, since the reading, this computer has not slept and nobody has set its clock. */
  const isEven = (one: Reading | undefined) =>
    one !== undefined &&
    Math.abs(clock.now() - one.now - (clock.monotonic() - one.monotonic)) < SAME_MS;
  return {
    now() {
      if (known === undefined) return clock.now();
      const { service, now, monotonic } = known;
      const isSame = !isExact && Math.abs(service - now) < SAME_MS;
      return (isSame ? now : service) + clock.monotonic() - monotonic;
    },
    /** Whether a response has set the clock and it is still valid; see `isEven`. */
    isKnown: () => isExact || isEven(known),
    isEven,
    /** The last reading, even if it did not set the clock. */
    last: () => last,
    /** Whether the clock is the built-in sandbox's, which people set on purpose. */
    isExact: () => isExact,
    /** Reads the Date header of a valid response. */
    learn(date: string | undefined) {
      // `Date.parse` accepts texts that are not HTTP dates, such as `1`.
      const shown = /^[A-Z][a-z]+, .+ GMT$/.test(date ?? '') ? Date.parse(date ?? '') : Number.NaN;
      if (isExact || Number.isNaN(shown)) return;
      const before = last;
      const reading = read(shown);
      const fits = (one: Reading) => Math.abs(driftBetween(one, reading)) <= JUMP_MS;
      last = reading;
      if (known === undefined || !isEven(known) || fits(known) || (before && fits(before))) {
        known = reading;
      }
    },
    /** Sets the exact time, for a sandbox in this process, which has its own clock. */
    set(now: number) {
      isExact = true;
      known = last = read(now);
    },
  };
}
