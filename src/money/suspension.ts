import { instant } from '../output/time.ts';

/** When a suspended drive is deleted, in milliseconds since 1970. */
export interface Deletion {
  /** Counted from the last time that it was certainly paid for. */
  readonly earliest: number | undefined;
  /** Counted from its last change: being suspended was one. */
  readonly latest: number | undefined;
}

/** "After 7 days the drive is deleted permanently" (API document: Drive status, SUSPENDED). */
const SEVEN_DAYS = 7 * 24 * 3_600_000;

/**
 * No published field holds the moment of the suspension. It comes after the time that was paid for
 * and not after the last change of the drive, which bounds the deletion on both sides.
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
