import type { Context } from '../context.ts';
import { type CliError, isInterrupt } from '../errors.ts';

/**
 * Does what comes before the first request that changes something: fetching a key may take a minute.
 * An interrupt meanwhile ends with what `meaning` makes of it, unless a question that it ended has
 * said already what it means.
 */
export async function beforeSending<T>(
  context: Context,
  meaning: (interrupt: CliError) => CliError,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isInterrupt(error) && error === context.signal.reason ? meaning(error) : error;
  }
}

export function nothingCreated(interrupt: CliError): CliError {
  return interrupt.with(`${interrupt.message} Nothing was sent, so nothing was created.`);
}
