/**
 * Milliseconds for the last try to copy the results of a job whose deadline has passed, for example
 * while the computer slept.
 */
export const LAST_TRY = 10 * 60_000;

/** Which instances a pass of `reap` leaves to their job. */
export interface HandOver {
  /** A driver begins to move the job on the instance. */
  begin(id: string): void;
  isInHand(id: string): boolean;
  /** Whether a deadline that has passed waits for the job: while it is in hand, and not for long. */
  leaves(id: string): boolean;
  /** The driver is done. Returns whether a deadline has waited for it. */
  end(id: string): boolean;
}

/** `now` counts milliseconds, and also while the service's time is unknown. */
export function createHandOver(now: () => number): HandOver {
  /** When a deadline first waited for each job in hand. */
  const inHand = new Map<string, number | undefined>();
  return {
    begin(id) {
      inHand.set(id, undefined);
    },
    isInHand: (id) => inHand.has(id),
    leaves(id) {
      if (!inHand.has(id)) return false;
      const since = inHand.get(id) ?? now();
      inHand.set(id, since);
      // The job itself ends its try first.
      return now() - since < 2 * LAST_TRY;
    },
    end(id) {
      const hasWaited = inHand.get(id) !== undefined;
      inHand.delete(id);
      return hasWaited;
    },
  };
}
