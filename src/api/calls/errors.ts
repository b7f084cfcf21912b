import { CliError, type ErrorDetails, type FailedRequest, type Failure } from '../../errors.ts';
import type { HttpResponse } from '../http/body.ts';
import type { Fault } from '../http/fault.ts';
import { isWebPage, messageOf } from '../response/message.ts';
import { oneLine, shortened } from '../response/one-line.ts';
import type { Call } from './call.ts';
import { isRepeatable, type Operation } from './operation.ts';
import { rateLimited, retryAfterMs, unavailableIf } from './retry.ts';

// Errors of operations: what failed, whether it was sent, what the service said. What to do next is
// chosen above, from `CliError.request`.

/** A 4xx says that nothing was done; 408 alone can come from something in between. */
export function isSureRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * The error that a response without success stands for, by its status and the operation, never by
 * the words of a message (API document: Errors).
 */
export function refusal(operation: Operation, call: Call, response: HttpResponse): CliError {
  const { status } = response;
  const words = messageOf(response, call.hide);
  const wait = retryAfterMs(response.headers['retry-after'], call.clock.now());
  const fail = (failure: Failure, text: string, details: ErrorDetails = {}) =>
    new CliError(failure, sentence(text), {
      code: unavailableIf(status),
      httpStatus: status,
      ...factsOf(operation),
      ...details,
    });

  const failed = status >= 500 || status === 408;
  if (status === 429) return rateLimited(status, wait);
  if (isRedirect(status)) {
    return fail(
      'notUnderstood',
      `${operation.heading} was answered with a redirect (${status})${target(response)}, which is not followed, so that the key goes nowhere else`,
    );
  }
  if (isWebPage(response)) {
    // It is not the service's own word, so nothing is said of a key, an instance or funds.
    const kinds: Record<number, Failure> = {
      401: 'authentication',
      403: 'authentication',
      404: 'notFound',
    };
    return fail(
      kinds[status] ?? 'refused',
      `The request ${operation.doing} was ${failed ? 'not answered' : 'refused'} (${status}): ${words}`,
      { retryable: failed, retryAfterMs: wait, ...factsOf(operation, 'web page') },
    );
  }
  if (failed) {
    return fail('refused', `The service failed ${operation.doing} (${status}): ${words}`, {
      retryable: true,
      retryAfterMs: wait,
    });
  }
  switch (status) {
    case 401:
    case 403: {
      const what =
        status === 401 ? 'did not accept the API key' : 'does not allow this with the API key';
      return new CliError('authentication', sentence(`The service ${what} (${status}): ${words}`), {
        httpStatus: status,
        request: { operation: operation.heading },
        hint: call.keyRemedy(),
      });
    }
    case 402:
      return fail('wrongState', `The service wants money ${operation.doing} (402): ${words}`);
    case 404:
      return fail(
        'notFound',
        `${operation.missing ?? 'The service knows nothing there'} (404): ${words}`,
      );
    default: {
      const isState = status === 409 || (status === 400 && operation.needsState === true);
      return fail(
        isState ? 'wrongState' : 'refused',
        `The service refused ${operation.doing} (${status}): ${words}`,
      );
    }
  }
}

/** The response says success, but not what the document promises of it. */
export function notUnderstood(
  operation: Operation,
  what: string,
  response: HttpResponse,
): CliError {
  return new CliError(
    'notUnderstood',
    sentence(`The answer to ${operation.heading} could not be understood: ${what}`),
    {
      httpStatus: response.status,
      ...factsOf(operation, isWebPage(response) ? 'web page' : undefined),
    },
  );
}

/**
 * What a call ends with when nothing can have been changed: the reason of an interrupt as it is, or
 * `unreachable`.
 */
export function notReached(operation: Operation, call: Call, fault: Fault): unknown {
  const interruption = call.interruption();
  if (fault.stopped && interruption !== undefined) return interruption.reason;
  const words = fault.stopped
    ? `The service did not answer within ${seconds(call.timeoutMs)} (the deadline of one call)`
    : `The service could not be reached: ${fault.message}`;
  return new CliError('unreachable', `${words}. Nothing was changed.`, {
    retryable: true,
    hint: fault.hint,
    ...factsOf(operation, fault.stopped ? 'deadline' : 'network'),
  });
}

/** Why an exchange that may have left had no whole response; completes "unknown: …". */
export function lostReason(call: Call, fault: Fault): string {
  if (!fault.stopped) return `${fault.message} before the answer came`;
  return call.interruption() === undefined
    ? `no answer came within ${seconds(call.timeoutMs)}`
    : 'it was interrupted before the answer came';
}

/** The request may have been acted on. `why` completes "The outcome … is unknown: …". */
export function outcomeUnknown(operation: Operation, why: string, httpStatus?: number): CliError {
  const doubt = operation.doubt === undefined ? '' : ` ${operation.doubt}`;
  return new CliError(
    'outcomeUnknown',
    `${sentence(`The outcome of the request ${operation.doing} is unknown: ${why}`)}${doubt}`,
    {
      mayBeBilling: operation.bills ?? false,
      retryable: isRepeatable(operation),
      httpStatus,
      ...factsOf(operation),
    },
  );
}

/** A response's status and message, to complete "unknown: …". */
export function responseText(call: Call, response: HttpResponse): string {
  return isRedirect(response.status)
    ? `the service answered with a redirect (${response.status})${target(response)}`
    : `the service answered ${response.status}: ${messageOf(response, call.hide)}`;
}

export function factsOf(
  { heading, resource }: Operation,
  obstacle?: FailedRequest['obstacle'],
): Pick<ErrorDetails, 'request' | 'resource'> {
  const request = { operation: heading, ...(obstacle === undefined ? {} : { obstacle }) };
  return resource === undefined
    ? { request }
    : { request: { ...request, about: resource }, resource };
}

export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Where a redirect points to: its host alone, since the rest may repeat what nobody should see. */
function target(response: HttpResponse): string {
  const location = response.headers.location ?? '';
  try {
    return ` to ${shortened(oneLine(new URL(location).host), 200)}`;
  } catch {
    return location === '' ? '' : ' to another path';
  }
}

function seconds(milliseconds: number): string {
  return `${Number((milliseconds / 1000).toFixed(3))} s`;
}
