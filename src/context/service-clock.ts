import type { Clock } from '../clock.ts';

/**
 * The service's time, in milliseconds since 1970. Every time in its responses is by this clock;
 * until a response has shown it, it is the computer's.
 */
export interface ServiceClock {
  now(): number;
  /** Whether a response has shown it. */
  isKnown(): boolean;
  /** Learns from the Date header of a response. */
  learn(date: string | undefined): void;
  /** Sets it exactly: the sandbox that this process serves has a clock of its own. */
  set(now: number): void;
}

/** The header has whole seconds and takes a while to arrive: less than this is not a difference. */
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
