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

/** One call of a person or a script: all of its requests, pauses and bodies under one deadline. */
export interface Call {
  readonly clock: Clock;
  readonly timeoutMs: number;
  remainingMs(): number;
  /** A longer pause that the service asks for is left to the caller. */
  readonly longestPauseMs: number;
  /** What an interrupt gave as its reason, when one ended the call; undefined at the deadline. */
  interruption(): { reason: unknown } | undefined;
  /**
   * One request and its response of whatever status, which was offered to `onResponse` before.
   *
   * @throws Fault when there is no whole response, and what `onResponse` throws.
   */
  exchange(request: ApiRequest): Promise<HttpResponse>;
  /** @throws Fault, stopped and not sent, when the call ends in the meantime. */
  pause(milliseconds: number): Promise<void>;
  /** What to do when the service refuses the key. */
  keyRemedy(): string | undefined;
  /** Tells of a response that was understood in part. */
  warn(text: string): void;
  /** A text without the key of the call and the secrets of its requests. */
  hide(text: string): string;
}

export interface CallParts {
  readonly settings: ApiSettings;
  readonly base: URL;
  readonly tracer: Tracer;
  transport(): Promise<Transport>;
}

/** What the operations stand on: work within the deadline and the signal of one call. */
export type Run = <T>(
  options: CallOptions | undefined,
  work: (call: Call) => Promise<T>,
) => Promise<T>;

/** Runs the work of one call under its deadline and its signal. */
export async function withCall<T>(
  parts: CallParts,
  options: CallOptions,
  work: (call: Call) => Promise<T>,
): Promise<T> {
  const { settings, tracer } = parts;
  const { clock } = settings;
  const timeoutMs = Math.min(settings.timeoutMs, options.timeoutMs ?? settings.timeoutMs);
  const started = clock.now();
  const stop = stopAt(timeoutMs, options.signal ?? settings.signal);
  const secrets = new Set([settings.apiKey]);

  const goOn = () => {
    if (stop.signal.aborted) throw new Fault('it was stopped', { sent: false, stopped: true });
  };
  const call: Call = {
    clock,
    timeoutMs,
    keyRemedy: () => settings.keyRemedy?.(),
    warn: (text) => settings.warn?.(text),
    remainingMs: () => started + timeoutMs - clock.now(),
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
      const transport = await parts.transport();
      const wire = wireRequest(settings, parts.base, request);
      for (const secret of secretsIn(request.body)) secrets.add(secret);
      tracer.request(wire);
      let response: HttpResponse;
      try {
        response = await transport.exchange(wire, stop.signal, () => options.onSending?.());
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

/** A signal that is aborted at the deadline, or with the outer one. */
function stopAt(timeoutMs: number, outer: AbortSignal) {
  const inner = new AbortController();
  let interruption: { reason: unknown } | undefined;
  const interrupt = () => {
    interruption ??= { reason: outer.reason };
    inner.abort(outer.reason);
  };
  outer.addEventListener('abort', interrupt, { once: true });
  if (outer.aborted) interrupt();
  // A real timer: it has to end a body that dribbles on for ever, and costs tests nothing.
  const timer = setTimeout(() => inner.abort(), Math.min(timeoutMs, LONGEST_TIMER));
  return {
    signal: inner.signal,
    /** What the outer signal gave as its reason; undefined at the deadline. */
    interruption: () => interruption,
    release() {
      clearTimeout(timer);
      outer.removeEventListener('abort', interrupt);
    },
  };
}

/** API document: Authentication; Content-Type goes with a body alone. */
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
