import type { Clock } from '../clock.ts';
import type { CliError } from '../errors.ts';

/** Consecutive proxy or sign-in pages after which the fault is permanent. */
const ODD_RESPONSES = 5;

/** The number of consecutive 404 responses after which a resource is gone. */
const GONE_RESPONSES = 2;

/**
 * A longer Retry-After becomes a pause between two reads, where it is reported: within a read, the
 * program would be silent.
 */
export const LONGEST_WITHIN_MS = 3_000;

export type Transient = ReturnType<typeof createTransient>;

/** Distinguishes temporary faults from others, for one resource that is read repeatedly. */
export function createTransient() {
  let odd = 0;
  let missing = 0;
  return {
    /**
     * Whether to read again after this fault. The service may be unreachable, fail, or request a
     * pause. A resource that was read before may also return a few unreadable responses, or one 404;
     * before the first read, those are more likely a typing error than an outage.
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
    /** A read succeeded. */
    mended() {
      odd = 0;
      missing = 0;
    },
  };
}

interface OutageReport {
  /** `retryAfter`: the pause that the service requested, in milliseconds. */
  lost(error: CliError, retryAfter: number | undefined): void;
  /** Reports the end of an outage, and its length in milliseconds. */
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
