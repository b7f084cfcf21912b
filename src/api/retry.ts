import type { Call } from './call.ts';
import { rateLimited, retryAfterMs } from './errors.ts';
import type { HttpResponse } from './http/exchange.ts';
import { Fault } from './http/fault.ts';
import type { Request } from './request.ts';

const TRIES = 3;
const RETRIED: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Sends a request up to three times, and returns the last response, whatever its status; `doubted` if
 * an earlier try may have taken effect.
 *
 * What is repeatable goes again after transport faults and 408, 429, 500, 502, 503, 504, the rest
 * only after a fault before its first byte.
 *
 * @throws Fault if the last try had no response; `sent` is true if any try may have left.
 * @throws CliError `rateLimited` if Retry-After exceeds the deadline, or is left to the caller.
 */
export async function transmit(
  call: Call,
  request: Request,
): Promise<{ response: HttpResponse; doubted: boolean }> {
  const { isRepeated } = request;
  let doubted = false;
  for (let tried = 1; ; tried += 1) {
    let wait: number;
    try {
      const response = await call.exchange(request);
      const isLast = !isRepeated || !RETRIED.has(response.status) || tried === TRIES;
      if (isLast) return { response, doubted };
      // A 429 means that the service did nothing.
      doubted ||= response.status !== 429;
      wait = waitMs(call, response, tried);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { sent, stopped, partial } = error;
      doubted ||= sent;
      if (stopped || tried === TRIES || (sent && !isRepeated)) {
        // A status that is known counts, unless a read was stopped in the middle.
        if (partial === undefined || (stopped && isRepeated)) throw error.asSent(doubted);
        return { response: { ...partial, problem: 'was cut off' }, doubted };
      }
      wait = backoffMs(call, tried);
    }
    await call.pause(wait).catch((error: unknown) => {
      throw error instanceof Fault ? error.asSent(doubted) : error;
    });
  }
}

/** Returns the pause before the next try: Retry-After if sent, otherwise full jitter. */
export function waitMs(call: Call, response: HttpResponse | undefined, tried: number): number {
  const asked = retryAfterMs(response?.headers, call.settings.clock.now());
  if (response === undefined || asked === undefined) return backoffMs(call, tried);
  if (asked > Math.min(call.remainingMs(), call.longestPauseMs)) {
    throw rateLimited(response.status, asked);
  }
  return asked;
}

export function backoffMs({ settings }: Call, tried: number): number {
  return settings.clock.random() * Math.min(8000, 500 * 2 ** (tried - 1));
}
