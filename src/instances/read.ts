import type { Api, CallOptions, Instance } from '../api/index.ts';
import { NEVER_USED } from '../command-line/hints.ts';
import {
  type CliError,
  ensureCliError,
  isOfOneReading,
  MAY_BILL,
  SeveralErrors,
} from '../errors.ts';
import type { Journal } from '../journal/index.ts';
import { idKey } from '../rules/names.ts';
import { mayBill } from '../rules/statuses.ts';
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

/**
 * Marks the errors of requests about instances that may bill by their last reading: a failed
 * request, and a 404 too, ends no instance. If the service has never shown an account, a 404 hints at
 * the base URL. An unreadable journal changes nothing.
 */
export async function markBilling(
  error: CliError,
  open: (() => Promise<Pick<Journal, 'instance' | 'account'>>) | undefined,
): Promise<CliError> {
  if (error instanceof SeveralErrors) {
    const [first, ...more] = error.errors;
    const mark = (one: CliError) => markBilling(one, open);
    return new SeveralErrors(await Promise.all([mark(first), ...more.map(mark)]), error.summary);
  }
  const { request, resource = '', mayBeBilling, message } = error;
  if (mayBeBilling || !request?.operation.includes(' /instances/{id}')) return error;
  try {
    const journal = await open?.();
    const found = await journal?.instance(idKey(resource));
    if (found?.kind !== 'known') {
      const isNew =
        isGone(error) && journal !== undefined && (await journal.account()) === undefined;
      return isNew ? error.with(message, { hint: error.hint ?? NEVER_USED }) : error;
    }
    if (!mayBill(found.instance.last?.status)) return error;
  } catch (unread) {
    ensureCliError(unread);
    return error;
  }
  const text = isGone(error) ? `${message} ${MAY_BILL}` : message;
  return error.with(text, { mayBeBilling: true });
}

/** Returns the instance. Throws the fault if it is gone or unread. */
export function instanceIn(reading: Reading): Instance {
  if (reading.kind === 'there') return reading.instance;
  throw reading.fault;
}
