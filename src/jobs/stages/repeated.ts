import { CliError } from '../../errors.ts';
import type { Clock } from '../../system/clock.ts';

/** Pauses before further attempts, in milliseconds. A connection may take a minute to recover. */
const PAUSES = [3_000, 15_000, 45_000];

/**
 * Repeats work that fails with a retryable CliError, such as after a cut connection. With `onCut`,
 * which may throw, it continues until the signal.
 */
export async function repeated<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  clock: Clock,
  onCut?: (error: CliError) => Promise<void>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    const pause = PAUSES[attempt] ?? (onCut === undefined ? undefined : PAUSES.at(-1));
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const isCut = error instanceof CliError && error.retryable;
      if (!isCut || pause === undefined) throw error;
      await onCut?.(error);
    }
    await clock.sleep(pause, signal);
  }
}
