import { type Clock, LONGEST_TIMER } from '../../clock.ts';
import { withoutEndSlash } from '../../rules/service.ts';
import type { ApiSettings, CallOptions } from '../contract.ts';
import type { HttpResponse } from '../http/body.ts';
import type { WireRequest } from '../http/exchange.ts';
import { Fault } from '../http/fault.ts';
import type { Tracer } from '../http/trace.ts';
import type { Transport } from '../http/transport.ts';
import { hidden, secretsIn } from '../response/secrets.ts';
import type { ApiRequest } from './operation.ts';

/** One logical call: all its requests, pauses and bodies under one deadline. */
export interface Call {
  readonly clock: Clock;
  readonly timeoutMs: number;
  remainingMs(): number;
  /** A longer Retry-After pause is left to the caller. */
  readonly longestPauseMs: number;
  /** Returns the reason of the interrupt that ended the call; undefined at the deadline. */
  interruption(): { reason: unknown } | undefined;
  /**
   * Sends one request and returns its response, whatever the status; `onResponse` gets it first.
   *
   * @throws Fault without a complete response, and what `onResponse` throws.
   */
  exchange(request: ApiRequest): Promise<HttpResponse>;
  /** @throws Fault, stopped and not sent, if the call ends during the pause. */
  pause(milliseconds: number): Promise<void>;
  /** The hint if the service refuses the key. */
  keyRemedy(): string | undefined;
  /** Reports a response that was only partly understood. */
  warn(text: string): void;
  /** Removes the call's key and its requests' secrets from a text. */
  hide(text: string): string;
}

export interface CallParts {
  readonly settings: ApiSettings;
  readonly base: URL;
  readonly tracer: Tracer;
  readonly transport: Transport;
}

/** The base of all operations: runs work within the deadline and signal of one call. */
export type Run = <T>(
  options: CallOptions | undefined,
  work: (call: Call) => Promise<T>,
) => Promise<T>;

/** Runs one call's work under its deadline and signal. */
export async function withCall<T>(
  parts: CallParts,
  options: CallOptions,
  work: (call: Call) => Promise<T>,
): Promise<T> {
  const { settings, tracer } = parts;
  const { clock } = settings;
  const timeoutMs = Math.min(settings.timeoutMs, options.timeoutMs ?? settings.timeoutMs);
  const started = clock.monotonic();
  const stop = stopAt(timeoutMs, options.signal ?? settings.signal);
  const secrets = new Set([settings.apiKey]);

  const goOn = () => {
    if (stop.signal.aborted)
      throw new Fault('the call was stopped', { sent: false, stopped: true });
  };
  const call: Call = {
    clock,
    timeoutMs,
    keyRemedy: () => settings.keyRemedy?.(),
    warn: (text) => settings.warn?.(text),
    remainingMs: () => started + timeoutMs - clock.monotonic(),
    longestPauseMs: options.longestPauseMs ?? Number.POSITIVE_INFINITY,
    interruption: stop.interruption,
    hide: (text) => hidden(text, secrets),
    async pause(milliseconds) {
      await clock.sleep(milliseconds, stop.signal).catch((error: unknown) => {
        goOn();
        throw error;
      });
      goOn();
    },
    async exchange(request) {
      goOn();
      const wire = wireRequest(settings, parts.base, request);
      for (const secret of secretsIn(request.body)) secrets.add(secret);
      tracer.request(wire);
      let response: HttpResponse;
      try {
        response = await parts.transport.exchange(wire, stop.signal, () => options.onSending?.());
      } catch (error) {
        if (error instanceof Fault) {
          tracer.fault(error.message);
          if (error.partial !== undefined) {
            tracer.response(error.partial);
            await options.onResponse?.(error.partial);
          }
        }
        throw error;
      }
      tracer.response(response);
      settings.onDate?.(response.headers.date);
      await options.onResponse?.(response);
      return response;
    },
  };
  try {
    return await work(call);
  } finally {
    stop.release();
  }
}

/** A signal that aborts at the deadline, or with the outer one. */
function stopAt(timeoutMs: number, outer: AbortSignal) {
  const inner = new AbortController();
  let interruption: { reason: unknown } | undefined;
  const interrupt = () => {
    interruption ??= { reason: outer.reason };
    inner.abort(outer.reason);
  };
  outer.addEventListener('abort', interrupt, { once: true });
  if (outer.aborted) interrupt();
  // A real timer: it must end an endless body, and costs tests nothing.
  const timer = setTimeout(() => inner.abort(), Math.min(timeoutMs, LONGEST_TIMER));
  return {
    signal: inner.signal,
    /** Returns the outer signal's reason; undefined at the deadline. */
    interruption: () => interruption,
    release() {
      clearTimeout(timer);
      outer.removeEventListener('abort', interrupt);
    },
  };
}

/** API document: Authentication. Content-Type is sent only with a body. */
function wireRequest(settings: ApiSettings, base: URL, request: ApiRequest): WireRequest {
  const { method, body } = request;
  return {
    method,
    path: `${withoutEndSlash(base.pathname)}${request.path}`,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': settings.userAgent,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
      'x-api-key': settings.apiKey,
    },
    ...(body === undefined ? {} : { body }),
  };
}
