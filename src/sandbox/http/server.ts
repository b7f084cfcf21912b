import { createServer, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { CliError } from '../../errors.ts';
import { notFound, Refusal, refusalBody } from '../refusal.ts';
import type { Answer, Call, Operation } from './operations.ts';

/** A served request's outcome, for a log. */
export interface RequestEntry {
  method: string;
  path: string;
  status: number;
  milliseconds: number;
}

export interface Serving {
  operations: readonly Operation[];
  /** Authenticates, runs due events, then runs one operation on the state. Throws a Refusal. */
  run(
    apiKey: string | undefined,
    answer: (call: Pick<Call, 'state' | 'now'>) => Answer,
  ): Promise<Answer>;
  /** The page behind a port of an instance; undefined if there is none. */
  page(id: string, port: number): Promise<string | undefined>;
  now(): number;
  onRequest: ((entry: RequestEntry) => void) | undefined;
}

export interface Server {
  /** The server's base URL, such as `http://127.0.0.1:4242`, without a trailing slash. */
  url: string;
  /** Finishes requests in progress, then frees the port. */
  close(): Promise<void>;
}

const LARGEST_BODY = 1024 * 1024;

/** Serves the documented operations on loopback. Throws a CliError if the port is in use. */
export async function serveHttp(serving: Serving, port: number): Promise<Server> {
  const app = buildApp(serving);
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const working = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    working.add(response);
    response.once('close', () => working.delete(response));
    void listener(request, response);
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(portError(port, error)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([...working].map(ended));
      // Kept-alive connections would delay the exit by seconds.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Resolves once the response is written or the client has disconnected. */
function ended(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('finish', resolve);
    response.once('close', resolve);
  });
}

function buildApp(serving: Serving): Hono {
  const app = new Hono();
  // The difference between the sandbox's clock and this computer's at the last response, since responses
  // show virtual times.
  let ahead = 0;
  app.use(async (context, next) => {
    const started = serving.now();
    await next();
    context.res.headers.set('date', new Date(serving.now() + ahead).toUTCString());
    serving.onRequest?.({
      method: context.req.method,
      path: context.req.path,
      status: context.res.status,
      milliseconds: serving.now() - started,
    });
  });
  for (const operation of serving.operations) {
    app.on(operation.method, operation.path.replace('{id}', ':id'), async (context) => {
      const body = {
        text: await bodyText(context.req.raw.body),
        isJson: /^application\/json\s*(;|$)/i.test(context.req.header('content-type') ?? ''),
      };
      const id = context.req.param('id') ?? '';
      const answer = await serving.run(context.req.header('x-api-key'), (call) => {
        ahead = call.now - serving.now();
        return operation.answer({ ...call, id, body, query: (name) => context.req.query(name) });
      });
      return succeeded(answer);
    });
  }

  // A browser sends no key, but the ID in the link is as hard to guess.
  app.get('/pages/:id/:port{[0-9]+}/*', async ({ req }) => {
    const page = await serving.page(req.param('id'), Number(req.param('port')));
    const headers = { 'content-type': 'text/html; charset=utf-8' };
    return new Response(page ?? 'Nothing responds here.\n', {
      status: page === undefined ? 404 : 200,
      headers,
    });
  });

  // Checks the key first for unknown paths too, so that a stranger can't find out which paths
  // exist.
  app.all('*', async ({ req }) =>
    succeeded(
      await serving.run(req.header('x-api-key'), () => {
        throw notFound(`Cannot ${req.method} ${req.path}`);
      }),
    ),
  );
  app.onError(failed);
  return app;
}

/** Reads a whole body up to the limit, with or without a Content-Length. */
async function bodyText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const piece = await reader?.read();
    if (piece?.value === undefined) return Buffer.concat(chunks).toString('utf8');
    size += piece.value.byteLength;
    if (size > LARGEST_BODY) throw new Refusal(413, 'The body is larger than 1 MiB');
    chunks.push(piece.value);
  }
}

/** Returns a success envelope (API document: Conventions). */
function succeeded({ code, data, meta }: Answer): Response {
  return json(code, { status: 'success', code, data, meta });
}

function failed(error: unknown): Response {
  // Sends only messages written for users.
  const words = error instanceof CliError ? error.message : 'The sandbox failed';
  const refusal = error instanceof Refusal ? error : new Refusal(500, words);
  return json(refusal.status, refusalBody(refusal));
}

function json(status: number, body: Record<string, unknown>): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
  });
}

function portError(port: number, error: Error): CliError {
  const message = `the sandbox can't listen: port ${port} is in use or needs root`;
  return new CliError('usage', message, {
    hint: 'use --port 0 to pick a free port',
    cause: error,
  });
}
