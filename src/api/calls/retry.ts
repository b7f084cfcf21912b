import { CliError } from '../../errors.ts';
import type { HttpResponse } from '../http/body.ts';
import { Fault } from '../http/fault.ts';
import type { Call } from './call.ts';
import type { ApiRequest } from './operation.ts';

const TRIES = 3;
const RETRIED: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export interface Repeated {
  readonly response: HttpResponse;
  /** An earlier try may have taken effect. */
  readonly doubted: boolean;
}

/**
 * Sends what is safe to repeat (GET, PATCH with absolute values, DELETE): three tries after transport
 * faults and 408, 429, 500, 502, 503, 504. Returns the last response, whatever its status.
 *
 * @throws Fault if the last try had no response; `sent` is true if any try may have left.
 * @throws CliError `rateLimited` if Retry-After exceeds the deadline, or is left to the caller.
 */
export async function repeat(call: Call, request: ApiRequest): Promise<Repeated> {
  let doubted = false;
  for (let tried = 1; ; tried += 1) {
    let wait: number;
    try {
      const response = await call.exchange(request);
      if (!RETRIED.has(response.status) || tried === TRIES) return { response, doubted };
      // A 429 means that the service did nothing.
      doubted ||= response.status !== 429;
      wait = waitMs(call, response, tried);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      doubted ||= error.sent;
      if (error.stopped || tried === TRIES) throw error.asSent(doubted);
      wait = backoffMs(call, tried);
    }
    await pause(call, wait, doubted);
  }
}

/**
 * Sends what must not be repeated once it may have left: another try only after a fault before the
 * first byte. Returns a truncated response too, since its status is known.
 *
 * @throws Fault without any response; `sent` is true if the request may have left.
 */
export async function sendOnce(call: Call, request: ApiRequest): Promise<HttpResponse> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await call.exchange(request);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.partial !== undefined) {
        return { ...error.partial, problem: 'was cut off' };
      }
      if (error.sent || error.stopped || tried === TRIES) throw error;
      await call.pause(backoffMs(call, tried));
    }
  }
}

/** Returns the pause before the next try: Retry-After if sent, otherwise full jitter. */
export function waitMs(call: Call, response: HttpResponse | undefined, tried: number): number {
  const retryAfter = retryAfterMs(response?.headers, call.clock.now());
  if (response === undefined || retryAfter === undefined) return backoffMs(call, tried);
  if (retryAfter > Math.min(call.remainingMs(), call.longestPauseMs))
    throw rateLimited(response.status, retryAfter);
  return retryAfter;
}

export function backoffMs(call: Call, tried: number): number {
  return call.clock.random() * Math.min(8000, 500 * 2 ** (tried - 1));
}

async function pause(call: Call, milliseconds: number, sent: boolean): Promise<void> {
  try {
    await call.pause(milliseconds);
  } catch (error) {
    throw error instanceof Fault ? error.asSent(sent) : error;
  }
}

/** Builds the error for 429, or for another status whose Retry-After exceeds the deadline. */
export function rateLimited(status: number, waitMs: number | undefined): CliError {
  const asks =
    waitMs === undefined ? '' : ` and asks to wait ${Math.ceil(waitMs / 1000)} s (Retry-After)`;
  return new CliError(
    'rateLimited',
    status === 429
      ? `The service limits requests (429)${asks}.`
      : `The service is not available (${status})${asks}.`,
    {
      code: unavailableIf(status),
      httpStatus: status,
      retryable: true,
      retryAfterMs: waitMs,
    },
  );
}

/** Returns the finer error code for a response status. */
export function unavailableIf(status: number | undefined): 'unavailable' | undefined {
  return status === 503 ? 'unavailable' : undefined;
}

/**
 * Parses Retry-After, whole seconds or an HTTP date, into milliseconds from now; 0 for a past date. A
 * date counts from the response's own, or from `now` without one. Returns undefined if it is missing
 * or unreadable.
 */
export function retryAfterMs(
  headers: HttpResponse['headers'] | undefined,
  now: number,
): number | undefined {
  const text = headers?.['retry-after']?.trim() ?? '';
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` also accepts texts that are not HTTP dates, such as `1` or `-5`.
  if (!/^[A-Z][a-z]+, /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - (Date.parse(headers?.date ?? '') || now));
}
