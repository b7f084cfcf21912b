import { CLOCKS, type Clock } from '../system/clock.ts';

export type ServiceClock = ReturnType<typeof createServiceClock>;

/** The time in a response, and this computer's time on arrival. All in milliseconds. */
export interface Reading {
  readonly service: number;
  readonly now: number;
  readonly monotonic: number;
}

/**
 * Returns how far the service's clock drifted from elapsed time between `a` and `b`, in
 * milliseconds.
 */
export function driftBetween(a: Reading, b: Reading): number {
  return b.service - a.service - (b.monotonic - a.monotonic);
}

/**
 * Creates a clock that returns the service's time in milliseconds since 1970. All times in its
 * responses follow this clock. Before the first response, it returns this computer's time.
 *
 * One response may have a wrong time, so use `serviceTime` before terminating an instance.
 */
export function createServiceClock(clock: Pick<Clock, 'now' | 'monotonic'>) {
  /** Reading that sets the clock. */
  let known: Reading | undefined;
  let last: Reading | undefined;
  let isExact = false;
  const read = (service: number) => ({
    service,
    now: clock.now(),
    monotonic: clock.monotonic(),
  });
  /** Whether this computer has neither slept nor had its clock set since the reading. */
  const isEven = (one: Reading | undefined) =>
    one !== undefined &&
    Math.abs(clock.now() - one.now - (clock.monotonic() - one.monotonic)) < CLOCKS.agree;
  return {
    now() {
      if (known === undefined) return clock.now();
      const { service, now, monotonic } = known;
      const isSame = !isExact && Math.abs(service - now) < CLOCKS.agree;
      return (isSame ? now : service) + clock.monotonic() - monotonic;
    },
    /** Whether a response set the clock and `isEven` still holds. */
    isKnown: () => isExact || isEven(known),
    isEven,
    /** The last reading, even if it did not set the clock. */
    last: () => last,
    /** Whether the clock is the built-in sandbox's. Users set that clock on purpose. */
    isExact: () => isExact,
    /** Reads the Date header of a valid response. */
    learn(date = '') {
      // `Date.parse` also accepts texts that are not HTTP dates, such as `1`.
      const shown = /^[A-Z][a-z]+, .+ GMT$/.test(date) ? Date.parse(date) : Number.NaN;
      if (Number.isNaN(shown)) return;
      const before = last;
      const reading = read(shown);
      if (isExact) {
        // Another process has advanced the sandbox's clock.
        const isMoved = known && Math.abs(driftBetween(known, reading)) > CLOCKS.agree;
        if (isMoved) known = last = reading;
        return;
      }
      // A larger jump counts only if the next response confirms it.
      const fits = (one: Reading) => Math.abs(driftBetween(one, reading)) <= CLOCKS.wrong;
      last = reading;
      if (known === undefined || !isEven(known) || fits(known) || (before && fits(before))) {
        known = reading;
      }
    },
    /** Sets the exact time of a sandbox in this process. */
    set(now: number) {
      isExact = true;
      known = last = read(now);
    },
  };
}
