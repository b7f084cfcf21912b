import type { Clock } from '../../clock.ts';
import { CliError } from '../../errors.ts';

/** Milliseconds before each other attempt: a cut connection may take a minute to come back. */
const PAUSES = [3_000, 15_000, 45_000];

/** Repeats work that fails with a retryable CliError, such as after a cut connection. */
export async function repeated(
  work: () => Promise<void>,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  for (const pause of PAUSES) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CliError) || !error.retryable) throw error;
    }
    await clock.sleep(pause, signal);
  }
  return work();
}
