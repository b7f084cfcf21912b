import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { placeOf } from '../../../src/sandbox/ssh/place.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { sshPublicKey } from '../../support/ssh-key.ts';

const worlds: World[] = [];
const OFFER = '40904090-0000-4000-8000-000000000001';
const IMAGE = '22042204-0000-4000-8000-000000000011';

/** Creates a computer without profiles or keys. Requests to a service fail. */
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

const builtIn = (world: World) => join(world.home, 'state', 'sandbox.json');

async function json(world: World, ...argv: string[]) {
  const { code, stdout, stderr } = await world.cli(['sandbox', ...argv, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function rent(world: World, name: string): Promise<void> {
  const argv = ['instances', 'create', name, '--offer', OFFER, '--image', IMAGE];
  const { code, stderr } = await world.cli([...argv, '--profile', 'sandbox']);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
}

describe('sandbox rogue', () => {
  test('rents an instance that bills and is missing from every list', async () => {
    const world = await newWorld();
    const { instances } = await json(world, 'rogue');
    expect(instances).toMatchObject([{ name: 'rogue', status: 'PROVISIONING', reserved: '89.90' }]);
    const list = await world.cli(['instances', 'list', '--profile', 'sandbox', '--json']);
    expect(JSON.parse(list.stdout)).toEqual([]);
    expect((await json(world, 'advance', '2h')).charged).toBe('89.90');
  });

  test('exits with 5 if the service would refuse the request', async () => {
    const world = await newWorld();
    await json(world, 'rogue', 'box');
    const taken = await world.cli(['sandbox', 'rogue', 'box']);
    expect(taken).toMatchObject({
      code: 5,
      stdout: '',
      stderr: 'error: An instance named box already exists. Nothing was rented.\n',
    });
    await json(world, 'reset', '--balance', '10', '--yes');
    expect((await world.cli(['sandbox', 'rogue'])).code).toBe(5);
  });
});

test.each([
  ['advance', '1h'],
  ['deposit', '5'],
  ['fault', 'fail-start'],
  ['rogue'],
  ['reset', '--yes'],
])('sandbox %s says that a served sandbox stays unchanged', async (...argv) => {
  const world = await newWorld();
  const served = { GPUCLOUD_BASE_URL: 'http://127.0.0.1:8080/v1', GPUCLOUD_API_KEY: 'svc_sk_x' };
  const first = async (env: Record<string, string>, ...more: string[]) =>
    (await world.cli(['sandbox', ...argv, ...more], { env })).stderr.split('\n')[0];
  const note =
    'warning: This changes the built-in sandbox. If http://127.0.0.1:8080/v1 serves another state file, name it with --state FILE.';
  expect(await first(served)).toBe(note);
  expect(await first(served, '--state', join(world.home, 'other.json'))).not.toBe(note);
  expect(await first(served, '--profile', 'sandbox')).not.toBe(note);
  const remote = { ...served, GPUCLOUD_BASE_URL: 'https://api.example.com/v1' };
  expect(await first(remote)).not.toBe(note);
});

test('sandbox advance reads no key to find out what is served', async () => {
  const world = await newWorld();
  await world.cli(['profiles', 'add', 'here', '--base-url', 'http://127.0.0.1:8080/v1']);
  await world.cli(['profiles', 'use', 'here']);
  const file = join(world.home, 'config', 'config.json');
  const config = JSON.parse(await readFile(file, 'utf8'));
  config.profiles.here.key_command = ['/missing'];
  await writeFile(file, JSON.stringify(config));
  const { code, stderr } = await world.cli(['sandbox', 'advance', '1h']);
  expect(code).toBe(0);
  expect(stderr).toContain('warning: This changes the built-in sandbox.');
});

test('sandbox advance warns in JSON too, and changes nothing for an unknown --profile', async () => {
  const world = await newWorld();
  const env = { GPUCLOUD_BASE_URL: 'http://127.0.0.1:8080/v1' };
  const { stderr } = await world.cli(['sandbox', 'advance', '1h', '--json'], { env });
  expect(JSON.parse(stderr)).toMatchObject({ warning: { code: 'settings' } });
  await world.cli(['sandbox', 'advance', '1h', '--profile', 'nope']);
  await world.cli(['sandbox', 'advance', '1h', '-o', 'csv'], { env: { GPUCLOUD_PROFILE: 'nope' } });
});

describe('sandbox catalog', () => {
  test('prints two tables and the command that rents an instance', async () => {
    const world = await newWorld();
    await world.cli(['sandbox', 'catalog']);
    await world.cli(['--profile', 'sandbox', 'ssh-keys', 'add', '-', '--name', 'laptop'], {
      stdin: sshPublicKey('ssh-ed25519'),
    });
    expect((await world.cli(['sandbox', 'catalog'])).stderr).toMatch(/^Rent one:\n/);
  });

  test("prints the offers, images and templates of its golden file in the service's format", async () => {
    const world = await newWorld();
    const catalog = await json(world, 'catalog');
    const templates = await world.cli(['templates', 'list', '--profile', 'sandbox', '--json']);
    const all = { ...catalog, templates: JSON.parse(templates.stdout) };
    const text = JSON.stringify(all, undefined, 1);
    await expect(`${text}\n`).toMatchFileSnapshot('catalog.txt');
  });

  test('lists offers and images together in row formats', async () => {
    const world = await newWorld();
    const csv = `kind,id,name,price_per_hour,gpu,gpu_count,vram_gb,in_stock,region,cuda_version
offer,${OFFER},RTX 4090,89.90,NVIDIA RTX 4090,1,24,true,ru-1,
offer,a100a100-0000-4000-8000-000000000002,A100 80GB,189.50,NVIDIA A100 80GB,1,80,true,ru-1,
offer,01000100-0000-4000-8000-000000000003,H100 80GB,299.95,NVIDIA H100 80GB,1,80,true,ru-2,
offer,81008100-0000-4000-8000-000000000004,8x H100 80GB SXM5,2359.60,NVIDIA H100 80GB,8,640,true,ru-2,
offer,30903090-0000-4000-8000-000000000005,RTX 3090,54.00,NVIDIA RTX 3090,1,24,false,ru-1,
image,${IMAGE},Ubuntu 22.04,,,,,,,12.4
image,24042404-0000-4000-8000-000000000012,Ubuntu 24.04,,,,,,,12.8
image,20222022-0000-4000-8000-000000000013,Windows Server 2022,,,,,,,12.4
`;
    expect((await world.cli(['sandbox', 'catalog', '-o', 'csv'])).stdout).toBe(csv);
    await world.cli(['sandbox', 'catalog', '-q']);
    const chosen = ['--columns', 'kind,name', '--sort', '-name', '--no-header'];
    await world.cli(['sandbox', 'catalog', '-o', 'csv', ...chosen]);
    await world.cli(['sandbox', 'catalog', '--sort', '-name']);
  });

  test('suggests serve with the given state file', async () => {
    const { stderr } = await (await newWorld()).cli(['sandbox', 'catalog', '--state', '/tmp/x']);
    expect(stderr).toBe('Serve this sandbox with: gpucloud sandbox serve --state /tmp/x\n');
  });
});

describe('sandbox status', () => {
  test('prints the state of a new sandbox', async () => {
    const world = await newWorld();
    await world.cli(['sandbox', 'status']);
    expect((await stat(builtIn(world))).mode & 0o777).toBe(0o600);
  });

  test('lists instances, drives and pending failures', async () => {
    const world = await newWorld();
    await world.cli(['drives', 'create', 'data', '--size', '10', '--yes', '--profile', 'sandbox']);
    await rent(world, 'trainer');
    await world.cli(['sandbox', 'fault', 'fail-stop']);
    await world.cli(['sandbox', 'status']);
    await world.cli(['sandbox', 'status', '--columns', 'faults,drives,instances']);
    await json(world, 'status');
  });

  test.each([
    ['another profile', ['--profile', 'nowhere']],
    ['a base URL', ['--base-url', 'https://api.example.com']],
  ])('ignores %s in sandbox status and catalog', async (_what, argv) => {
    const world = await newWorld();
    expect((await world.cli(['sandbox', 'status', ...argv])).code).toBe(0);
    expect((await world.cli(['sandbox', 'catalog', ...argv])).code).toBe(0);
  });
});

describe('sandbox advance', () => {
  test('moves the clock, and prints exact charges', async () => {
    const world = await newWorld();
    await rent(world, 'trainer');
    const { stdout } = await world.cli(['sandbox', 'advance', '24h']);
    // Charges 23 × 89.90 ₽, since the current hour is not charged yet.
    expect(stdout).toContain('Charged:       2067.70\n');
    const env = { NO_COLOR: '1' };
    await world.cli(['sandbox', 'advance', '24h'], { terminal: true, env });
  });

  test('prints the status and the charges as JSON', async () => {
    expect(await json(await newWorld(), 'advance', '90m')).toMatchObject({
      now: '2026-01-15T13:30:00.000Z',
      charged: '0.00',
      balance: '10500.00',
      instances: [],
    });
  });

  test.each(['1', '1.5h', '-1h', '1h30', 'an hour', '367d', '0x10s'])(
    "exits with 2 for the duration %s, and doesn't create a state file",
    async (text) => {
      const world = await newWorld();
      const { code, stdout } = await world.cli(['sandbox', 'advance', '--', text]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      await expect(stat(builtIn(world))).rejects.toThrow('ENOENT');
    },
  );
});

describe('sandbox deposit', () => {
  test("adds a deposit to the sandbox's balance", async () => {
    const world = await newWorld();
    const { code, stderr } = await world.cli(['sandbox', 'deposit', '99.9']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Deposited 99.90 ₽ of play money.\n' });
    expect((await json(world, 'status')).balance).toBe('10599.90');
  });

  test.each(['0', '0.00', '-5', '1e3', '1,5', ''])(
    'exits with 2 for the amount %j',
    async (text) => {
      const { code } = await (await newWorld()).cli(['sandbox', 'deposit', '--', text]);
      expect(code).toBe(2);
    },
  );
});

test('sandbox gpu finds a running instance by name or ID', async () => {
  const world = await newWorld();
  await rent(world, 'trainer');
  const [{ id }] = (await json(world, 'status')).instances;
  const load = () => readFile(placeOf(builtIn(world), id).load, 'utf8');
  for (const [typed, given, stored] of [
    ['trainer', '80', '80'],
    [id, '0', '0'],
    [id, 'auto', ''],
  ]) {
    await json(world, 'gpu', typed, given);
    expect(await load()).toBe(stored);
  }
  await world.cli(['instances', 'terminate', 'trainer', '--yes', '--profile', 'sandbox']);
  await world.cli(['sandbox', 'advance', '1h']);
  expect(await world.cli(['sandbox', 'gpu', 'trainer', '80'])).toEqual({
    code: 3,
    requests: [],
    stdout: '',
    stderr: `error: INSTANCE "trainer": the sandbox has no instance with that name or ID.
hint: gpucloud sandbox status
`,
  });
});

describe('sandbox fault', () => {
  test('queues failures, and clears them', async () => {
    const world = await newWorld();
    const { stderr } = await world.cli(['sandbox', 'fault', 'fail-start']);
    expect(stderr).toMatch(/^Scheduled fail-start: the next start fails/);
    expect((await json(world, 'fault', 'slow-provisioning')).faults).toEqual([
      'fail-start',
      'slow-provisioning',
    ]);
    await world.cli(['sandbox', 'fault', 'none']);
    expect((await json(world, 'status')).faults).toEqual([]);
  });

  test('exits with 2 for an unknown failure, and lists the known ones', async () => {
    const { code } = await (await newWorld()).cli(['sandbox', 'fault', 'fail-everything']);
    expect(code).toBe(2);
  });

  test('describes each failure in the help of sandbox fault', async () => {
    const { stdout } = await (await newWorld()).cli(['sandbox', 'fault', '--help']);
    for (const name of ['fail-start', 'fail-terminate', 'slow-provisioning', 'none']) {
      expect(stdout).toMatch(new RegExp(`^ +${name} +\\w`, 'm'));
    }
  });
});

describe('sandbox reset', () => {
  test('resets an empty sandbox without --yes', async () => {
    const world = await newWorld();
    await world.cli(['sandbox', 'deposit', '5']);
    const { stdout } = await world.cli([
      ...['sandbox', 'reset', '--balance', '300', '--speed', '2.5'],
    ]);
    expect(stdout).toContain('Speed:         2.5× real time\n');
  });

  test("stops the sandbox's clock at speed 0", async () => {
    const world = await newWorld();
    await world.cli(['sandbox', 'reset', '--speed', '0']);
    const stopped = await json(world, 'status');
    world.clock.advance(3_600_000);
    expect(await json(world, 'status')).toEqual(stopped);
    expect(stopped).toMatchObject({ speed: 0, now: '2026-01-15T12:00:00.000Z' });
  });

  test('allows a deadline without a pause at speed 600', async () => {
    const world = await newWorld();
    await world.cli(['sandbox', 'reset', '--speed', '600']);
    world.clock.advance(60_000);
    await world.cli([
      ...['instances', 'create', 'trainer', '--offer', OFFER, '--image', IMAGE],
      ...['--terminate-after', '4h', '--unenforced', '--profile', 'sandbox'],
    ]);
    expect(world.clock.slept).not.toContain(3000);
  });

  test('requires --yes if the sandbox has an instance', async () => {
    const world = await newWorld();
    await rent(world, 'trainer');
    await world.cli(['sandbox', 'reset']);
    expect((await json(world, 'status')).instances).toHaveLength(1);

    expect((await json(world, 'reset', '--yes')).instances).toEqual([]);
  });

  test('requires --yes if the sandbox has only a drive', async () => {
    const world = await newWorld();
    await world.cli(['drives', 'create', 'data', '--size', '5', '--profile', 'sandbox']);
    expect((await world.cli(['sandbox', 'reset'])).code).toBe(2);
  });

  test('resets a sandbox with only a terminated instance without --yes', async () => {
    const world = await newWorld();
    await rent(world, 'trainer');
    await world.cli(['instances', 'terminate', 'trainer', '--yes', '--profile', 'sandbox']);
    await world.cli(['sandbox', 'advance', '1h']);
    expect((await world.cli(['sandbox', 'reset'])).code).toBe(0);
  });

  test('overwrites a file that is not a sandbox only with --yes', async () => {
    const world = await newWorld();
    const file = join(world.home, 'notes.txt');
    await writeFile(file, 'my notes');
    const { stderr } = await world.cli(['sandbox', 'reset', '--state', file]);
    expect(stderr).toContain(file);
    expect(await readFile(file, 'utf8')).toBe('my notes');

    expect((await json(world, 'reset', '--state', file, '-y')).balance).toBe('10500.00');
  });

  test.each([
    ['--balance', '-1'],
    ['--balance', 'much'],
    ['--speed', '-1'],
    ['--speed', '1e3'],
    ['--speed', '1000001'],
    ['--speed', 'fast'],
    ['--state', ''],
  ])('exits with 2 for sandbox reset %s %j', async (flag, text) => {
    const { code } = await (await newWorld()).cli(['sandbox', 'reset', flag, text]);
    expect(code).toBe(2);
  });
});

test('says that an address of the sandbox leads nowhere once an instance has one', async () => {
  const world = await newWorld();
  await rent(world, 'box');
  const get = ['instances', 'get', 'box', '--profile', 'sandbox'];
  const note = "Sandbox addresses can't be reached.";
  expect((await world.cli(get)).stderr).not.toContain(note);
  await json(world, 'advance', '1m');
  expect((await world.cli(get)).stderr).toContain(note);
});

describe('the sandbox clock', () => {
  test('uses the sandbox clock for relative times in a terminal', async () => {
    const world = await newWorld();
    await rent(world, 'box');
    await json(world, 'advance', '20h');
    const { stdout } = await world.cli(['instances', 'get', 'box', '--profile', 'sandbox'], {
      terminal: true,
    });
    expect(stdout).toMatch(/Created: .*\(20 h ago\)/);
  });
});
