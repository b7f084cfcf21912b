import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OPERATIONS } from '../../src/sandbox/http/operations.ts';
import { pageOf } from '../../src/sandbox/http/page.ts';
import { serveHttp } from '../../src/sandbox/http/server.ts';
import type { Instance } from '../../src/sandbox/store/state.ts';
import { accountIn } from '../../src/sandbox/store/store.ts';
import { withLock } from '../../src/system/lock.ts';
import { type Bench, bench, DAY, NOBODY, RTX_4090, UBUNTU } from './support.ts';

const ED25519 =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me@box';

/** The documented operations with their success codes, written by hand. */
const DOCUMENTED: readonly [method: string, path: string, code: number, body?: unknown][] = [
  ['POST', '/api-keys', 201, { name: 'ci' }],
  ['GET', '/api-keys', 200],
  [
    'POST',
    '/instances',
    201,
    { offer_id: RTX_4090, image_id: UBUNTU, instance_name: 'new-box', ssh_keys: [] },
  ],
  ['POST', '/instances/{terminated}/reorder', 201, { new_name: 'again' }],
  ['GET', '/instances/{active}', 200],
  ['POST', '/instances/{stopped}/start', 200],
  ['POST', '/instances/{active}/stop', 200],
  ['POST', '/instances/{active}/terminate', 200],
  ['GET', '/instances/{active}/events', 200],
  ['GET', '/templates', 200],
  ['POST', '/storage/drives', 201, { name: 'disk', size_gb: 10 }],
  ['GET', '/storage/drives', 200],
  ['GET', '/storage/drives/{drive}', 200],
  ['PATCH', '/storage/drives/{drive}', 200, { name: 'disk', size_gb: 20 }],
  ['POST', '/storage/drives/{suspended}/resume', 200, {}],
  ['POST', '/ssh-keys', 201, { name: 'mine', public_key: ED25519 }],
  ['GET', '/ssh-keys', 200],
  ['DELETE', '/ssh-keys/{key}', 200],
  ['GET', '/users/me', 200],
  ['PATCH', '/users/me', 200, { name: 'Me' }],
  [
    'POST',
    '/users/me/update-password',
    200,
    { current_password: 'sandbox-password', new_password: 'a new password' },
  ],
  ['POST', '/billing/promo/activate', 200, { code: 'WELCOME500' }],
  ['GET', '/billing/transactions', 200],
];

/** Creates one resource for each placeholder in the paths above. */
async function furnish(b: Bench): Promise<Record<string, string>> {
  const suspended = await b.call('POST', '/storage/drives', { name: 'frozen', size_gb: 10_000 });
  await b.sandbox.advance(3_600_000);
  await b.sandbox.deposit('1000');
  const terminated = await b.createActive('terminated');
  await b.call('POST', `/instances/${terminated}/terminate`);
  const stopped = await b.createActive('stopped');
  await b.call('POST', `/instances/${stopped}/stop`);
  const active = await b.createActive('active');
  const drive = await b.call('POST', '/storage/drives', { name: 'drive', size_gb: 1 });
  const key = await b.call('POST', '/ssh-keys', {
    name: 'old',
    public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl',
  });
  return {
    terminated,
    stopped,
    active,
    drive: String(drive.data.id),
    suspended: String(suspended.data.id),
    key: String(key.data.id),
  };
}

describe('the sandbox service', () => {
  test('implements exactly the 23 documented operations', () => {
    const wanted = DOCUMENTED.map(
      ([method, path]) => `${method} ${path.replace(/\{.*\}/, '{id}')}`,
    );
    expect(OPERATIONS.map(({ method, path }) => `${method} ${path}`)).toEqual(wanted);
    expect(wanted).toHaveLength(23);
  });

  test.each(DOCUMENTED)(
    'responds to %s %s with %i in the envelope',
    async (method, path, code, body) => {
      const b = await bench({ balance: '100' });
      const ids = await furnish(b);
      const real = path.replace(/\{(.*)\}/, (_, what: string) => ids[what] ?? '?');
      const reply = await b.call(method, real, body);
      expect(reply.status).toBe(code);
      expect(reply.body).toMatchObject({ status: 'success', code });
      const paged = real.endsWith('/events') || real.endsWith('/transactions');
      const keys = ['code', 'data', 'meta', 'status'].filter(
        (key) => (key !== 'meta' || paged) && (key !== 'data' || method !== 'DELETE'),
      );
      expect(Object.keys(reply.body).sort()).toEqual(keys);
    },
  );

  test('responds with 401 to a missing or wrong key before any other check', async () => {
    const b = await bench();
    const paths = [...DOCUMENTED.map(([method, path]) => [method, path] as const)];
    for (const [method, path] of [...paths, ['GET', '/nowhere'] as const]) {
      for (const key of ['', 'svc_sk_wrong']) {
        const reply = await b.call(method, path.replace(/\{.*\}/, NOBODY), undefined, key);
        expect(reply.body).toMatchObject({ statusCode: 401, error: 'Unauthorized' });
        expect(reply.status).toBe(401);
      }
    }
    const bare = await fetch(`${b.url}/users/me`);
    expect(bare.status).toBe(401);
    expect((await b.sandbox.status()).counts).toMatchObject({ api_keys: 1, ssh_keys: 0 });
  });

  test('responds with 404 to an unknown path or method', async () => {
    const b = await bench();
    for (const [method, path] of [
      ['GET', '/nowhere'],
      ['GET', '/instances'],
      ['GET', '/billing/balance'],
      ['DELETE', '/users/me'],
      ['POST', `/instances/${NOBODY}/reboot`],
    ] as const) {
      const reply = await b.call(method, path);
      expect(reply.body).toEqual({
        statusCode: 404,
        message: `Cannot ${method} ${path}`,
        error: 'Not Found',
      });
    }
  });
});

describe('a request body', () => {
  const good = { offer_id: RTX_4090, image_id: UBUNTU, instance_name: 'good-box' };
  const container = (docker_config: object) => ({ ...good, docker_config });

  test.each([
    ['an unknown field', { ...good, colour: 'red' }],
    ['a missing field', { offer_id: RTX_4090, image_id: UBUNTU }],
    ['a wrong type', { ...good, offer_id: 1 }],
    ['null for an optional field', { ...good, template_id: null }],
    ['a list of numbers', { ...good, ssh_keys: [1] }],
    ['a short name', { ...good, instance_name: 'ab' }],
    ['a long name', { ...good, instance_name: 'a'.repeat(51) }],
    ['a name that starts with a digit', { ...good, instance_name: '1ab' }],
    ['a name that ends with a hyphen', { ...good, instance_name: 'ab-' }],
    ['an underscore', { ...good, instance_name: 'a_b' }],
    ['Cyrillic', { ...good, instance_name: 'коробка' }],
    ['no container image', container({})],
    ['too little shared memory', container({ image: 'a', shm_size_gb: 0.09 })],
    ['port 0', container({ image: 'a', ports: [{ internal_port: 0 }] })],
    ['port 65536', container({ image: 'a', ports: [{ external_port: 65536 }] })],
    ['port 1.5', container({ image: 'a', ports: [{ internal_port: 1.5 }] })],
    ['a port without a number', container({ image: 'a', ports: [{ name: 'x' }] })],
    [
      'another protocol',
      container({ image: 'a', ports: [{ internal_port: 1, protocol: 'SCTP' }] }),
    ],
    ['an invalid variable name', container({ image: 'a', env: [{ key: '1A', value: '' }] })],
    ['an unknown port field', container({ image: 'a', ports: [{ port: 1 }] })],
    ['a list', [good]],
    ['null', null],
  ])('responds with 400 to a request body with %s', async (_, body) => {
    const b = await bench();
    await b.call('POST', '/instances', body);
    expect((await b.sandbox.status()).instances).toEqual([]);
  });

  test('responds with 400 to a body that is missing, not JSON or of another type', async () => {
    const b = await bench();
    const post = async (body: string | null, type = 'application/json') => {
      const response = await fetch(`${b.url}/ssh-keys`, {
        method: 'POST',
        headers: { 'X-API-KEY': b.apiKey, 'Content-Type': type },
        body,
      });
      return [response.status, ((await response.json()) as { message: string }).message];
    };
    expect(await post('{"name":')).toEqual([400, 'The body is not valid JSON']);
    expect(await post('')).toEqual([400, 'The body is not valid JSON']);
    const good = JSON.stringify({ name: 'k', public_key: ED25519 });
    expect(await post(good, 'x-application/json')).toEqual([
      400,
      'The header Content-Type must be application/json',
    ]);
    expect((await post(good, 'Application/JSON; charset=utf-8'))[0]).toBe(201);
  });

  test('accepts only an empty body or {} for actions, and only {} for resume', async () => {
    const b = await bench();
    const id = await b.createActive('acted');
    for (const body of [{ now: true }, [], {}]) await b.call('POST', `/instances/${id}/stop`, body);
    expect(await b.statusOf(id)).toBe('STOPPING');
    for (const body of [undefined, { now: true }, {}])
      await b.call('POST', `/storage/drives/${NOBODY}/resume`, body);
  });

  test('responds with 413 to a body above 1 MiB, even without a length', async () => {
    const b = await bench();
    const reply = await b.call('POST', '/ssh-keys', { name: 'x'.repeat(1024 * 1024) });
    expect(reply.body).toMatchObject({ statusCode: 413 });
    const whole = new Uint8Array(1024 * 1024).fill(32);
    for (const [more, status] of [
      [0, 400],
      [1, 413],
    ] as const) {
      const pieces = [whole, whole.subarray(0, more)];
      const chunked = await fetch(`${b.url}/ssh-keys`, {
        method: 'POST',
        headers: { 'X-API-KEY': b.apiKey, 'Content-Type': 'application/json' },
        body: new Blob(pieces).stream(),
        duplex: 'half',
      } as RequestInit & { duplex: 'half' });
      expect(chunked.status).toBe(status);
    }
  });
});

describe('templates', () => {
  test('lists active templates by sort_order', async () => {
    const { list } = await (await bench()).call('GET', '/templates');
    expect(list.map((one) => one.slug)).toEqual(['jupyterlab', 'vllm']);
  });
});

describe('the server', () => {
  test('listens on loopback, logs requests and closes despite an idle client', async () => {
    const b = await bench();
    await b.call('GET', '/users/me');
    await b.call('GET', '/nowhere');
    expect(b.log).toEqual([
      { method: 'GET', path: '/users/me', status: 200, milliseconds: 0 },
      { method: 'GET', path: '/nowhere', status: 404, milliseconds: 0 },
    ]);
    const server = await b.sandbox.listen({ port: 0 });
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/);
    expect(server.apiKey).toMatch(/^svc_sk_/);
    const idle = connect(Number(new URL(server.url).port), '127.0.0.1');
    await new Promise((resolve) => idle.once('connect', resolve));
    const gone = new Promise((resolve) => idle.once('close', resolve));
    await server.close();
    await gone;
    await expect(fetch(server.url)).rejects.toThrow();
  });

  test('sends a pending response before it closes', async () => {
    const b = await bench();
    await b.sandbox.status();
    const server = await b.sandbox.listen({ port: 0 });
    let answer: Promise<Response> | undefined;
    let closing: Promise<void> | undefined;
    const arrived = new Promise((resolve) => {
      subscribe('http.server.request.start', resolve);
      onTestFinished(() => void unsubscribe('http.server.request.start', resolve));
    });
    await withLock(b.file, async () => {
      // Holds the state's lock, so that the request waits.
      answer = fetch(`${server.url}/users/me`, { headers: { 'X-API-KEY': server.apiKey } });
      await arrived;
      closing = server.close();
    });
    expect((await answer)?.status).toBe(200);
    await closing;
  });

  test('dates responses of the server by the virtual clock', async () => {
    const b = await bench();
    await b.sandbox.advance(30 * DAY);
    const answer = await fetch(`${b.url}/users/me`, { headers: { 'X-API-KEY': b.apiKey } });
    expect(answer.headers.get('date')).toBe('Tue, 31 Mar 2026 12:00:00 GMT');
  });

  test('responds with 500, and with the reason if it is meant for users', async () => {
    const b = await bench();
    await writeFile(b.file, '{}');
    const failed = { statusCode: 500, error: 'Internal Server Error' };
    expect(await (await fetch(`${b.url}/users/me`)).json()).toEqual({
      ...failed,
      message: `could not read the sandbox's state ${b.file}. The file is unchanged; reset the sandbox to replace it.`,
    });
    // Opening a pipe without a writer would wait forever.
    for (const make of [mkdirSync, (path: string) => void execFileSync('mkfifo', [path])]) {
      rmSync(b.file, { recursive: true });
      make(b.file);
      expect(await (await fetch(`${b.url}/users/me`)).json()).toEqual({
        ...failed,
        message: `could not read the sandbox's state ${b.file} (not a regular file)`,
      });
      expect(accountIn(b.file)).toBeUndefined();
    }
    const fault = async () => Promise.reject(new Error('a bug'));
    const serving = { operations: [], run: fault, page: fault, now: () => 0, onRequest: undefined };
    const server = await serveHttp(serving, 0);
    onTestFinished(() => server.close());
    expect(await (await fetch(server.url)).json()).toEqual({
      ...failed,
      message: 'The sandbox failed',
    });
  });

  const port = (more: object) => ({ dockerConfig: { ports: [more] }, templateId: null });
  test.each([
    ['a published port', port({ internal_port: 80, external_port: 8080 }), 'Port 8080 on box'],
    ['an internal port', port({ internal_port: 8080 }), 'Port 8080 on box'],
    ['an external port', port({ external_port: 8080 }), 'Port 8080 on box'],
    ['another port', port({ internal_port: 8080, external_port: 80 }), undefined],
    ['no container', { dockerConfig: null, templateId: null }, undefined],
    ['a stopped instance', { ...port({ internal_port: 8080 }), status: 'STOPPED' }, undefined],
  ])('shows the page of %s', (_what, more, title) => {
    const instance = { name: 'box', status: 'ACTIVE', ...more } as unknown as Instance;
    expect(/<title>(.*)<\/title>/.exec(pageOf(instance, 8080) ?? '')?.[1]).toBe(title);
  });

  test('reports a port in use as a usage error', async () => {
    const b = await bench();
    const port = Number(new URL(b.url).port);
    await expect(b.sandbox.listen({ port })).rejects.toMatchObject({
      failure: 'usage',
      message: `the sandbox can't listen: port ${port} is in use or needs root`,
      hint: 'use --port 0 to pick a free port',
    });
  });
});
