import { isAscii, isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import type { RawResponse } from '../contract.ts';
import { codeOf } from './connect.ts';
import { Fault, faultHint, faultMessage } from './fault.ts';

/** Largest body in bytes. Reading stops at this size. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Bytes to keep of an oversized body, since it may contain an ID to save. */
const KEPT_BYTES = 64 * 1024;

export interface HttpResponse extends RawResponse {
  /** Explains why the text is not the service's complete response; completes "the response …". */
  problem?: string;
}

type Head = Pick<HttpResponse, 'status' | 'headers'>;

const NO_HEAD: Head = { status: 0, headers: {} };

export interface WireRequest {
  readonly method: string;
  /** Path and query, starting at the origin. */
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
  return handler.outcome;
}

/**
 * Receives undici's events for one request. Only the first outcome counts: a promise settles once.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<HttpResponse>;
  readonly #onSending: (() => void) | undefined;
  readonly #chunks: Buffer[] = [];
  #resolve!: (response: HttpResponse | Promise<HttpResponse>) => void;
  #reject!: (reason: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #stopped = false;
  #sent = false;
  #head = NO_HEAD;
  #size = 0;

  constructor(onSending: (() => void) | undefined) {
    this.#onSending = onSending;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Does not wait for undici: it ignores signals while connecting. */
  stop(): void {
    this.#stopped = true;
    this.#fail('it was stopped');
    this.#controller?.abort(new Error('stopped'));
  }

  /**
   * Runs in the tick in which undici writes this request's head to the socket (not a proxy's
   * CONNECT). A second call would mean that undici resends the request.
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
    if (status < 200) return;
    const flat: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      flat[name] = [value].flat().join(', ');
    }
    this.#head = { status, headers: flat };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    if (this.#size <= MOST_BYTES) return;
    const text = Buffer.concat(this.#chunks).subarray(0, KEPT_BYTES).toString('utf8');
    this.#chunks.length = 0;
    this.#resolve({ ...this.#head, text, cut: true, problem: 'is larger than 16 MiB' });
    controller.abort(new Error('too large'));
  }

  onResponseEnd(): void {
    this.#resolve(decode(this.#head, this.#body()));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const code = codeOf(error);
    this.#fail(faultMessage(code), faultHint(code));
  }

  #fail(words: string, hint?: string): void {
    const details = { sent: this.#sent, stopped: this.#stopped, hint };
    if (this.#head === NO_HEAD) {
      this.#reject(new Fault(words, details));
      return;
    }
    decode(this.#head, this.#body()).then(({ status, headers, text }) => {
      const partial = { status, headers, text, cut: true } as const;
      this.#reject(new Fault(words, { ...details, partial }));
    }, this.#reject);
  }

  /** Avoids a copy, since a small body arrives in one chunk. */
  #body(): Buffer {
    const [only, ...more] = this.#chunks;
    return only !== undefined && more.length === 0 ? only : Buffer.concat(this.#chunks);
  }
}

/** Decodes a body. A proxy may compress a body even if the request did not ask for it. */
async function decode(head: Head, bytes: Buffer): Promise<HttpResponse> {
  const packing = (head.headers['content-encoding'] ?? '').trim().toLowerCase();
  const isPacked = packing !== '' && packing !== 'identity' && bytes.length > 0;
  const plain = isPacked ? await unpack(packing, bytes) : bytes;
  if (plain === undefined) {
    return { ...head, text: '', problem: 'is corrupt or uses an unsupported compression' };
  }
  // Node decodes ASCII several times faster, and nearly every response is ASCII.
  if (isAscii(plain)) return { ...head, text: plain.toString('latin1') };
  const text = plain.toString('utf8').replace(/^\uFEFF/, '');
  return isUtf8(plain) ? { ...head, text } : { ...head, text, problem: 'is not UTF-8' };
}

async function unpack(packing: string, bytes: Buffer): Promise<Buffer | undefined> {
  const { brotliDecompressSync, gunzipSync, inflateSync } = await import('node:zlib');
  const bound = { maxOutputLength: MOST_BYTES };
  try {
    if (packing === 'gzip' || packing === 'x-gzip') return gunzipSync(bytes, bound);
    if (packing === 'deflate') return inflateSync(bytes, bound);
    if (packing === 'br') return brotliDecompressSync(bytes, bound);
  } catch {
    // The body is corrupt, truncated or too large.
  }
  return undefined;
}
