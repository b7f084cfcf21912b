import type { Call } from './call.ts';
import { rateLimited, retryAfterMs } from './errors.ts';
import type { HttpResponse } from './http/exchange.ts';
import { Fault } from './http/fault.ts';
import { changes, type Request } from './request.ts';

const TRIES = 3;
const RETRIED: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export interface Sent {
  readonly response: HttpResponse;
  /** Whether an earlier try may have taken effect. */
  readonly doubted: boolean;
}

/** Whether this 404 follows an earlier try of a DELETE that deleted the resource. */
export function isDeleted({ method }: Request, { response, doubted }: Sent): boolean {
  return method === 'DELETE' && response.status === 404 && doubted;
}

/**
 * Sends a request up to three times, and returns the last response, whatever its status.
 *
 * Repeats a repeatable request after transport faults and after 408, 429, 500, 502, 503 and 504.
 * Repeats any other request only after a fault before its first byte.
 *
 * @throws Fault if the last try had no response; `sent` is true if any try may have been sent.
 * @throws CliError `rateLimited` if Retry-After exceeds the deadline, or is left to the caller.
 */
export async function transmit(call: Call, request: Request): Promise<Sent> {
  const { isRepeated } = request;
  let doubted = false;
  for (let tried = 1; ; tried += 1) {
    let wait: number;
    try {
      const response = await call.exchange(request);
      const isLast = !isRepeated || !RETRIED.has(response.status) || tried === TRIES;
      if (isLast) return { response, doubted };
      // Keeps `doubted`: a long Retry-After must not hide that an earlier try may have changed
      // something.
      if (doubted && changes(request) && asksTooLong(call, response)) return { response, doubted };
      // A 429 means that the service did nothing.
      doubted ||= response.status !== 429;
      wait = waitMs(call, response, tried);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { sent, stopped, partial } = error;
      if (stopped || tried === TRIES || (sent && !isRepeated)) {
        // Returns a response whose status arrived, unless a read was stopped.
        if (partial === undefined || (stopped && isRepeated)) throw error.asSent(doubted || sent);
        return { response: { ...partial, problem: 'was cut off' }, doubted };
      }
      doubted ||= sent;
      wait = backoffMs(call, tried);
    }
    await call.pause(wait, doubted);
  }
}

/** Returns the pause before the next try: Retry-After if sent, otherwise full jitter. */
function waitMs(call: Call, response: HttpResponse, tried: number): number {
  const asked = retryAfterMs(response.headers, call.settings.clock.now());
  if (asked === undefined) return backoffMs(call, tried);
  if (asksTooLong(call, response)) throw rateLimited(response.status, asked);
  return asked;
}

function asksTooLong(call: Call, { headers }: HttpResponse): boolean {
  const asked = retryAfterMs(headers, call.settings.clock.now()) ?? 0;
  return asked > Math.min(call.remainingMs(), call.longestPauseMs);
}

/** Returns full jitter up to 0.5 s after the first try, and up to 1 s after the second. */
function backoffMs({ settings }: Call, tried: number): number {
  return settings.clock.random() * tried * 500;
}
