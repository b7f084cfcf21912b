import type { Clock } from '../../clock.ts';

interface Limit {
  /** The time limit in milliseconds. */
  readonly time: number;
  /** The error to throw if the work takes longer. */
  late(): Error;
  /** A signal that also stops the work. */
  readonly signal: AbortSignal;
}

/** Runs work within a time limit. The limit's signal also stops the work. */
export async function within<T>(
  { time, late, signal }: Limit,
  clock: Clock,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [over, done] = [new AbortController(), new AbortController()];
  clock.sleep(time, done.signal).then(
    () => over.abort(late()),
    // The work finished in time.
    () => undefined,
  );
  try {
    return await work(AbortSignal.any([signal, over.signal]));
  } finally {
    done.abort();
  }
}
