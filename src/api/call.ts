import { hider } from '../rules/secrets.ts';
import { withoutEndSlash } from '../rules/service.ts';
import { LONGEST_TIMER } from '../system/clock.ts';
import type { ApiSettings, CallOptions } from './contract.ts';
import type { HttpResponse, WireRequest } from './http/exchange.ts';
import { Fault } from './http/fault.ts';
import type { Tracer } from './http/trace.ts';
import type { Transport } from './http/transport.ts';
import type { Request } from './request.ts';
import { secretsIn } from './response/secrets.ts';

/** One service's settings, address, tracer and transport. */
export interface Line {
  readonly settings: ApiSettings;
  readonly base: URL;
  readonly tracer: Tracer | undefined;
  /** Connects at the first request. */
  transport(): Promise<Transport>;
}

/**
 * One logical call: its requests, pauses and bodies share one deadline and one signal. Always call
 * `end`.
 */
export class Call {
  readonly settings: ApiSettings;
  readonly timeoutMs: number;
  /** Longest Retry-After pause to wait; the caller handles longer pauses. */
  readonly longestPauseMs: number;
  readonly #line: Line;
  readonly #options: CallOptions;
  readonly #endsAt: number;
  readonly #secrets: Set<string>;
  readonly #stop = new AbortController();
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #interruption: { readonly reason: unknown } | undefined;

  constructor(line: Line, options: CallOptions) {
    const { settings } = line;
    this.#line = line;
    this.#options = options;
    this.settings = settings;
    this.timeoutMs = Math.min(settings.timeoutMs, options.timeoutMs ?? settings.timeoutMs);
    this.longestPauseMs = options.longestPauseMs ?? Number.POSITIVE_INFINITY;
    this.#endsAt = settings.clock.monotonic() + this.timeoutMs;
    this.#secrets = new Set([settings.apiKey]);
    this.#outer = options.signal ?? settings.signal;
    this.#outer.addEventListener('abort', this.#interrupt, { once: true });
    if (this.#outer.aborted) this.#interrupt();
    // Uses a real timer, since a test's fake clock would never stop an endless body.
    this.#timer = setTimeout(() => this.#stop.abort(), Math.min(this.timeoutMs, LONGEST_TIMER));
  }

  readonly #interrupt = () => {
    this.#interruption ??= { reason: this.#outer.reason };
    this.#stop.abort(this.#outer.reason);
  };

  /** Returns the interrupt that stopped the call, or undefined if the deadline stopped it. */
  get interruption(): { readonly reason: unknown } | undefined {
    return this.#interruption;
  }

  remainingMs(): number {
    return this.#endsAt - this.settings.clock.monotonic();
  }

  /** Removes the call's API key and the secrets of its requests from a text. */
  readonly hide = (text: string) => hider(this.#secrets)(text);

  /** @throws Fault with `stopped` and this `sent` if the call is stopped during the pause. */
  async pause(milliseconds: number, sent: boolean): Promise<void> {
    // A sleep fails only if the call is stopped.
    await this.settings.clock.sleep(milliseconds, this.#stop.signal).catch(() => undefined);
    this.#goOn(sent);
  }

  /**
   * Sends one request and returns its response, whatever the status; `onResponse` receives the
   * response first.
   *
   * @throws Fault without a complete response, and what `onResponse` throws.
   */
  async exchange(request: Request): Promise<HttpResponse> {
    this.#goOn();
    const { tracer } = this.#line;
    const { onSending, onResponse } = this.#options;
    if (request.body !== undefined) {
      for (const secret of secretsIn(request.body)) this.#secrets.add(secret);
    }
    const wire = this.#wireRequest(request);
    tracer?.request(wire);
    let response: HttpResponse;
    try {
      const transport = await this.#line.transport();
      response = await transport.exchange(wire, this.#stop.signal, onSending);
    } catch (error) {
      if (error instanceof Fault) {
        tracer?.fault(error.message);
        if (error.partial !== undefined) {
          tracer?.response(error.partial);
          await onResponse?.(error.partial);
        }
      }
      throw error;
    }
    tracer?.response(response);
    await onResponse?.(response);
    return response;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#interrupt);
  }

  #goOn(sent = false): void {
    if (!this.#stop.signal.aborted) return;
    throw new Fault('the call was stopped', { sent, stopped: true });
  }

  /** API document: Authentication. Content-Type is sent only with a body. */
  #wireRequest({ method, path, body, headers }: Request): WireRequest {
    const { userAgent, apiKey } = this.settings;
    return {
      method,
      path: `${withoutEndSlash(this.#line.base.pathname)}${path}`,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': userAgent,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
        'x-api-key': apiKey,
      },
      ...(body === undefined ? {} : { body }),
    };
  }
}
