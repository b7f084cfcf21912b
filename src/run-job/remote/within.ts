import type { Clock } from '../../clock.ts';

interface Limit {
  /** The time limit in milliseconds. */
  readonly time: number;
  /** The error to throw if the work takes longer. */
  late(): Error;
  /** A signal that also ends the work. */
  readonly signal: AbortSignal;
}

/** Runs work within a time limit. The limit's signal also ends the work. */
export async function within<T>(
  { time, late, signal }: Limit,
  clock: Clock,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [over, done] = [new AbortController(), new AbortController()];
  clock.sleep(time, done.signal).then(
    () => over.abort(late()),
    // The work ended in time.
    () => undefined,
  );
  try {
    return await work(AbortSignal.any([signal, over.signal]));
  } finally {
    done.abort();
  }
}
