import type { Clock } from '../../clock.ts';

interface Limit {
  /** Milliseconds. */
  readonly time: number;
  /** The error if the work takes longer. */
  late(): Error;
  /** Ends the work too. */
  readonly signal: AbortSignal;
}

/** Does work that ends with its signal, in limited time. */
export async function within<T>(
  { time, late, signal }: Limit,
  clock: Clock,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [over, done] = [new AbortController(), new AbortController()];
  clock.sleep(time, done.signal).then(
    () => over.abort(late()),
    // It ended in time.
    () => undefined,
  );
  try {
    return await work(AbortSignal.any([signal, over.signal]));
  } finally {
    done.abort();
  }
}
