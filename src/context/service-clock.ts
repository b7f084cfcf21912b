import type { Clock } from '../clock.ts';

/**
 * The service's time, in milliseconds since 1970. Every time in its responses uses this clock. Until
 * the first response it is this computer's.
 */
export interface ServiceClock {
  now(): number;
  /** Whether a response has set it. */
  isKnown(): boolean;
  /** Sets it from the Date header of a response. */
  learn(date: string | undefined): void;
  /** Sets it exactly, for a sandbox in this process, which has its own clock. */
  set(now: number): void;
}

/** The header has whole seconds and arrives late: a smaller difference does not count. */
const SAME_MS = 2_000;

export function createServiceClock(clock: Pick<Clock, 'now'>): ServiceClock {
  let ahead = 0;
  let isExact = false;
  let isKnown = false;
  return {
    now: () => clock.now() + ahead,
    isKnown: () => isKnown,
    learn(date) {
      const shown = Date.parse(date ?? '');
      if (isExact || Number.isNaN(shown)) return;
      isKnown = true;
      const difference = shown - clock.now();
      ahead = Math.abs(difference) < SAME_MS ? 0 : difference;
    },
    set(now) {
      isExact = true;
      isKnown = true;
      ahead = now - clock.now();
    },
  };
}
