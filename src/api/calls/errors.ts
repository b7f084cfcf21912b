import { CliError, type ErrorDetails, type FailedRequest, type Failure } from '../../errors.ts';
import type { HttpResponse } from '../http/body.ts';
import type { Fault } from '../http/fault.ts';
import { isWebPage, messageOf } from '../response/message.ts';
import { oneLine, shortened } from '../response/one-line.ts';
import type { Call } from './call.ts';
import { isRepeatable, type Operation } from './operation.ts';
import { rateLimited, retryAfterMs, unavailableIf } from './retry.ts';

// Errors of operations: what failed, whether it was sent, what the service said. Upper layers choose
// the next step from `CliError.request`.

/** A 4xx means that nothing was done. Only 408 may come from something in between. */
export function isSureRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Builds the error for an unsuccessful response, from its status and the operation, never from the
 * message text (API document: Errors).
 */
export function refusal(operation: Operation, call: Call, response: HttpResponse): CliError {
  const { status } = response;
  const words = messageOf(response, call.hide);
  const wait = retryAfterMs(response.headers, call.clock.now());
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
      `${operation.heading} was redirected (${status})${target(response)}. Redirects are not followed, so that the key stays with this service`,
    );
  }
  if (isWebPage(response)) {
    // It is not the service's own message, so it means nothing about a key, an instance or funds.
    const kinds: Record<number, Failure> = {
      401: 'authentication',
      403: 'authentication',
      404: 'notFound',
    };
    return fail(
      kinds[status] ?? 'refused',
      `The request ${operation.doing} ${failed ? 'failed' : 'was refused'} (${status}): ${words}`,
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
      return fail('wrongState', `The service requires payment ${operation.doing} (402): ${words}`);
    case 404:
      return fail('notFound', `${operation.missing ?? 'Not found'} (404): ${words}`);
    default: {
      const isState = status === 409 || (status === 400 && operation.needsState === true);
      return fail(
        isState ? 'wrongState' : 'refused',
        `The service refused ${operation.doing} (${status}): ${words}`,
      );
    }
  }
}

/** Builds the error for a success that does not match the document. */
export function notUnderstood(
  operation: Operation,
  what: string,
  response: HttpResponse,
): CliError {
  return new CliError(
    'notUnderstood',
    sentence(`Could not read the response to ${operation.heading}: ${what}`),
    {
      httpStatus: response.status,
      ...factsOf(operation, isWebPage(response) ? 'web page' : undefined),
    },
  );
}

/**
 * Builds the error of a call that certainly changed nothing: the interrupt's own reason, or
 * `unreachable`.
 */
export function notReached(operation: Operation, call: Call, fault: Fault): unknown {
  const interruption = call.interruption();
  if (fault.stopped && interruption !== undefined) return interruption.reason;
  const words = fault.stopped
    ? `The service did not respond within ${seconds(call.timeoutMs)} (--timeout)`
    : `Could not reach the service: ${fault.message}`;
  return new CliError('unreachable', `${words}. Nothing was changed.`, {
    retryable: true,
    hint: fault.hint,
    ...factsOf(operation, fault.stopped ? 'deadline' : 'network'),
  });
}

/** Why a request that may have left got no complete response; completes "unknown: …". */
export function lostReason(call: Call, fault: Fault): string {
  if (!fault.stopped) return `${fault.message} before the response arrived`;
  return call.interruption() === undefined
    ? `no response arrived within ${seconds(call.timeoutMs)}`
    : 'it was interrupted before the response arrived';
}

/** Builds the error for an unknown outcome. `why` completes "The outcome … is unknown: …". */
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

/** Describes a response by status and message, to complete "unknown: …". */
export function responseText(call: Call, response: HttpResponse): string {
  return isRedirect(response.status)
    ? `the service sent a redirect (${response.status})${target(response)}`
    : `the service returned ${response.status}: ${messageOf(response, call.hide)}`;
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

/** Returns only the host of a redirect's target, since the rest may contain secrets. */
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
