/**
 * The most milliseconds for the last try to copy the results of a job, or the paths of `--rescue`, after
 * the deadline has passed, for example while the computer slept.
 */
export const LAST_TRY = 10 * 60_000;

interface Handled {
  readonly uid: string;
  /** The ID of the job's instance; null if it is not known yet. */
  readonly id: string | null;
}

/** Which instances a pass of `reap` leaves to their jobs. */
export interface HandOver {
  /** A driver begins to move a job. */
  begin(job: Handled): void;
  isInHand(uid: string): boolean;
  /** Whether an instance whose deadline has passed waits for its jobs: not for long. */
  leaves(id: string): boolean;
  /** The driver is done. Returns the instance whose deadline has waited for this job, if any. */
  end(uid: string): string | null;
}

/** `now` counts milliseconds. */
export function createHandOver(now: () => number): HandOver {
  /** The jobs in hand, and when a deadline first waited for each. */
  const inHand = new Map<string, { readonly id: string | null; since: number | undefined }>();
  return {
    begin({ uid, id }) {
      inHand.set(uid, { id, since: undefined });
    },
    isInHand: (uid) => inHand.has(uid),
    leaves(id) {
      const jobs = [...inHand.values()].filter((job) => job.id === id);
      for (const job of jobs) job.since ??= now();
      // A job ends its last try by itself; this limit holds even if its driver hangs.
      return jobs.some(({ since = now() }) => now() - since < 2 * LAST_TRY);
    },
    end(uid) {
      const job = inHand.get(uid);
      inHand.delete(uid);
      return job?.since === undefined ? null : job.id;
    },
  };
}
