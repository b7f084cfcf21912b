import { expect, test } from 'vitest';
import {
  apiFor,
  closedPort,
  cut,
  data,
  failureOf,
  KEY,
  type Step,
  scripted,
  status,
} from './harness.ts';

test('returns any response to a raw request unchanged', async () => {
  const server = await scripted(status(418, { 'x-request-id': '7' }));
  const api = apiFor(`${server.url}/v1`);
  const answer = await api.call({
    method: 'POST',
    path: '/teapots?hot=1',
    query: { 'a b': 'c&d' },
    body: '{"n":12345678901234567890}',
    headers: { 'X-Trace': 'yes', 'X-Te': '1', Hostname: 'h' },
  });
  expect(answer).toMatchObject({ status: 418, headers: { 'x-request-id': '7' } });
  expect(answer.text).toContain('said 418');
  expect(server.seen[0]).toMatchObject({
    method: 'POST',
    url: '/v1/teapots?hot=1&a%20b=c%26d',
    body: '{"n":12345678901234567890}',
    headers: {
      'x-trace': 'yes',
      'x-te': '1',
      hostname: 'h',
      'x-api-key': KEY,
      'content-type': 'application/json',
    },
  });
});

test('retries only methods that are safe to repeat', async () => {
  const reads = await scripted(cut, status(503), data(1));
  expect((await apiFor(reads.url).call({ method: 'GET', path: '/x' })).status).toBe(200);
  const posts = await scripted(cut, data(1));
  const error = await failureOf(apiFor(posts.url).call({ method: 'POST', path: '/x' }));
  expect(error).toMatchObject({ failure: 'outcomeUnknown', mayBeBilling: true });
  expect(posts.seen).toHaveLength(1);
  const failing = await scripted(status(500));
  expect((await apiFor(failing.url).call({ method: 'POST', path: '/x' })).status).toBe(500);
});

test.each([
  ['PATCH', 2],
  ['DELETE', 2],
  ['PUT', 1],
])('tries a failing %s request %i times', async (method, sent) => {
  const server = await scripted(status(503), data(1));
  await apiFor(server.url).call({ method, path: '/x' });
  expect(server.seen).toHaveLength(sent);
});

const REDIRECT = status(303, { location: 'http://192.0.2.1/' });

test.each<[method: string, path: string, steps: Step[], exit: number | undefined, bills: boolean]>([
  ['GET', '/x', [status(301)], 10, false],
  ['GET', '/x', [status(400)], 1, false],
  ['POST', '/x', [status(400)], 1, false],
  ['GET', '/x', [status(401)], 4, false],
  ['GET', '/x', [status(403)], 4, false],
  ['POST', '/x', [status(402)], 5, false],
  ['GET', '/x', [status(404)], 3, false],
  ['POST', '/x', [status(409)], 5, false],
  ['POST', '/x', [status(422)], 1, false],
  ['POST', '/x', [status(429)], 11, false],
  ['GET', '/x', Array(3).fill(status(500)), 1, false],
  ['POST', '/x', [status(500)], 7, true],
  ['DELETE', '/x', Array(3).fill(status(500)), 7, false],
  // The API document assigns this 400 to a wrong state.
  ['POST', '/instances/i1/stop', [status(400)], 5, false],
  ['POST', '/storage/drives', [REDIRECT], 7, true],
  // A lost response may have changed something.
  ['PATCH', '/x', [cut, status(401)], 7, false],
  ['DELETE', '/ssh-keys/k1', [cut, status(404)], undefined, false],
  ['HEAD', '/x', [cut, status(500), status(500)], 1, false],
])('maps the response to %s %s to its exit code (%#)', async (method, path, steps, exit, bills) => {
  const server = await scripted(...steps);
  const { failure } = await apiFor(server.url).call({ method, path });
  expect([failure?.exitCode, failure?.mayBeBilling ?? false]).toEqual([exit, bills]);
});

test('returns a redirect without following it', async () => {
  const server = await scripted(status(302, { location: 'http://192.0.2.1/' }));
  const answer = await apiFor(server.url).call({ method: 'GET', path: '/x' });
  expect([answer.status, answer.headers.location]).toEqual([302, 'http://192.0.2.1/']);
});

const partial: Step = (_request, response) => {
  response.writeHead(200, { 'content-length': 9 });
  response.write('half', () => response.destroy());
};

test.each<[string, ...Step[]]>([
  ['GET', partial, partial, partial],
  ['POST', partial],
  ['GET', status(429, { 'retry-after': '21' })],
  ['POST'],
])('fails without a whole response to %s (%#)', async (method, ...steps) => {
  const url = steps.length === 0 ? await closedPort() : (await scripted(...steps)).url;
  const error = await failureOf(apiFor(url).call({ method, path: '/x' }));
  expect([error.failure, error.message]).toMatchSnapshot();
});

test('joins the values of a repeated header', async () => {
  const server = await scripted((_request, response) => {
    response.writeHead(200, { 'x-a': ['1', '2'], 'content-encoding': 'identity' });
    response.end(Buffer.from([0xc3, 0xa9, 0xff]));
  });
  const { headers, text, cut } = await apiFor(server.url).call({ method: 'GET', path: '/x' });
  expect([headers['x-a'], text, cut]).toEqual(['1, 2', 'é\ufffd', undefined]);
});

test.each([
  '',
  'x',
  'users/me',
  '//evil.example/x',
  '/../x',
  '/a/../../x',
  '/%2e%2e/x',
  '/a/%2E%2e/%2e./x',
  '/a\\..\\x',
  '/a b',
  '/я',
  '/x#y',
  '@evil.example/',
  ':80/x',
  '.evil.example/x',
  '/a\r\nx-a: b',
])('rejects the path %j, which could leave the base URL', async (path) => {
  const api = apiFor(`${await closedPort()}/v1`);
  expect((await failureOf(api.call({ method: 'GET', path }))).failure).toBe('usage');
});

test.each([
  ...['X-Api-Key', 'host', 'Content-Length', 'transfer-encoding', 'Proxy-Connection'].map(
    (name) => ['GET', { [name]: '1' }] as const,
  ),
  ...['a b', 'x:y'].map((name) => ['GET', { [name]: '1' }] as const),
  ...['CONNECT', 'TRACE', 'get', ''].map((method) => [method, {}] as const),
  ...['a\r\nx-b: c', 'a\u0000', 'é'].map((value) => ['GET', { 'x-trace': value }] as const),
])('rejects a %j with the headers %j', async (method, headers) => {
  const api = apiFor(await closedPort());
  const { failure, message } = await failureOf(api.call({ method, path: '/x', headers }));
  expect([failure, message]).toMatchSnapshot();
});
