import type { Page } from '../contract.ts';
import type { HttpResponse } from '../http/body.ts';
import { Fault } from '../http/fault.ts';
import { acknowledged, dataOf, pageOf, type Understood } from '../response/envelope.ts';
import type { Schema } from '../schemas/fields.ts';
import type { Call } from './call.ts';
import {
  isSuccess,
  isSureRefusal,
  lostReason,
  notReached,
  notUnderstood,
  outcomeUnknown,
  refusal,
  responseText,
} from './errors.ts';
import { changes, type Operation, requestOf } from './operation.ts';
import { type Repeated, repeat, sendOnce } from './retry.ts';

/** Sends a GET or PATCH and returns its `data`. */
export async function getData<T>(call: Call, operation: Operation, schema: Schema<T>): Promise<T> {
  const { response } = await repeated(call, operation);
  return understood(operation, call, response, (whole) => dataOf(whole, schema));
}

/** Reads one page of a list. */
export async function getPage<T>(
  call: Call,
  operation: Operation,
  schema: Schema<T[]>,
  requested: { page: number; limit: number },
): Promise<Page<T>> {
  const { response } = await repeated(call, operation);
  return understood(operation, call, response, (whole) => pageOf(whole, schema, requested));
}

/** Sends a DELETE. A 404 after an attempt with an unknown outcome counts as success. */
export async function remove(call: Call, operation: Operation): Promise<void> {
  const { response, doubted } = await repeated(call, operation);
  if (response.status === 404 && doubted) return;
  understood(operation, call, response, acknowledged);
}

/** Sends a POST that is never sent again once it may have left. */
export async function postOnce<T>(call: Call, operation: Operation, schema: Schema<T>): Promise<T> {
  const posted = await post(call, operation, schema);
  if (posted.sure) return posted.value;
  throw outcomeUnknown(operation, posted.why, posted.response?.status);
}

export type Posted<T> =
  | { readonly sure: true; readonly value: T }
  /** It may have taken effect; `why` completes "the outcome is unknown: …". */
  | { readonly sure: false; readonly why: string; readonly response?: HttpResponse };

/**
 * Sends a POST once.
 *
 * @throws CliError for certain results: a 4xx refusal except 408, or a request that never left.
 */
export async function post<T>(
  call: Call,
  operation: Operation,
  schema: Schema<T>,
): Promise<Posted<T>> {
  let response: HttpResponse;
  try {
    response = await sendOnce(call, requestOf(operation));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (!error.sent) throw notReached(operation, call, error);
    return { sure: false, why: lostReason(call, error) };
  }
  if (isSureRefusal(response.status)) throw refusal(operation, call, response);
  if (!isSuccess(response.status)) {
    return { sure: false, why: responseText(call, response), response };
  }
  const data = dataOf(response, schema);
  if (data.ok) warnOfOdd(operation, call, data.odd);
  return data.ok
    ? { sure: true, value: data.value }
    : { sure: false, why: `could not read the response: ${data.what}`, response };
}

async function repeated(call: Call, operation: Operation): Promise<Repeated> {
  try {
    return await repeat(call, requestOf(operation));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.partial !== undefined && !error.stopped) {
      return { response: { ...error.partial, problem: 'was cut off' }, doubted: error.sent };
    }
    if (!changes(operation) || !error.sent) throw notReached(operation, call, error);
    throw outcomeUnknown(operation, lostReason(call, error));
  }
}

function understood<T>(
  operation: Operation,
  call: Call,
  response: HttpResponse,
  read: (response: HttpResponse) => Understood<T>,
): T {
  const { status } = response;
  if (!isSuccess(status)) {
    const doubtful = status === 408 || status >= 500;
    throw changes(operation) && doubtful
      ? outcomeUnknown(operation, responseText(call, response), status)
      : refusal(operation, call, response);
  }
  const result = read(response);
  if (!result.ok) throw notUnderstood(operation, result.what, response);
  warnOfOdd(operation, call, result.odd);
  return result.value;
}

/** Returns what is readable instead of failing, with a warning about the missing rest. */
function warnOfOdd(operation: Operation, call: Call, odd: readonly string[]): void {
  const [first, ...more] = odd;
  if (first === undefined) return;
  const others = more.length === 0 ? '' : ` (and ${more.length} more like it)`;
  call.warn(
    `The response to ${operation.heading} does not match the API document: ${first}${others}. Unreadable fields are left out.`,
  );
}
