/** Milliseconds by which this computer's clock and the service's may differ. */
const SKEW = 5 * 60_000;

/** Milliseconds after which a request counts as lost, though its process still waits for it. */
const LATEST = 3_600_000;

/** Whether a thing is no older than a request, so that it may have come of it. */
export function isSince(created: string | null | undefined, asked: string): boolean {
  return created != null && Date.parse(created) >= Date.parse(asked) - SKEW;
}

/**
 * Whether it is of the time of the request, and not of a day long after it either. `ahead` is by
 * how many milliseconds the service's clock is before this computer's.
 */
export function isOfTheTime(
  created: string | null | undefined,
  asked: string,
  ahead: number,
): boolean {
  return isSince(created, asked) && Date.parse(created ?? '') <= Date.parse(asked) + LATEST + ahead;
}
