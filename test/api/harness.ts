import { setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createSocketServer,
  type Server,
  type Socket,
} from 'node:net';
import { onTestFinished } from 'vitest';
import { type Api, type ApiSettings, createApi } from '../../src/api/index.ts';
import { CliError, codeOf } from '../../src/errors.ts';
import type { Clock } from '../../src/system/clock.ts';
import { freePort } from '../support/ports.ts';
import { envelope } from '../support/service.ts';

// As in main.ts, many requests listen to one signal. many.test.ts checks that they remove their
// listeners.
setMaxListeners(0);

export const KEY = 'svc_sk_test_canary0123456789';
export const ID = '3f0c5c1e-8a51-4e0b-9c39-1f6f6a2b7d10';
export const CREATE = { offer_id: 'offer-1', image_id: 'image-1', instance_name: 'box' };

export interface FakeClock extends Clock {
  readonly sleeps: number[];
  /** Called at each sleep, before the sleep returns. */
  onSleep?: () => void;
}

/**
 * Creates a clock whose sleeps return at once, are recorded and advance the time. Its random number
 * is always 0.5.
 */
export function fakeClock(): FakeClock {
  let time = Date.UTC(2026, 0, 15, 10, 0, 0);
  const clock: FakeClock = {
    sleeps: [],
    now: () => time,
    monotonic: () => time,
    random: () => 0.5,
    async sleep(milliseconds, signal) {
      clock.sleeps.push(milliseconds);
      time += milliseconds;
      clock.onSleep?.();
      signal?.throwIfAborted();
    },
  };
  return clock;
}

export function apiFor(baseUrl: string, settings: Partial<ApiSettings> = {}): Api {
  const api = createApi({
    baseUrl,
    apiKey: KEY,
    timeoutMs: 20_000,
    clock: fakeClock(),
    signal: new AbortController().signal,
    env: {},
    userAgent: 'gpucloud/test',
    ...settings,
  });
  onTestFinished(() => api.close());
  return api;
}

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Step = (request: Seen, response: ServerResponse) => void;

export interface Scripted {
  url: string;
  seen: Seen[];
  /** Returns `METHOD /path` of each request, in order. */
  calls(): string[];
}

/** Starts a server that sends the scripted responses in order, and 599 to each further request. */
export async function scripted(...steps: Step[]): Promise<Scripted> {
  const seen: Seen[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => undefined);
    incoming.on('end', () => {
      const request = {
        method: incoming.method ?? '',
        url: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString(),
      };
      const step = steps[seen.push(request) - 1] ?? status(599);
      step(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: urlOf(server), seen, calls: () => seen.map((one) => `${one.method} ${one.url}`) };
}

/** Starts a TCP server. `onRequest` gets the socket and the first bytes of each request. */
export async function rawServer(
  onRequest: (socket: Socket, text: string) => void,
): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => onRequest(socket, bytes.toString('latin1')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: urlOf(server), connections: () => connections };
}

export function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns a loopback address without a listener. */
export async function closedPort(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

export function json(code: number, body: unknown, headers: Record<string, string> = {}): Step {
  return (_request, response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function data(value: unknown, code = 200): Step {
  return json(code, envelope(value, code));
}

export function status(code: number, headers: Record<string, string> = {}): Step {
  return json(code, { statusCode: code, message: `said ${code}`, error: 'Reason' }, headers);
}

/** Reads the whole request, then closes the connection without a response. */
export const cut: Step = (_request, response) => {
  response.destroy();
};

/** Returns the error of a call, and fails the test if it succeeds. */
export async function failureOf(promise: Promise<unknown>): Promise<CliError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('the call succeeded');
}

/** Returns all details of an error in one line, and those of its causes. */
export function wholeOf(error: unknown): string {
  if (!(error instanceof CliError)) return String(error);
  const { failure, code, message, hint, request, resource, httpStatus, retryAfterMs } = error;
  const { retryable, mayBeBilling, cause } = error;
  const parts = [
    `${code === codeOf(failure) ? failure : `${failure} (${code})`}: ${message}`,
    hint && `hint ${hint}`,
    request && JSON.stringify(request),
    resource && `resource ${resource}`,
    httpStatus,
    retryable && 'retryable',
    retryAfterMs !== undefined && `after ${retryAfterMs} ms`,
    mayBeBilling && 'may be billing',
    cause !== undefined && `caused by [${wholeOf(cause)}]`,
  ];
  const all = parts.filter((part) => part !== undefined && part !== false).join(' | ');
  return all.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');
}

/** Sends this response, then stops the server: the next connection is refused. */
export function last(step: Step): Step {
  return (request, response) => {
    const { server } = (response.socket ?? {}) as { server?: Server };
    server?.close();
    response.setHeader('connection', 'close');
    step(request, response);
  };
}

export const instance = (state: string) => ({ id: ID, name: 'box', status: state });
