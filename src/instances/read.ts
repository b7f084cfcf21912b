import type { Api, CallOptions, Instance } from '../api/index.ts';
import { type CliError, isOfOneReading } from '../errors.ts';
import { LONGEST_WITHIN_MS } from '../watch/transient.ts';

/** What one read of an instance showed. */
export type Reading =
  | { readonly kind: 'there'; readonly instance: Instance }
  /** The service itself returned 404. */
  | { readonly kind: 'gone'; readonly fault: CliError }
  /** Any other fault, which may affect only this read. */
  | { readonly kind: 'unread'; readonly fault: CliError };

/** Options of a read that only adds details to another result. */
export const BRIEFLY: CallOptions = { timeoutMs: 5000, longestPauseMs: LONGEST_WITHIN_MS };

/**
 * Reads one instance. Throws what no caller can work around: a refused key, an interrupt, or a bug
 * in gpucloud.
 */
export async function readInstance(
  id: string,
  { instances }: Pick<Api, 'instances'>,
  options: CallOptions = {},
): Promise<Reading> {
  try {
    return { kind: 'there', instance: await instances.get(id, options) };
  } catch (fault) {
    if (!isOfOneReading(fault)) throw fault;
    return { kind: isGone(fault) ? 'gone' : 'unread', fault };
  }
}

/** Whether the service itself returned 404. A web page comes from a proxy, and shows nothing. */
export function isGone({ failure, request }: CliError): boolean {
  return failure === 'notFound' && request?.obstacle !== 'web page';
}

/** Returns the instance. Throws the fault if it is gone or unread. */
export function instanceIn(reading: Reading): Instance {
  if (reading.kind === 'there') return reading.instance;
  throw reading.fault;
}
