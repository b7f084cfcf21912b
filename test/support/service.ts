import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import { afterwards } from './afterwards.ts';

/** A request as received. */
export interface RecordedRequest {
  readonly method: string;
  /** The path, including the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body: undefined if there is none, a string if it is not JSON. */
  readonly body: unknown;
}

/** Returns the requests as lines: `GET /users/me`. */
export function sent(requests: readonly RecordedRequest[]): string[] {
  return requests.map(({ method, path }) => `${method} ${path}`);
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends a text unchanged, anything else as JSON. */
  readonly body?: unknown;
}

/** Wraps data in the envelope (API document: Response envelope). */
export function envelope(data: unknown, code = 200, meta?: unknown): object {
  return { status: 'success', code, data, ...(meta === undefined ? {} : { meta }) };
}

export function ok(data: unknown, status = 200, meta?: unknown): Answer {
  return { status, body: envelope(data, status, meta) };
}

/** Builds an error response of Shape A (API document: Errors, Shape A). */
export function no(statusCode: number, message: string): Answer {
  return { status: statusCode, body: { statusCode, message, error: 'No' } };
}

/** Responds to a request; `hangUp` closes the connection without a response. */
export type Handler = (request: RecordedRequest) => Answer | 'hangUp' | Promise<Answer | 'hangUp'>;

export interface Service {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

/**
 * Starts a server on loopback that records each request and responds as the test decides. With a
 * clock, its Date headers follow that clock.
 */
export async function startService(handler: Handler, clock?: { now(): number }): Promise<Service> {
  const requests: RecordedRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    if (clock !== undefined) outgoing.setHeader('date', new Date(clock.now()).toUTCString());
    void answer(incoming, outgoing, requests, handler);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, requests, close: afterwards(close) };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  requests: RecordedRequest[],
  handler: Handler,
): Promise<void> {
  let text = '';
  try {
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
  } catch {
    // Ignore a request that was cut short, since nobody awaits its response.
    return;
  }
  const request: RecordedRequest = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: bodyOf(text),
  };
  requests.push(request);
  const reply = await handler(request);
  if (reply === 'hangUp') {
    incoming.socket.destroy();
    return;
  }
  const raw = typeof reply.body === 'string';
  outgoing.statusCode = reply.status;
  outgoing.setHeaders(
    new Map(
      Object.entries({ 'content-type': raw ? 'text/plain' : 'application/json', ...reply.headers }),
    ),
  );
  outgoing.end(raw ? reply.body : JSON.stringify(reply.body));
}

function bodyOf(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Forwards each request to another server, so that a test sees what the sandbox receives. */
export function forwardTo(url: string): Handler {
  // Doesn't use `fetch`, which takes several times the CPU.
  const pool = new Pool(url);
  return async ({ method, path, headers, body }) => {
    const { host: _host, connection: _connection, 'content-length': _length, ...rest } = headers;
    const response = await pool.request({
      method: method as Dispatcher.HttpMethod,
      path,
      headers: rest,
      body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
    });
    return {
      status: response.statusCode,
      headers: {
        'content-type': String(response.headers['content-type'] ?? ''),
        date: String(response.headers.date ?? ''),
      },
      body: await response.body.text(),
    };
  };
}
