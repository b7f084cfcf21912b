import type { Clock } from '../clock.ts';
import type { CliError } from '../errors.ts';

interface OutageReport {
  /** `asked`: milliseconds of the pause that the service asked for. */
  lost(error: CliError, asked: number | undefined): void;
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
    failed(error: CliError, asked?: number): void {
      const isNews = since === undefined || (asked !== undefined && !hasAsked);
      since ??= clock.now();
      hasAsked ||= asked !== undefined;
      if (isNews) report.lost(error, asked);
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
