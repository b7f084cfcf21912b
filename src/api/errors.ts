import { CliError, type ErrorDetails, type FailedRequest, type Failure } from '../errors.ts';
import type { Call } from './call.ts';
import type { HttpResponse } from './http/exchange.ts';
import type { Fault } from './http/fault.ts';
import type { Request } from './request.ts';
import { isWebPage, messageOf, oneLine, shortened } from './response/message.ts';

// Builds the errors of operations: the failure, whether the request was sent, and the service's
// message. Upper layers choose the next step by `CliError.request`.

/**
 * Returns true if the service certainly did nothing: a 4xx, except 408, since a proxy may send
 * that.
 */
export function isSureRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Classifies an unsuccessful response by status and operation only (API document: Errors). Set
 * `needsState` if a 400 is about the resource's state.
 */
export function failureFor(status: number, needsState = false): Failure {
  if (status === 429) return 'rateLimited';
  if (status === 401 || status === 403) return 'authentication';
  if (status === 404) return 'notFound';
  if (status === 402 || status === 409 || (status === 400 && needsState)) return 'wrongState';
  return isRedirect(status) ? 'notUnderstood' : 'refused';
}

/** Whether the service failed, so that the same request may succeed later. */
export function isFailed(status: number): boolean {
  return status >= 500 || status === 408;
}

/** Builds the error for an unsuccessful response; never parses its message. */
export function refusal(request: Request, call: Call, response: HttpResponse): CliError {
  const { status } = response;
  const { doing } = request;
  const words = messageOf(response, call.hide);
  const wait = retryAfterMs(response.headers, call.settings.clock.now());
  const failure = failureFor(status, request.needsState);
  const fail = (text: string, details: ErrorDetails = {}, kind = failure) =>
    new CliError(kind, sentence(text), {
      code: unavailableIf(status),
      httpStatus: status,
      ...factsOf(request),
      ...details,
    });

  if (failure === 'rateLimited') return rateLimited(status, wait);
  if (failure === 'notUnderstood') {
    return fail(
      `${request.title} was redirected (${status})${target(response)}. Did not follow the redirect, to protect your API key`,
    );
  }
  if (isWebPage(response)) {
    // A proxy may have sent an HTML page, so the page does not describe an instance or funds.
    return fail(
      `The request ${doing} ${isFailed(status) ? 'failed' : 'was refused'} (${status}): ${words}`,
      { retryable: isFailed(status), retryAfterMs: wait, ...factsOf(request, 'web page') },
      failure === 'wrongState' ? 'refused' : failure,
    );
  }
  if (failure === 'authentication') {
    const what =
      status === 401
        ? 'did not accept the API key'
        : 'does not permit this request with the API key';
    return new CliError(failure, sentence(`The service ${what} (${status}): ${words}`), {
      httpStatus: status,
      request: { operation: request.title },
      hint: call.settings.keyRemedy?.(status),
    });
  }
  if (failure === 'notFound') {
    const missing = request.missing ?? 'Not found';
    const isSaid = sentence(words).toLowerCase() === `${missing}.`.toLowerCase();
    return fail(isSaid ? `${missing} (404)` : `${missing} (404): ${words}`);
  }
  if (status === 402) return fail(`The service requires payment ${doing} (402): ${words}`);
  if (!isFailed(status)) return fail(`The service refused ${doing} (${status}): ${words}`);
  return fail(`The service failed ${doing} (${status}): ${words}`, {
    retryable: true,
    retryAfterMs: wait,
  });
}

/** Builds the error for an undocumented form of success. */
export function notUnderstood(request: Request, what: string, response: HttpResponse): CliError {
  return new CliError(
    'notUnderstood',
    sentence(`Could not read the response to ${request.title}: ${what}`),
    {
      httpStatus: response.status,
      ...factsOf(request, isWebPage(response) ? 'web page' : undefined),
    },
  );
}

/**
 * Builds the error for a call that certainly changed nothing: the interrupt's own reason, or
 * `unreachable`.
 */
export function notReached(request: Request, call: Call, fault: Fault): unknown {
  const { interruption } = call;
  if (fault.stopped && interruption !== undefined) return interruption.reason;
  const words = fault.stopped
    ? `The service did not respond within ${seconds(call.timeoutMs)} (--timeout)`
    : `Could not reach the service: ${fault.message}`;
  return new CliError('unreachable', `${words}. No changes made.`, {
    retryable: true,
    hint: fault.hint,
    ...factsOf(request, fault.stopped ? 'deadline' : 'network'),
  });
}

/**
 * Returns why a request that may have been sent got no complete response; completes "unknown: …".
 */
export function lostReason(call: Call, fault: Fault): string {
  if (!fault.stopped) return `${fault.message} before the response arrived`;
  return call.interruption === undefined
    ? `no response arrived within ${seconds(call.timeoutMs)}`
    : 'the request was interrupted before the response arrived';
}

/**
 * Builds the error for an unknown outcome. `why` completes "The outcome … is unknown: …". The cause
 * is the service's unsuccessful response, if there was one.
 */
export function outcomeUnknown(
  request: Request,
  why: string,
  httpStatus?: number,
  cause?: CliError,
): CliError {
  const doubt = request.doubt === undefined ? '' : ` ${request.doubt}`;
  return new CliError(
    'outcomeUnknown',
    `${sentence(`The outcome of the request ${request.doing} is unknown: ${why}`)}${doubt}`,
    {
      mayBeBilling: request.bills ?? false,
      retryable: request.isRepeatable,
      httpStatus,
      retryAfterMs: cause?.retryAfterMs,
      cause,
      ...factsOf(request),
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
  { title, resource }: Request,
  obstacle?: FailedRequest['obstacle'],
): Pick<ErrorDetails, 'request' | 'resource'> {
  const request = { operation: title, ...(obstacle === undefined ? {} : { obstacle }) };
  return resource === undefined
    ? { request }
    : { request: { ...request, about: resource }, resource };
}

export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Returns only the host of a redirect, since the path and query may contain secrets. */
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

/** Builds the error for a 429, or for any response whose Retry-After exceeds the deadline. */
export function rateLimited(status: number, waitMs: number | undefined): CliError {
  const after = waitMs === undefined ? '' : `, Retry-After: ${Math.ceil(waitMs / 1000)} s`;
  return new CliError(
    'rateLimited',
    `${status === 429 ? 'The service limits requests' : 'The service is not available'} (${status}${after}).`,
    {
      code: unavailableIf(status),
      httpStatus: status,
      retryable: true,
      retryAfterMs: waitMs,
    },
  );
}

export function unavailableIf(status: number | undefined): 'unavailable' | undefined {
  return status === 503 ? 'unavailable' : undefined;
}

/**
 * Converts Retry-After (whole seconds or an HTTP date) into milliseconds from now; 0 for a past
 * date. Counts a date from the response's Date header, or from `now` without one. Returns undefined
 * for a missing or unreadable value.
 */
export function retryAfterMs(headers: HttpResponse['headers'], now: number): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` also accepts texts that are not HTTP dates, such as `1` or `-5`.
  if (!/^[A-Z][a-z]+, /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - (Date.parse(headers.date ?? '') || now));
}
