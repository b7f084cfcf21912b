import type { Clock } from '../clock.ts';

export type ServiceClock = ReturnType<typeof createServiceClock>;

/** The header has whole seconds and arrives late: a smaller difference does not count. */
const SAME_MS = 2_000;

/**
 * The service's time, in milliseconds since 1970. Every time in its responses uses this clock. Until
 * the first response it is this computer's.
 */
export function createServiceClock(clock: Pick<Clock, 'now'>) {
  let ahead = 0;
  let isExact = false;
  let isKnown = false;
  return {
    now: () => clock.now() + ahead,
    /** Whether a response has set it. */
    isKnown: () => isKnown,
    /** Sets it from the Date header of a response. */
    learn(date: string | undefined) {
      const shown = Date.parse(date ?? '');
      if (isExact || Number.isNaN(shown)) return;
      isKnown = true;
      const difference = shown - clock.now();
      ahead = Math.abs(difference) < SAME_MS ? 0 : difference;
    },
    /** Sets it exactly, for a sandbox in this process, which has its own clock. */
    set(now: number) {
      isExact = true;
      isKnown = true;
      ahead = now - clock.now();
    },
  };
}
