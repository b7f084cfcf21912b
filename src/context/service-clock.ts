import type { Clock } from '../clock.ts';

export type ServiceClock = ReturnType<typeof createServiceClock>;

/** The header has whole seconds and arrives late: a smaller difference does not count. */
const SAME_MS = 2_000;

/** A response whose time is further from the one before counts once the next one confirms it. */
const JUMP_MS = 5 * 60_000;

/** The time in a response, and this computer's when it arrived. All in milliseconds. */
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
 * The service's time, in milliseconds since 1970. Every time in its responses uses this clock. Until
 * the first response it is this computer's.
 *
 * One response may show a wrong time. Before anything ends because of it, use `serviceTime`.
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
  /** Whether this computer has neither slept since the reading nor had its clock set. */
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
    /** Whether a response has set it and it is still valid; see `isEven`. */
    isKnown: () => isExact || isEven(known),
    isEven,
    /** The last reading, even if it did not set the clock. */
    last: () => last,
    /** Whether it is the built-in sandbox's, which people set on purpose. */
    isExact: () => isExact,
    /** Reads the Date header of an understood response. */
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
    /** Sets it exactly, for a sandbox in this process, which has its own clock. */
    set(now: number) {
      isExact = true;
      known = last = read(now);
    },
  };
}
