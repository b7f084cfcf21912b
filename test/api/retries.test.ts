import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Api, CallOptions } from '../../src/api/index.ts';
import { hintOf } from '../../src/cli/hints.ts';
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
  last,
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

  test('retries a read after cut connections', async () => {
    const { api } = await run([cut, cut, data(USER)]);
    await expect(api.users.me()).resolves.toEqual(USER);
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

  test('tries a refused connection three times, then reports unreachable', async () => {
    const clock = fakeClock();
    const api = apiFor(await closedPort(), { clock });
    const error = await failureOf(api.users.update({ name: 'Ann' }));
    expect(error.failure).toBe('unreachable');
    expect(error.message).toContain('connection refused');
    expect(clock.sleeps).toEqual([250, 500]);
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

type Send = (api: Api, options?: CallOptions) => Promise<unknown>;
const CHECKED: [string, string, string[], string, Send, string][] = [
  [
    'terminate',
    'ACTIVE',
    ['TERMINATING', 'TERMINATED'],
    `/instances/${ID}`,
    (api, options) => api.instances.terminate(ID, options),
    'terminate',
  ],
  [
    'stop',
    'ACTIVE',
    ['STOPPING', 'STOPPED'],
    `/instances/${ID}`,
    (api, options) => api.instances.stop(ID, options),
    'stop',
  ],
  [
    'drive resume',
    'SUSPENDED',
    ['AVAILABLE', 'IN_USE'],
    `/storage/drives/${ID}`,
    (api, options) => api.drives.resume(ID, options),
    'resume',
  ],
];

test('does not count a drive without a status as resumed', async () => {
  const { api, server } = await run([cut, data({ id: ID }), data(instance('AVAILABLE'))]);
  await expect(api.drives.resume(ID)).resolves.toMatchObject({ status: 'AVAILABLE' });
  expect(server.calls()).toHaveLength(3);
});

describe.each(CHECKED)('%s', (_name, unwanted, wanted, path, send, verb) => {
  const POST = `POST ${path}/${verb}`;
  const GET = `GET ${path}`;

  describe.each([
    ['a cut connection', cut],
    ['408', status(408)],
    ['500', status(500)],
    ['504', status(504)],
  ])('after %s', (_what, doubt) => {
    test.each(wanted)('reads the status first, and treats %s as success', async (state) => {
      const { api, server } = await run([doubt, data(instance(state))]);
      await expect(send(api)).resolves.toMatchObject({ status: state });
      expect(server.calls()).toEqual([POST, GET]);
    });

    test('resends a change once if the status is unchanged', async () => {
      const { api, server, clock } = await run([
        doubt,
        data(instance(unwanted)),
        data(instance('DONE')),
      ]);
      await expect(send(api)).resolves.toMatchObject({ status: 'DONE' });
      expect(server.calls()).toEqual([POST, GET, POST]);
      expect(clock.sleeps).toEqual([250]);
    });

    test("reports an unknown outcome if the status can't be read", async () => {
      const { api, server } = await run([doubt, cut, cut, cut]);
      const error = await failureOf(send(api));
      expect(error).toMatchObject({
        failure: 'outcomeUnknown',
        retryable: true,
        mayBeBilling: true,
      });
      expect(server.calls()).toEqual([POST, GET, GET, GET]);
    });
  });

  test('reports a refusal and the last status after two 500s', async () => {
    const { api, server } = await run([
      status(500),
      data(instance(unwanted)),
      status(500),
      data(instance(unwanted)),
    ]);
    const error = await failureOf(send(api));
    expect(error).toMatchObject({ failure: 'refused', retryable: true, mayBeBilling: true });
    expect(error.message).toContain(`its status is ${unwanted}`);
    expect(server.calls()).toEqual([POST, GET, POST, GET]);
  });

  test('reports an unknown outcome and the last status after two lost responses', async () => {
    const { api } = await run([cut, data(instance(unwanted)), cut, data(instance(unwanted))]);
    const error = await failureOf(send(api));
    expect(error).toMatchObject({ failure: 'outcomeUnknown', retryable: true });
    expect(error.message).toContain(`its status is ${unwanted}`);
  });

  test('treats a 400 to the second request as success if the status shows the effect', async () => {
    const late = wanted[0] ?? '';
    const { api } = await run([cut, data(instance(unwanted)), status(400), data(instance(late))]);
    await expect(send(api)).resolves.toMatchObject({ status: late });
  });

  test('reports a 400 to the first request as wrongState', async () => {
    const { api, server } = await run([status(400)]);
    expect((await failureOf(send(api))).failure).toBe('wrongState');
    expect(server.calls()).toEqual([POST]);
  });

  test('reports an unknown outcome after a second 408, even if the status is unchanged', async () => {
    const before = data(instance(unwanted));
    const { api, server } = await run([status(408), before, status(408), before]);
    const error = await failureOf(send(api));
    expect(error).toMatchObject({ failure: 'outcomeUnknown', mayBeBilling: true });
    expect(server.calls()).toEqual([POST, GET, POST, GET]);
  });

  test('resends once after the Retry-After of a 429', async () => {
    const { api, server, clock } = await run([
      status(429, { 'retry-after': '7' }),
      data(instance('DONE')),
    ]);
    await expect(send(api)).resolves.toMatchObject({ status: 'DONE' });
    expect(server.calls()).toEqual([POST, POST]);
    expect(clock.sleeps).toEqual([7000]);
  });

  test.each([
    ['a second 429', ['7', '7'], 2],
    ['a Retry-After past the deadline', ['600'], 1],
  ])('reports a change refused with %s as rate limited', async (_what, pauses, posts) => {
    const { api, server } = await run(pauses.map((s) => status(429, { 'retry-after': s })));
    expect(await failureOf(send(api))).toMatchObject({ failure: 'rateLimited', httpStatus: 429 });
    expect(server.calls()).toEqual(Array(posts).fill(POST));
  });

  test('reports an unknown outcome if the service becomes unreachable', async () => {
    const { api, server } = await run([cut, last(data(instance(unwanted)))]);
    const error = await failureOf(send(api));
    expect(error).toMatchObject({ failure: 'outcomeUnknown', mayBeBilling: true });
    expect(error.message).not.toContain('No changes made');
    expect(server.calls()).toEqual([POST, GET]);
  });

  test("reports rateLimited if Retry-After exceeds the caller's limit", async () => {
    const { api, server, clock } = await run([status(429, { 'retry-after': '7' })]);
    const error = await failureOf(send(api, { longestPauseMs: 5000 }));
    expect(error).toMatchObject({ failure: 'rateLimited', retryAfterMs: 7000 });
    expect({ calls: server.calls(), sleeps: clock.sleeps }).toEqual({ calls: [POST], sleeps: [] });
  });

  test('does not wait for a Retry-After past the deadline', async () => {
    const { api, server } = await run([
      status(503, { 'retry-after': '600' }),
      data(instance(unwanted)),
    ]);
    const error = await failureOf(send(api));
    expect(error.failure).toBe('rateLimited');
    expect(error.message).toContain('600 s');
    expect(server.calls()).toEqual([POST, GET]);
  });
});

describe('start', () => {
  const POST = `POST /instances/${ID}/start`;
  const GET = `GET /instances/${ID}`;

  test.each([400, 409])(
    'reports HTTP %i as wrongState without reading the instance',
    async (code) => {
      const { api, server } = await run([status(code)]);
      const error = await failureOf(api.instances.start(ID));
      expect(error).toMatchObject({ failure: 'wrongState', httpStatus: code, mayBeBilling: false });
      expect(server.calls()).toEqual([POST]);
    },
  );

  test.each([
    ['STOPPED', false],
    ['ERROR', true],
  ])('reports the documented 500 as refused, with the status %s', async (state, mayBeBilling) => {
    const { api, server } = await run([status(500), data(instance(state))]);
    const error = await failureOf(api.instances.start(ID));
    expect(error).toMatchObject({ failure: 'refused', retryable: true, mayBeBilling });
    expect(error.message).toContain(`Its status is ${state}`);
    expect(server.calls()).toEqual([POST, GET]);
  });

  test.each([
    ['a cut connection', cut],
    ['502', status(502)],
    ['408', status(408)],
  ])('treats STARTING after %s as success', async (_what, doubt) => {
    const { api, server } = await run([doubt, data({ ...instance('STARTING'), paid_until: 'P' })]);
    await expect(api.instances.start(ID)).resolves.toEqual({ status: 'STARTING', paid_until: 'P' });
    expect(server.calls()).toEqual([POST, GET]);
  });

  test('never resends after a lost response, and reports the status', async () => {
    const { api, server } = await run([
      cut,
      data(instance('STOPPED')),
      data({ status: 'STARTING' }),
    ]);
    const error = await failureOf(api.instances.start(ID));
    expect(error).toMatchObject({
      failure: 'outcomeUnknown',
      retryable: false,
      mayBeBilling: true,
    });
    expect(error.message).toContain('its status is STOPPED');
    expect(server.calls()).toEqual([POST, GET]);
  });
});

describe('ssh-keys add', () => {
  const body = { name: 'laptop', public_key: 'ssh-ed25519 AAAAblob me@laptop' };
  const added = { id: 'k1', name: 'laptop', public_key: body.public_key };

  test.each([
    ['a cut connection', cut],
    ['500', status(500)],
  ])('reads the list after %s, and treats the same key as success', async (_what, doubt) => {
    const there = { id: 'k9', public_key: 'ssh-ed25519  AAAAblob other comment' };
    const { api, server } = await run([
      doubt,
      data([{ id: 'k0', public_key: 'ssh-rsa AAAAblob' }, there]),
    ]);
    await expect(api.sshKeys.add(body)).resolves.toEqual(there);
    expect(server.calls()).toEqual(['POST /ssh-keys', 'GET /ssh-keys']);
  });

  test('resends the key once if the list lacks it', async () => {
    const { api, server } = await run([cut, data([]), data(added, 201)]);
    await expect(api.sshKeys.add(body)).resolves.toEqual(added);
    expect(server.calls()).toEqual(['POST /ssh-keys', 'GET /ssh-keys', 'POST /ssh-keys']);
  });

  test("reports an unknown outcome if the list can't be read", async () => {
    const { api } = await run([cut, status(403)]);
    const error = await failureOf(api.sshKeys.add(body));
    expect(error).toMatchObject({ failure: 'outcomeUnknown', mayBeBilling: false });
  });
});
