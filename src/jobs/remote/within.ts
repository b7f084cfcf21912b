import type { Clock } from '../../system/clock.ts';

interface Limit {
  /** The time limit in milliseconds. */
  readonly time: number;
  /** The error to throw if the work takes longer. */
  late(): Error;
  /** A signal that also stops the work. */
  readonly signal: AbortSignal;
  /** Milliseconds in which stopped work may still return a result; 0 by default. */
  readonly windUp?: number;
}

/**
 * Runs work within a time limit. The limit's signal also stops the work, but nothing waits for it:
 * a program may outlive the signal.
 */
export async function within<T>(
  { time, late, signal, windUp = 0 }: Limit,
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
    const stop = AbortSignal.any([signal, over.signal]);
    const pause = windUp > 0 ? () => clock.sleep(windUp) : undefined;
    return await orAborted(work(stop), stop, pause);
  } finally {
    done.abort();
  }
}

/** Returns the work's result, or throws the signal's reason after it aborts. */
export function orAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  pause?: () => Promise<void>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = () => reject(signal.reason);
    const stop = pause === undefined ? end : () => void pause().then(end);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
