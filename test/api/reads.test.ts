import { expect, onTestFinished, test } from 'vitest';
import { openTransport } from '../../src/api/http/open.ts';
import { CliError } from '../../src/errors.ts';
import { type Fetch, runtimeFetch } from '../../src/platform/fetch.ts';
import { envelope } from '../support/service.ts';
import {
  apiFor,
  CREATE,
  cut,
  data,
  failureOf,
  instance,
  KEY,
  rawServer,
  scripted,
  status,
} from './harness.ts';

// The executable reads by the client of its runtime. Here, Node's own client takes its place.

const USER = { id: 'user-1' };

/** Counts the reads; the requests that undici sends are not among them. */
function counted(): { fetch: Fetch; urls: string[] } {
  const real = runtimeFetch({});
  if (real === undefined) throw new Error('there is no fetch');
  const urls: string[] = [];
  return {
    urls,
    fetch: (url, request) => {
      urls.push(url);
      return real(url, request);
    },
  };
}

test('reads with fetch, and sends through undici what may change something', async () => {
  const server = await scripted(data(USER), data(instance('PROVISIONING'), 201), data(USER));
  const { fetch, urls } = counted();
  const api = apiFor(server.url, { fetch });
  expect((await api.users.me()).id).toBe('user-1');
  await api.instances.create(CREATE);
  await api.users.update({ name: 'Ann' });
  expect(server.calls()).toEqual(['GET /users/me', 'POST /instances', 'PATCH /users/me']);
  expect(urls).toEqual([`${server.url}/users/me`]);
  expect(server.seen[0]?.headers).toMatchObject({
    'x-api-key': KEY,
    'user-agent': 'gpucloud/test',
    'accept-encoding': 'identity',
  });
});

test('tries a failed read again through undici, and stays with it', async () => {
  const server = await scripted(cut, data(USER), data(USER));
  const { fetch, urls } = counted();
  const api = apiFor(server.url, { fetch });
  expect((await api.users.me()).id).toBe('user-1');
  expect((await api.users.me()).id).toBe('user-1');
  expect(server.calls()).toHaveLength(3);
  expect(urls).toHaveLength(1);
});

test('tries three times in all, and reports what undici knows', async () => {
  const server = await scripted(cut, cut, cut, data(USER));
  const error = await failureOf(apiFor(server.url, counted()).users.me());
  expect(error).toMatchObject({ failure: 'unreachable' });
  expect(error.message).toContain('the connection was closed');
  expect(server.calls()).toHaveLength(3);
});

test.each([
  ['a length', 'Content-Length: 900'],
  ['chunks', 'Transfer-Encoding: chunked'],
])('never takes a body with %s for whole if it is cut off', async (_what, header) => {
  const body = JSON.stringify(envelope(USER));
  const text = header.startsWith('T') ? `${body.length.toString(16)}\r\n${body}\r\n` : body;
  const server = await rawServer((socket) => {
    socket.end(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n${text}`);
  });
  const { fetch, urls } = counted();
  const error = await failureOf(apiFor(server.url, { fetch }).users.me());
  expect(error.failure).toBe('notUnderstood');
  expect(error.message).toContain('cut off');
  expect(urls).toHaveLength(1);
});

test('gives up a body beyond 16 MiB', async () => {
  const server = await scripted((_request, response) => {
    response.end(Buffer.alloc(17 * 1024 * 1024, 0x20));
  }, data(USER));
  expect((await apiFor(server.url, counted()).users.me()).id).toBe('user-1');
  expect(server.calls()).toHaveLength(2);
});

test('never sends the key after a redirect', async () => {
  const other = await scripted(data({ id: 'thief' }));
  const server = await scripted(status(302, { location: `${other.url}/users/me` }));
  const error = await failureOf(apiFor(server.url, counted()).users.me());
  expect(error).toMatchObject({ failure: 'notUnderstood', httpStatus: 302 });
  expect(other.seen).toEqual([]);
  expect(server.seen).toHaveLength(1);
});

test('ends a read in flight when it is interrupted, and sends nothing more', async () => {
  const interrupt = new CliError('interrupted', 'Interrupted.');
  const controller = new AbortController();
  let requests = 0;
  const server = await rawServer(() => {
    requests += 1;
    controller.abort(interrupt);
  });
  const api = apiFor(server.url, { ...counted(), signal: controller.signal });
  await expect(api.users.me()).rejects.toBe(interrupt);
  expect(requests).toBe(1);
});

test('ends a read in flight when it closes, and sends nothing more', async () => {
  let requests = 0;
  const server = await rawServer(() => {
    requests += 1;
    void api.close();
  });
  const api = apiFor(server.url, counted());
  expect((await failureOf(api.users.me())).failure).toBe('unreachable');
  expect(requests).toBe(1);
});

test('passes on what a listener throws before a read leaves', async () => {
  const server = await scripted(data(USER));
  const transport = openTransport(new URL(server.url), { env: {}, ...counted() });
  onTestFinished(() => transport.close());
  const refusal = new Error('not to be sent');
  const wire = { method: 'GET', path: '/users/me', headers: {} };
  const sending = () => {
    throw refusal;
  };
  await expect(transport.exchange(wire, new AbortController().signal, sending)).rejects.toBe(
    refusal,
  );
  expect(server.seen).toEqual([]);
});

test.each(['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY', 'no_proxy'])(
  'leaves everything to undici if %s is set',
  (name) => {
    expect(runtimeFetch({ [name]: 'proxy.example' })).toBeUndefined();
    expect(runtimeFetch({ PATH: '/bin' })).toBeDefined();
  },
);
