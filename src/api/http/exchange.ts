import type { Dispatcher } from 'undici';
import {
  decode,
  flatHeaders,
  type Head,
  type HttpResponse,
  KEPT_BYTES,
  MOST_BYTES,
} from './body.ts';
import { codeOf } from './connect.ts';
import { Fault, faultHint, faultMessage } from './fault.ts';

export interface WireRequest {
  readonly method: string;
  /** Path from the origin, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Sends one request, at most once, and returns its response, whatever the status. Follows no
 * redirect.
 *
 * @throws Fault without a complete response, and what `onSending` throws.
 */
export async function exchange(
  client: Dispatcher,
  { method, path, headers, body }: WireRequest,
  signal: AbortSignal,
  onSending: (() => void) | undefined,
): Promise<HttpResponse> {
  const handler = new Exchange(onSending);
  const stop = () => handler.stop();
  if (signal.aborted) {
    stop();
  } else {
    signal.addEventListener('abort', stop, { once: true });
    client.dispatch(
      {
        path,
        method: method as Dispatcher.HttpMethod,
        headers: { ...headers },
        body: body ?? null,
      },
      handler,
    );
  }
  try {
    return await handler.outcome;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Receives undici's events for one request. The first outcome counts: a promise settles once. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<HttpResponse>;
  readonly #onSending: (() => void) | undefined;
  readonly #chunks: Buffer[] = [];
  #resolve: (response: HttpResponse | Promise<HttpResponse>) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #stopped = false;
  #sent = false;
  #head: Head | undefined;
  #size = 0;

  constructor(onSending: (() => void) | undefined) {
    this.#onSending = onSending;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** undici ignores signals while connecting, so the outcome does not wait for it. */
  stop(): void {
    this.#stopped = true;
    this.#fail('it was stopped');
    this.#controller?.abort(new Error('stopped'));
  }

  /**
   * undici calls this in the tick in which it writes this request's head to the socket (not a proxy's
   * CONNECT), never earlier. A second call would be an unwanted repetition.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#stopped || this.#sent) {
      controller.abort(new Error('not to be sent'));
      return;
    }
    this.#controller = controller;
    try {
      this.#onSending?.();
      this.#sent = true;
    } catch (error) {
      this.#reject(error);
      controller.abort(new Error('not to be sent'));
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status >= 200) this.#head = { status, headers: flatHeaders(headers) };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    if (this.#head === undefined || this.#size <= MOST_BYTES) return;
    const text = Buffer.concat(this.#chunks).subarray(0, KEPT_BYTES).toString('utf8');
    this.#chunks.length = 0;
    this.#resolve({ ...this.#head, text, cut: true, problem: 'is larger than 16 MiB' });
    controller.abort(new Error('too large'));
  }

  onResponseEnd(): void {
    if (this.#head === undefined) this.#fail(faultMessage('UNKNOWN'));
    else this.#resolve(decode(this.#head, this.#body()));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const code = codeOf(error);
    this.#fail(faultMessage(code), faultHint(code));
  }

  #fail(words: string, hint?: string): void {
    const details = { sent: this.#sent, stopped: this.#stopped, hint };
    if (this.#head === undefined) {
      this.#reject(new Fault(words, details));
      return;
    }
    decode(this.#head, this.#body()).then(({ status, headers, text }) => {
      const partial = { status, headers, text, cut: true } as const;
      this.#reject(new Fault(words, { ...details, partial }));
    }, this.#reject);
  }

  /** A small body arrives in one chunk. */
  #body(): Buffer {
    const [only, ...more] = this.#chunks;
    return only !== undefined && more.length === 0 ? only : Buffer.concat(this.#chunks);
  }
}
