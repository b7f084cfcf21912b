import type { Clock } from '../clock.ts';
import type { CliError } from '../errors.ts';

interface OutageReport {
  /** `retryAfter`: milliseconds of the pause that the service asked for. */
  lost(error: CliError, retryAfter: number | undefined): void;
  /** Milliseconds for which nothing could be read. */
  over?(after: number): void;
}

/**
 * Reports an outage once, and once more if the service asks for a pause during it: a silent outage
 * looks like a slow service, and a line for each failed reading fills the log of a script.
 */
export function createOutage(clock: Pick<Clock, 'now'>, report: OutageReport) {
  let since: number | undefined;
  let hasAsked = false;
  return {
    failed(error: CliError, retryAfter?: number): void {
      const isNews = since === undefined || (retryAfter !== undefined && !hasAsked);
      since ??= clock.now();
      hasAsked ||= retryAfter !== undefined;
      if (isNews) report.lost(error, retryAfter);
    },
    mended(): void {
      if (since === undefined) return;
      const after = clock.now() - since;
      since = undefined;
      hasAsked = false;
      report.over?.(after);
    },
  };
}
