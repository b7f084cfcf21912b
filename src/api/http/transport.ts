import { isAscii, isUtf8 } from 'node:buffer';
import { Client, type Dispatcher, Pool } from 'undici';
import type { RawAnswer } from '../contract.ts';
import { ConnectError, type ConnectParts, codeOf, createConnector } from './connect.ts';
import { Fault, faultHint, faultWords } from './fault.ts';
import { skipInterim } from './interim.ts';
import { parserCompiler } from './parser.ts';
import { type ProxyServer, proxyFor } from './proxy.ts';

// The one module that reaches undici, and it is loaded at the first request only: undici costs more
// than all the rest of a command. Deep imports of its client belong here, nowhere else.

/** A body is counted while it is read and given up beyond this. */
const MOST_BYTES = 16 * 1024 * 1024;
/** How much of a body that is too large is kept, for an id to be saved from. */
const KEPT_BYTES = 64 * 1024;

/**
 * A hundred readings at once, and what is read beside them. A connection is free for its next request
 * a turn of the event loop after an answer; where there is no bound undici makes a new one for what
 * does not wait so long, with all the round trips and the reckoning of TLS.
 */
const MOST_CONNECTIONS = 104;

export interface WireRequest {
  readonly method: string;
  /** The whole path from the origin on, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer extends RawAnswer {
  /** Why the text can't be taken for the service's whole word; completes "the answer …". */
  problem?: string;
}

export interface Transport {
  /**
   * One request, sent at most once, and its answer, whatever the status: no redirect is followed.
   *
   * @throws Fault when there is no whole answer.
   */
  exchange(request: WireRequest, signal: AbortSignal, onSending: () => void): Promise<Answer>;
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @param nodeVersion as `v20.20.2`.
 * @throws CliError `usage` when the environment names a proxy that can't be used.
 */
export async function createTransport(
  target: URL,
  env: Environment,
  nodeVersion?: string,
): Promise<Transport> {
  const proxy = proxyFor(target, env);
  // curl forwards plain http through the proxy itself and digs a tunnel for https.
  const forwarder = proxy !== undefined && target.protocol === 'http:' ? proxy : undefined;
  const tunnel = forwarder === undefined ? proxy : undefined;
  const parts = await connectParts(target, proxy);
  const compileParser = parserCompiler(nodeVersion);
  const connector = createConnector(parts, tunnel, compileParser);
  const origin =
    forwarder === undefined
      ? target.origin
      : `${forwarder.url.protocol}//${forwarder.url.hostname}:${forwarder.port}`;
  // undici's own time limits are off: they are idle timers, and the call's deadline covers them.
  const options = {
    connect: connector.connect,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const connectOnce: typeof options.connect = (to, done) =>
    connector.connect(to, (...outcome) => {
      const [, socket] = outcome;
      if (socket !== null) skipInterim(socket);
      done(...outcome);
    });
  const pool = new Pool(origin, { ...options, pipelining: 1, connections: MOST_CONNECTIONS });
  const once = new Set<Client>();

  return {
    exchange(request, signal, onSending) {
      const sent = forwarder === undefined ? request : forwarded(request, target, forwarder);
      if (isRepeatable(request.method) && request.body === undefined) {
        return dispatch(pool, sent, signal, onSending);
      }
      // A connection kept from an earlier request may be closing just now, and a POST lost on it
      // would leave its outcome unknown; so each gets a new one. So does whatever has a body, which
      // is what `100 Continue` answers: it is looked for at the front of a new connection alone.
      const client = new Client(origin, { ...options, connect: connectOnce, pipelining: 0 });
      once.add(client);
      return dispatch(client, sent, signal, onSending).finally(() => {
        once.delete(client);
        client.destroy(ending()).catch(() => undefined);
      });
    },
    async close() {
      const ends = [pool, ...once].map((client) => client.destroy(ending()));
      connector.close();
      await Promise.allSettled(ends);
    },
  };
}

/** The fault of what is on its way when a connection is ended. */
function ending(): Error {
  const error = new ConnectError('UND_ERR_DESTROYED');
  // Node reads the stack of what ends a socket, and V8 would count all lines of the bundle for it.
  error.stack = error.message;
  return error;
}

function isRepeatable(method: string): boolean {
  return method !== 'POST' && method !== 'PUT';
}

async function connectParts(target: URL, proxy: ProxyServer | undefined): Promise<ConnectParts> {
  const parts: ConnectParts = {};
  if (target.protocol === 'https:' || proxy?.url.protocol === 'https:') {
    const { connect, createSecureContext } = await import('node:tls');
    parts.tls = { connect, createSecureContext };
  }
  if (target.protocol === 'https:' && proxy !== undefined) {
    parts.http = (await import('node:http')).request;
  }
  return parts;
}

function forwarded(request: WireRequest, target: URL, proxy: ProxyServer): WireRequest {
  const { authorization } = proxy;
  return {
    ...request,
    path: `${target.origin}${request.path}`,
    headers: {
      ...request.headers,
      host: target.host,
      ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
    },
  };
}

function dispatch(
  client: Dispatcher,
  request: WireRequest,
  signal: AbortSignal,
  onSending: () => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let sent = false;
    let ended = false;
    let running: Dispatcher.DispatchController | undefined;
    let head: { status: number; headers: Record<string, string> } | undefined;
    let chunks: Buffer[] = [];
    let size = 0;

    const end = () => {
      ended = true;
      signal.removeEventListener('abort', onAbort);
    };
    const answer = (): Promise<Answer> | undefined =>
      head === undefined ? undefined : read(head.status, head.headers, joined(chunks));
    const fail = (words: string, stopped: boolean, hint?: string) => {
      if (ended) return;
      end();
      const partial = answer();
      if (partial === undefined) {
        reject(new Fault(words, { sent, stopped, hint }));
        return;
      }
      partial.then(({ status, headers, text }) => {
        reject(new Fault(words, { sent, stopped, partial: { status, headers, text, cut: true } }));
      }, reject);
    };
    // Before the connection is made undici looks at no signal, so the call ends here by itself, and
    // `onRequestStart` sees to it that the request that is left in the queue is never written.
    const onAbort = () => {
      fail('it was stopped', true);
      running?.abort(new Error('stopped'));
    };
    if (signal.aborted) {
      reject(new Fault('it was stopped', { sent: false, stopped: true }));
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });

    client.dispatch(
      {
        path: request.path,
        method: request.method as Dispatcher.HttpMethod,
        headers: { ...request.headers },
        body: request.body ?? null,
      },
      {
        // undici calls this in the same breath in which it writes our own head to the socket, for
        // no other request (a proxy's CONNECT has none of this) and never earlier. Called a second
        // time it would be a repetition that nobody asked for.
        onRequestStart(controller) {
          if (ended || sent) {
            controller.abort(new Error('not to be sent'));
            return;
          }
          running = controller;
          sent = true;
          try {
            onSending();
          } catch (error) {
            // Nothing was written yet, and nothing will be.
            end();
            controller.abort(new Error('not to be sent'));
            reject(error);
          }
        },
        onResponseStart(_controller, status, headers) {
          if (status < 200) return;
          const flat: Record<string, string> = {};
          for (const [name, value] of Object.entries(headers)) {
            flat[name] = Array.isArray(value) ? value.join(', ') : (value ?? '');
          }
          head = { status, headers: flat };
        },
        onResponseData(controller, chunk) {
          if (ended || head === undefined) return;
          size += chunk.length;
          chunks.push(chunk);
          if (size > MOST_BYTES) {
            const { status, headers } = head;
            const text = Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString('utf8');
            chunks = [];
            end();
            controller.abort(new Error('too large'));
            resolve({ status, headers, text, cut: true, problem: 'is larger than 16 MiB' });
          }
        },
        onResponseEnd() {
          const whole = ended ? undefined : answer();
          if (whole === undefined) {
            fail(faultWords('UNKNOWN'), false);
            return;
          }
          end();
          whole.then(resolve, reject);
        },
        onResponseError(_controller, error) {
          const code = codeOf(error);
          fail(faultWords(code), false, faultHint(code));
        },
      },
    );
  });
}

/** A small answer comes in one piece. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [only, ...more] = chunks;
  return only !== undefined && more.length === 0 ? only : Buffer.concat(chunks);
}

/** Nothing but plain bytes is asked for, but a proxy may pack them all the same. */
async function read(
  status: number,
  headers: Record<string, string>,
  bytes: Buffer,
): Promise<Answer> {
  const packing = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  let plain: Buffer = bytes;
  let isWhole = true;
  if (packing !== 'identity' && packing !== '' && bytes.length > 0) {
    const unpacked = await unpack(packing, bytes);
    if (unpacked === undefined) {
      return { status, headers, text: '', problem: 'is packed in a way that was not asked for' };
    }
    ({ plain, isWhole } = unpacked);
  }
  // Nearly every answer is, which is both told and read several times faster.
  const isPlainText = isAscii(plain);
  const text = isPlainText
    ? plain.toString('latin1')
    : plain.toString('utf8').replace(/^\uFEFF/, '');
  if (!isWhole) return { status, headers, text, problem: 'is packed, and cut off or damaged' };
  return isPlainText || isUtf8(plain)
    ? { status, headers, text }
    : { status, headers, text, problem: 'is not UTF-8' };
}

interface Unpacked {
  readonly plain: Buffer;
  readonly isWhole: boolean;
}

/** What is cut or damaged is unpacked as far as it goes: an id to be saved stands at its front. */
async function unpack(packing: string, bytes: Buffer): Promise<Unpacked | undefined> {
  const zlib = await import('node:zlib');
  const bound = { maxOutputLength: MOST_BYTES };
  const flushed = { ...bound, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  const ways: Readonly<Record<string, readonly Unpack[]>> = {
    gzip: [(all) => zlib.gunzipSync(all, bound), (part) => zlib.gunzipSync(part, flushed)],
    deflate: [(all) => zlib.inflateSync(all, bound), (part) => zlib.inflateSync(part, flushed)],
    // Its reader gives nothing before the end.
    br: [(all) => zlib.brotliDecompressSync(all, bound)],
  };
  const [whole, part] = ways[packing.replace(/^x-/, '')] ?? [];
  if (whole === undefined) return undefined;
  const plain = tried(whole, bytes);
  if (plain !== undefined) return { plain, isWhole: true };
  // A front so small can't be larger than the bound, and may lie before the damage.
  const front = tried(part, bytes) ?? tried(part, bytes.subarray(0, MOST_BYTES / 2048));
  return { plain: (front ?? Buffer.alloc(0)).subarray(0, KEPT_BYTES), isWhole: false };
}

type Unpack = (bytes: Buffer) => Buffer;

function tried(unpacking: Unpack | undefined, bytes: Buffer): Buffer | undefined {
  try {
    return unpacking?.(bytes);
  } catch {
    return undefined;
  }
}
