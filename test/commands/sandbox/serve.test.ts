import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { CliError, type Failure } from '../../../src/errors.ts';
import { openSandbox } from '../../../src/sandbox/index.ts';
import { freePort } from '../../support/ports.ts';
import { type CliResult, createWorld, type World } from '../../support/run-cli.ts';
import { IMAGE, OFFER } from '../../support/sandbox-ids.ts';
import { until } from '../../support/until.ts';

const worlds: World[] = [];

async function newWorld(): Promise<World> {
  const world = await createWorld({ handler: () => 'hangUp', signedIn: false });
  worlds.push(world);
  return world;
}

afterEach(async () => {
  for (const world of worlds.splice(0)) {
    expect(world.service.requests).toEqual([]);
  }
});

const KEY = /svc_sk_\w+/;

interface Serving {
  readonly url: string;
  get(path: string, key?: string): Promise<{ status: number; body: string }>;
  end(failure: Failure): Promise<CliResult>;
}

async function serve(world: World, ...argv: string[]): Promise<Serving> {
  const port = await freePort();
  const stop = new AbortController();
  const result = world.cli(['sandbox', 'serve', '--port', String(port), ...argv], {
    interrupts: { first: stop.signal, second: new AbortController().signal },
  });
  const url = `http://127.0.0.1:${port}`;
  await answering(url, result);
  return {
    url,
    async get(path, key) {
      const response = await fetch(`${url}${path}`, {
        headers: key === undefined ? {} : { 'x-api-key': key },
      });
      return { status: response.status, body: await response.text() };
    },
    end(failure) {
      stop.abort(new CliError(failure, 'Over.'));
      return result;
    },
  };
}

/** Waits until the server responds, and fails with the output if the command exits first. */
async function answering(url: string, result: Promise<CliResult>): Promise<void> {
  let ended: CliResult | undefined;
  void result.then((outcome) => {
    ended = outcome;
  });
  await until(() => {
    if (ended !== undefined) throw new Error(`serve ended: ${ended.stderr}`);
    return fetch(`${url}/ready`).then(
      () => true,
      () => false,
    );
  });
}

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly ip_address: string;
  readonly ssh_port: number;
  readonly connection_info: { readonly endpoints: readonly { readonly url: string }[] };
}

describe('sandbox serve', () => {
  test.each(['interrupted', 'terminated', 'hungUp'] as const)(
    'exits with 0 when %s, frees its port and saves its state',
    async (failure) => {
      const world = await newWorld();
      await world.cli(['sandbox', 'deposit', '1']);
      const serving = await serve(world);
      const { code } = await serving.end(failure);
      expect(code).toBe(0);
      await expect(fetch(serving.url)).rejects.toThrow();
      expect((await world.cli(['sandbox', 'status'])).stdout).toContain('10501.00');
    },
  );

  test('prints two export lines, and logs requests to stderr', async () => {
    const serving = await serve(await newWorld());
    await serving.get('/users/me?secret=1', 'wrong');
    const { stdout } = await serving.end('interrupted');
    expect(stdout.replace(KEY, 'KEY')).toBe(
      `export GPUCLOUD_BASE_URL=${serving.url}\nexport GPUCLOUD_API_KEY=KEY\n`,
    );
  });

  test('prints one line of JSON with the URL and a working key with --json', async () => {
    const world = await newWorld();
    const first = await serve(world, '--json');
    const { stdout } = await first.end('terminated');
    expect(stdout).toMatch(/^\{"url":"http:\/\/127\.0\.0\.1:\d+","api_key":"svc_sk_\w+"\}\n$/);
    const { url, api_key } = JSON.parse(stdout);
    expect(url).toBe(first.url);

    const second = await serve(world, '--json');
    expect(await second.get('/users/me', api_key)).toMatchObject({ status: 200 });
    const { stderr } = await second.end('terminated');
    const lines = stderr.trimEnd().split('\n');
    expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([['debug'], ['debug']]);
  });

  test.each([
    ['yaml', 'url: URL\napi_key: KEY\n'],
    ['csv', 'url,api_key\nURL,KEY\n'],
    ['id', 'URL\n'],
  ])('prints url and api_key as %s', async (format, text) => {
    const serving = await serve(await newWorld(), '-o', format);
    const { stdout } = await serving.end('interrupted');
    expect(stdout.replace(serving.url, 'URL').replace(KEY, 'KEY')).toBe(text);
  });

  test('returns endpoints that respond, with a web page and SSH', async () => {
    const world = await newWorld();
    const file = join(world.home, 'own.json');
    const serving = await serve(world, '--speed', '3600', '--state', file);
    const key = await openSandbox({ file, clock: world.clock }).apiKey();
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const call = async (path: string, body?: object) => {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(`${serving.url}${path}`, { headers, ...sent });
      return ((await response.json()) as { data: Shown }).data;
    };
    const template_id = '1ab1ab01-0000-4000-8000-000000000021';
    const wish = { offer_id: OFFER, image_id: IMAGE, instance_name: 'lab', template_id };
    const { id } = await call('/instances', wish);
    world.clock.advance(1000);
    const { status, ip_address, ssh_port, connection_info } = await call(`/instances/${id}`);
    expect({ status, ip_address }).toEqual({ status: 'ACTIVE', ip_address: '127.0.0.1' });
    const url = connection_info.endpoints[0]?.url ?? '';
    expect(url).toMatch(new RegExp(`^${serving.url}/pages/${id}/8888/lab\\?token=[0-9a-f]{48}$`));
    expect(await (await fetch(url)).text()).toContain('<h1>JupyterLab on lab</h1>');
    const socket = connect(ssh_port, '127.0.0.1');
    const [banner] = await once(socket, 'data');
    expect(String(banner)).toBe('SSH-2.0-gpucloud-sandbox\r\n');
    await call(`/instances/${id}/terminate`, {});
    expect((await fetch(url)).status).toBe(404);
    await serving.end('interrupted');
    await once(socket, 'close');
    const later = once(connect(ssh_port, '127.0.0.1'), 'connect');
    await expect(later).rejects.toThrow('ECONNREFUSED');
  });

  test('applies --state, --speed and --fault in sandbox serve', async () => {
    const world = await newWorld();
    const file = join(world.home, 'other.json');
    const more = ['--speed', '3600', '--fault', 'fail-start', '--fault', 'fail-stop'];
    const serving = await serve(world, '--state', file, ...more);
    await serving.end('interrupted');

    world.clock.advance(1000);
    const { stdout } = await world.cli(['sandbox', 'status', '--state', file, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      now: '2026-01-15T13:00:00.000Z',
      speed: 3600,
      faults: ['fail-start', 'fail-stop'],
    });
  });

  test('stops the clock at --speed 0, and keeps the time', async () => {
    const world = await newWorld();
    const serving = await serve(world, '--speed', '0');
    await serving.end('interrupted');

    world.clock.advance(86_400_000);
    const { stdout } = await world.cli(['sandbox', 'status', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ now: '2026-01-15T12:00:00.000Z', speed: 0 });
  });

  test('exits with 2 immediately for a port in use, and leaves the state unchanged', async () => {
    const world = await newWorld();
    const port = new URL(world.service.url).port;
    await world.cli([
      ...['sandbox', 'serve', '--port', port, '--speed', '9', '--fault', 'fail-stop'],
    ]);
    const status = await world.cli(['sandbox', 'status', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ speed: 1, faults: [] });
  });

  test.each([
    ['--port', '65536'],
    ['--port', '-1'],
    ['--port', '0x10'],
    ['--port', '1e3'],
    ['--port', '80.5'],
    ['--port', ''],
    ['--speed', '-1'],
    ['--speed', '1e3'],
    ['--speed', '.5'],
    ['--fault', 'fail-all'],
    ['--state', ''],
  ])('exits with 2 for sandbox serve %s %j', async (flag, text) => {
    const { code, stderr } = await (await newWorld()).cli(['sandbox', 'serve', flag, text]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${flag} "${text}": `);
  });
});
