import { instant } from '../output/time.ts';

/** When a suspended drive is deleted, in milliseconds since 1970. */
export interface Deletion {
  /** 7 days after the last hour that was certainly paid. */
  readonly earliest: number | undefined;
  /** 7 days after the drive's last change; being suspended is a change. */
  readonly latest: number | undefined;
}

/** "After 7 days the drive is deleted permanently" (API document: Drive status, SUSPENDED). */
const SEVEN_DAYS = 7 * 24 * 3_600_000;

/**
 * Returns the range of the deletion time. No documented field holds the suspension time. It falls
 * between the end of the paid time and the drive's last change.
 */
export function deletionOf(drive: {
  readonly paid_until?: string | null | undefined;
  readonly last_billed_at?: string | null | undefined;
  readonly updated_at?: string | null | undefined;
}): Deletion {
  const [paid, billed, changed] = [drive.paid_until, drive.last_billed_at, drive.updated_at].map(
    instant,
  );
  const since = [paid, billed, changed].filter((at) => at !== undefined);
  return {
    earliest: since.length === 0 ? undefined : Math.min(...since) + SEVEN_DAYS,
    latest: changed === undefined ? undefined : changed + SEVEN_DAYS,
  };
}
