import type { CliError } from '../errors.ts';
import type { Clock } from '../system/clock.ts';

/** After this many proxy or sign-in pages in a row, the fault is permanent. */
const ODD_RESPONSES = 5;

/** After this many 404 responses in a row, a resource is gone. */
const GONE_RESPONSES = 2;

/**
 * Reports a longer Retry-After as a pause between two reads. During a pause within a read, the
 * program would print nothing.
 */
export const LONGEST_WITHIN_MS = 3_000;

export type Transient = ReturnType<typeof createTransient>;

/** Distinguishes transient faults from permanent ones, for one resource that is read repeatedly. */
export function createTransient() {
  let odd = 0;
  let missing = 0;
  return {
    /**
     * Whether to read again after this fault: the service is unreachable, fails, or requests a
     * pause. A resource that has been read before may also return a few unreadable responses, or
     * one 404. Before the first read, these are more likely a typing error than an outage.
     */
    passes(error: CliError, wasThere: boolean): boolean {
      if (error.failure === 'notUnderstood') {
        odd += 1;
        return wasThere && odd < ODD_RESPONSES;
      }
      if (error.failure === 'notFound') {
        missing += 1;
        return wasThere && missing < GONE_RESPONSES;
      }
      return error.failure === 'unreachable' || error.retryable;
    },
    /** Resets the count of faults after a successful read. */
    mended() {
      odd = 0;
      missing = 0;
    },
  };
}

interface OutageReport {
  /** Reports an outage. `retryAfter`: the pause that the service requested, in milliseconds. */
  lost(error: CliError, retryAfter: number | undefined): void;
  /** Reports the end of an outage and its length in milliseconds. */
  over?(after: number): void;
}

/**
 * Reports an outage once, and once more if the service requests a pause during it. Silence would
 * look like a slow service, and a line per failed read would fill a script's log.
 */
export function createOutage(clock: Pick<Clock, 'monotonic'>, report: OutageReport) {
  let since: number | undefined;
  let hasPause = false;
  return {
    failed(error: CliError, retryAfter?: number): void {
      const isNews = since === undefined || (retryAfter !== undefined && !hasPause);
      since ??= clock.monotonic();
      hasPause ||= retryAfter !== undefined;
      if (isNews) report.lost(error, retryAfter);
    },
    mended(): void {
      if (since === undefined) return;
      const after = clock.monotonic() - since;
      since = undefined;
      hasPause = false;
      report.over?.(after);
    },
  };
}
