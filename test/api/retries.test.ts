import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Api } from '../../src/api/index.ts';
import { hintOf } from '../../src/command-line/hints.ts';
import { listenOn } from '../support/ports.ts';
import {
  apiFor,
  CREATE,
  closedPort,
  cut,
  data,
  failureOf,
  fakeClock,
  ID,
  instance,
  json,
  type Step,
  scripted,
  status,
} from './harness.ts';

async function run(steps: Step[], timeoutMs = 20_000) {
  const server = await scripted(...steps);
  const clock = fakeClock();
  return { server, clock, api: apiFor(server.url, { clock, timeoutMs }) };
}

const DRIVE = { id: 'drive-1', name: 'data', status: 'AVAILABLE' };
const USER = { id: 'user-1' };

describe('GET, PATCH, DELETE', () => {
  test.each([408, 429, 500, 502, 503, 504])('retries a read after status %i', async (code) => {
    const { api, server, clock } = await run([status(code), status(code), data(USER)]);
    await expect(api.users.me()).resolves.toEqual(USER);
    expect(server.calls()).toHaveLength(3);
    // Full jitter up to 0.5 s and 1 s, with 0.5 as the random number.
    expect(clock.sleeps).toEqual([250, 500]);
  });

  test.each([400, 401, 404, 409, 422, 501, 302])(
    'does not retry a read after status %i',
    async (code) => {
      const { api, server } = await run([status(code), data(USER)]);
      await failureOf(api.users.me());
      expect(server.calls()).toHaveLength(1);
    },
  );

  test('stops after three tries, and reports a retryable refusal', async () => {
    const { api, server } = await run([status(503), status(503), status(503), data(USER)]);
    const error = await failureOf(api.users.me());
    expect(error).toMatchObject({
      failure: 'refused',
      code: 'unavailable',
      retryable: true,
      httpStatus: 503,
    });
    expect(server.calls()).toHaveLength(3);
  });

  test('reports unreachable if a read gets no response', async () => {
    const { api } = await run([cut, cut, cut]);
    const error = await failureOf(api.users.me());
    expect(error).toMatchObject({ failure: 'unreachable', retryable: true });
    expect(error.message).toContain('No changes made');
  });

  test('retries a PATCH after a cut connection and a 500', async () => {
    const { api, server } = await run([cut, status(500), data(DRIVE)]);
    await api.drives.update('drive-1', { name: 'data', size_gb: 1 });
    expect(server.calls()).toEqual(Array(3).fill('PATCH /storage/drives/drive-1'));
  });

  test.each([
    ['a cut connection', cut],
    ['500', status(500)],
    ['408', status(408)],
  ])('reports an unknown outcome if each try of a PATCH ends with %s', async (_what, step) => {
    const { api } = await run([step, step, step]);
    const error = await failureOf(api.users.update({ name: 'Ann' }));
    expect(error).toMatchObject({
      failure: 'outcomeUnknown',
      retryable: true,
      mayBeBilling: false,
    });
  });

  test.each([[[cut]], [[status(503), status(429)]]])(
    'treats a 404 as success if an earlier DELETE may have taken effect',
    async (before) => {
      const { api, server } = await run([...before, status(404)]);
      await api.sshKeys.delete('key-1');
      const calls = [...before, 'last'].map(() => 'DELETE /ssh-keys/key-1');
      expect(server.calls()).toEqual(calls);
    },
  );

  test('treats a 404 after a 429 as an error, since the 429 deleted nothing', async () => {
    const { api } = await run([status(429), status(404)]);
    expect((await failureOf(api.sshKeys.delete('key-1'))).failure).toBe('notFound');
  });

  test('treats a 404 to the first try as an error', async () => {
    const { api } = await run([
      json(404, { statusCode: 404, code: 'NOT_FOUND', message: 'no key' }),
    ]);
    const error = await failureOf(api.sshKeys.delete('key-1'));
    expect(error.message).toBe('SSH key key-1 not found (404): no key.');
  });
});

describe('an error after all tries', () => {
  const page503: Step = (_request, response) => {
    response.writeHead(503, { 'content-type': 'text/html', 'retry-after': '7' });
    response.end('<!doctype html><html><body>Back soon</body></html>');
  };

  test.each([
    ['503', status(503, { 'retry-after': '7' })],
    ['503 with a page', page503],
    ['429', status(429, { 'retry-after': '7' })],
  ])('includes the Retry-After of a %s in the error after all tries', async (_what, step) => {
    const { api } = await run([step, step, step]);
    expect((await failureOf(api.users.me())).retryAfterMs).toBe(7_000);
  });
});

const NEVER: [string, boolean, (api: Api) => Promise<unknown>, unknown][] = [
  ['create', true, (api) => api.instances.create(CREATE), instance('PROVISIONING')],
  [
    'reorder',
    true,
    (api) => api.instances.reorder(ID, { new_name: 'two' }),
    instance('PROVISIONING'),
  ],
  ['drive create', true, (api) => api.drives.create({ name: 'd', size_gb: 1 }), DRIVE],
  ['api-key', false, (api) => api.apiKeys.create({ name: 'ci' }), { id: 'k' }],
  ['promo', false, (api) => api.billing.activatePromo({ code: 'A' }), { added_amount: '1' }],
  [
    'password',
    false,
    (api) => api.users.setPassword({ current_password: 'aaaaaa', new_password: 'bbbbbb' }),
    USER,
  ],
];

describe.each(NEVER)('%s', (_name, bills, send, answer) => {
  test.each([
    ['a cut connection', cut],
    ['408', status(408)],
    ['500', status(500)],
    ['502', status(502)],
    ['503 with Retry-After', status(503, { 'retry-after': '1' })],
    ['a redirect', status(307, { location: 'https://elsewhere.example/' })],
    ['200 without data', json(200, { status: 'success' })],
    ['an HTML page', html],
    ['an empty 201', empty],
  ])('never resends after %s, and reports an unknown outcome', async (_what, step) => {
    const { api, server } = await run([step, data(answer, 201)]);
    const error = await failureOf(send(api));
    expect(error).toMatchObject({
      failure: 'outcomeUnknown',
      retryable: false,
      mayBeBilling: bills,
      exitCode: 7,
    });
    expect(hintOf(error)).toMatch(/gpucloud/);
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    [400, 1],
    [401, 4],
    [402, 5],
    [403, 4],
    [404, 3],
    [409, 5],
    [422, 1],
    [429, 11],
  ])('reports %i as a refusal with exit %i', async (code, exit) => {
    const { api, server } = await run([status(code), data(answer, 201)]);
    const error = await failureOf(send(api));
    expect(error.exitCode).toBe(_name === 'reorder' && code === 400 ? 5 : exit);
    expect(error.mayBeBilling).toBe(false);
    expect(server.seen).toHaveLength(1);
  });

  test('retries a refused connection, then reports unreachable', async () => {
    const clock = fakeClock();
    let sending = 0;
    const api = apiFor(await closedPort(), { clock });
    const error = await failureOf(send(api));
    expect(error).toMatchObject({ failure: 'unreachable', mayBeBilling: false });
    expect(clock.sleeps).toEqual([250, 500]);
    await failureOf(
      api.instances.create(CREATE, {
        onSending: () => {
          sending += 1;
        },
      }),
    );
    expect(sending).toBe(0);
  });
});

function html(_request: unknown, response: Parameters<Step>[1]): void {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<html><body>Welcome to the hotel</body></html>');
}

function empty(_request: unknown, response: Parameters<Step>[1]): void {
  response.writeHead(201);
  response.end();
}

test('retries a refused connection, then sends a POST once', async () => {
  const address = await closedPort();
  const clock = fakeClock();
  const bodies: string[] = [];
  const late = createServer((request, response) => {
    request.on('data', (bytes) => bodies.push(String(bytes)));
    response.end(JSON.stringify({ data: instance('PROVISIONING') }));
  });
  onTestFinished(() => {
    late.closeAllConnections();
    late.close();
  });
  // Starts the service during the first pause.
  clock.sleep = (milliseconds) => {
    clock.sleeps.push(milliseconds);
    const { port } = new URL(address);
    return listenOn(late, Number(port));
  };
  let sending = 0;
  const created = await apiFor(address, { clock }).instances.create(CREATE, {
    onSending: () => {
      sending += 1;
    },
  });
  expect(created.id).toBe(ID);
  expect([sending, bodies, clock.sleeps]).toEqual([1, [JSON.stringify(CREATE)], [250]]);
});

const REPEATABLE: [string, boolean, (api: Api) => Promise<unknown>][] = [
  ['stop', true, (api) => api.instances.stop(ID)],
  ['terminate', true, (api) => api.instances.terminate(ID)],
  ['drive resume', true, (api) => api.drives.resume(ID)],
  ['ssh-keys add', false, (api) => api.sshKeys.add({ name: 'a', public_key: 'ssh-rsa AAAA' })],
];

describe.each(REPEATABLE)('%s', (_name, bills, send) => {
  test.each([
    ['a cut connection', cut, undefined],
    ['408', status(408), 408],
    ['500', status(500), 500],
    ['504', status(504), 504],
  ])('reports a repeatable doubt after %s, without a second request', async (_what, step, http) => {
    const { api, server } = await run([step]);
    expect(await failureOf(send(api))).toMatchObject({
      failure: 'outcomeUnknown',
      retryable: true,
      mayBeBilling: bills,
      httpStatus: http,
    });
    expect(server.seen).toHaveLength(1);
  });

  test('includes the Retry-After and the refusal of a 503 in the doubt', async () => {
    const { api } = await run([status(503, { 'retry-after': '7' })]);
    expect(await failureOf(send(api))).toMatchObject({
      failure: 'outcomeUnknown',
      retryAfterMs: 7_000,
      cause: { failure: 'refused', code: 'unavailable', httpStatus: 503 },
    });
  });

  test('reports a 429 without a second request', async () => {
    const { api, server } = await run([status(429, { 'retry-after': '7' })]);
    expect(await failureOf(send(api))).toMatchObject({
      failure: 'rateLimited',
      retryAfterMs: 7_000,
    });
    expect(server.seen).toHaveLength(1);
  });
});
