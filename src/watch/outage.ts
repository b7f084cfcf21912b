import type { Clock } from '../clock.ts';
import type { CliError } from '../errors.ts';

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
