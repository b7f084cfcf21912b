import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { keptText, profileView } from '../../../src/commands/profiles/profile.ts';
import type { KeptKey } from '../../../src/config/keep-key.ts';
import { type CliOptions, createWorld, journalOf, type World } from '../../support/run-cli.ts';
import { ANNA_KEY, accounts } from '../login/accounts.ts';

const worlds: World[] = [];
const WORK_URL = 'https://api.example.com/v1';

async function newWorld(): Promise<World> {
  const world = await createWorld({ handler: accounts, signedIn: false });
  worlds.push(world);
  return world;
}

/** Creates the active profile `home` with a key, and `work` without one. */
async function twoProfiles(): Promise<World> {
  const world = await createWorld({ handler: accounts, signedIn: false });
  worlds.push(world);
  await world.cli(['profiles', 'add', 'work', '--base-url', `${WORK_URL}/`]);
  await world.cli(['login', '--profile', 'home', '--base-url', world.service.url, '--key-stdin'], {
    stdin: ANNA_KEY,
  });
  return world;
}

afterEach(async () => {
  for (const world of worlds.splice(0)) {
    const requests = world.service.requests.map(({ path }) => path);
    expect(new Set([...requests, '/users/me']).size, 'profiles ask nothing of the service').toBe(1);
  }
});

const configFile = (world: World) => join(world.home, 'config', 'config.json');

async function stored(world: World) {
  return JSON.parse(await readFile(configFile(world), 'utf8'));
}

describe('profiles list', () => {
  test('lists only the sandbox on a new computer', async () => {
    const world = await newWorld();
    await world.cli(['profiles', 'list']);
    expect((await world.cli(['profiles', 'ls', '-q'])).stdout).toBe('sandbox\n');
  });

  test('shows base URLs, accounts, keys and the active profile', async () => {
    const world = await twoProfiles();
    const { stdout, stderr } = await world.cli(['profiles', 'list', '--json']);
    expect(stdout + stderr).not.toContain(ANNA_KEY);

    const columns = ['--columns', 'name,account,has_key,active', '--no-header'];
    await world.cli(['profile', 'ls', ...columns]);
  });

  test('warns about variables that override the active profile', async () => {
    const world = await twoProfiles();
    const { stderr } = await world.cli(['profiles', 'list'], {
      env: { GPUCLOUD_PROFILE: 'work', GPUCLOUD_API_KEY: 'svc_sk_other' },
    });
    expect(stderr).toContain('warning: GPUCLOUD_API_KEY overrides');
  });

  test('marks the profile from a flag or the environment as active', async () => {
    const world = await twoProfiles();
    const active = async (argv: string[], env: Record<string, string> = {}) => {
      const { stdout } = await world.cli(['profiles', 'list', '--json', ...argv], { env });
      const rows: { name: string; active: boolean }[] = JSON.parse(stdout);
      return rows.filter((row) => row.active).map(({ name }) => name);
    };
    expect(await active([])).toEqual(['home']);
    expect(await active([], { GPUCLOUD_PROFILE: 'sandbox' })).toEqual(['sandbox']);
    expect(await active(['--profile', 'work'], { GPUCLOUD_PROFILE: 'sandbox' })).toEqual(['work']);
    await world.cli(['profiles', 'get', '--json'], {
      env: { GPUCLOUD_PROFILE: 'sandbox' },
    });
    const other = await world.cli(['profiles', 'get', 'home'], {
      env: { GPUCLOUD_PROFILE: 'sandbox' },
    });
    expect(other.stdout).toMatch(/Active: +no\n$/);
  });

  test.each([
    [['list'], { GPUCLOUD_PROFILE: 'bogus' }, 'fail: GPUCLOUD_PROFILE: no profile "bogus"'],
    [['list', '--profile', 'bogus'], {}, 'no profile "bogus"'],
    [['use', 'home'], { GPUCLOUD_PROFILE: 'bogus' }, 'in GPUCLOUD_PROFILE does not exist'],
  ])('does not mark a profile as active for an unknown name: %j %j', async (argv, env, said) => {
    const world = await twoProfiles();
    const { stderr } = await world.cli(['profiles', ...argv], { env });
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('selects the profile');
  });
});

describe('profiles get', () => {
  test('prints the named or the active profile', async () => {
    const world = await twoProfiles();
    const name = async (argv: string[], options?: CliOptions) =>
      (await world.cli(['profiles', ...argv, '--columns', 'name', '--no-header'], options)).stdout;
    expect(await name(['get', 'work'])).toBe('work\n');
    expect(await name(['show'])).toBe('home\n');
    expect(await name(['get', '--profile', 'work'])).toBe('work\n');
    expect(await name(['get'], { env: { GPUCLOUD_PROFILE: 'sandbox' } })).toBe('sandbox\n');
  });

  test('prints the sandbox profile', async () => {
    await (await newWorld()).cli(['profiles', 'get', 'sandbox']);
  });

  test('exits with 3 in profiles get and logout without an active profile', async () => {
    expect((await (await newWorld()).cli(['logout'])).code).toBe(3);
    expect((await (await newWorld()).cli(['profiles', 'get'])).code).toBe(3);
  });
});

describe('an unknown profile', () => {
  test.each([['get'], ['use'], ['remove', '--yes']])(
    'exits with 3 for an unknown profile in %s, and lists the others with the nearest first',
    async (verb, ...more) => {
      const world = await twoProfiles();
      const before = await stat(configFile(world));
      const { code, stdout } = await world.cli(['profiles', verb, 'Wrok', ...more]);
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect((await stat(configFile(world))).ino).toBe(before.ino);
    },
  );
});

describe('profiles use', () => {
  test('switches to a profile, and suggests login if it has no key', async () => {
    const world = await twoProfiles();
    const { stdout } = await world.cli(['profiles', 'use', 'work']);
    expect(stdout).toContain('Active:    yes\n');
    expect((await stored(world)).current).toBe('work');
  });

  test('warns if GPUCLOUD_PROFILE names another profile', async () => {
    const world = await twoProfiles();
    const { stderr } = await world.cli(['profiles', 'use', 'home'], {
      env: { GPUCLOUD_PROFILE: 'work' },
    });
    expect(stderr).toContain('warning: GPUCLOUD_PROFILE selects the profile "work"');
    await world.cli(['profiles', 'use', 'work'], { env: { GPUCLOUD_PROFILE: 'work' } });
  });
});

describe('profiles add', () => {
  test("stores a profile's base URL without a key, and keeps the active profile", async () => {
    const world = await newWorld();
    const argv = ['profiles', 'add', 'work', '--base-url', `${WORK_URL}/`];
    await world.cli(argv);
    await world.cli([...argv, '--json']);
    expect(await stored(world)).toEqual({ profiles: { work: { base_url: WORK_URL } } });
    expect((await stat(configFile(world))).mode & 0o777).toBe(0o600);
    expect((await stat(join(world.home, 'config'))).mode & 0o777).toBe(0o700);
  });

  test('succeeds in profiles add with the same base URL, and rejects another', async () => {
    const world = await twoProfiles();
    const { url } = world.service;
    const again = await world.cli(['profiles', 'add', 'home', '--base-url', `${url}/`]);
    expect(again).toMatchObject({
      code: 0,
      stderr: 'The profile "home" already exists with this base URL and a key.\n',
    });
    await world.cli(['profiles', 'add', 'home', '--base-url', WORK_URL]);
    expect((await stored(world)).profiles.home).toMatchObject({ base_url: url, api_key: ANNA_KEY });
  });

  test('uses GPUCLOUD_BASE_URL, and exits with 2 without a base URL', async () => {
    const world = await newWorld();
    await world.cli(['profiles', 'add', 'work'], { env: { GPUCLOUD_BASE_URL: '' } });
    const env = { GPUCLOUD_BASE_URL: WORK_URL };
    expect((await world.cli(['profiles', 'add', 'work'], { env })).code).toBe(0);
  });

  test('asks for the base URL in a terminal', async () => {
    const world = await newWorld();
    const stdin = `ftp://x\n${WORK_URL} \n`;
    const plain = { terminal: true, typedAhead: true, stdin, env: { TERM: 'dumb' } };
    expect((await world.cli(['profiles', 'add', 'work'], plain)).code).toBe(0);
    expect(await stored(world)).toEqual({ profiles: { work: { base_url: WORK_URL } } });
  });

  test.each(['a b', 'sandbox', 'SandBox', '', 'x/y', 'ключ'])(
    'exits with 2 for the profile name %j',
    async (name) => {
      const world = await newWorld();
      await world.cli(['profiles', 'add', name, '--base-url', WORK_URL]);
      await expect(stat(configFile(world))).rejects.toThrow('ENOENT');
    },
  );
});

describe('profiles remove', () => {
  test('asks before removing a profile, and exits with 2 when not interactive', async () => {
    const world = await twoProfiles();
    await world.cli(['profiles', 'remove', 'home']);
    expect((await stored(world)).profiles.home.api_key).toBe(ANNA_KEY);
  });

  test('removes a profile and its key, and lists the instances that keep running', async () => {
    const world = await twoProfiles();
    const { stdout } = await world.cli(['profiles', 'rm', 'home', '--yes']);
    expect(stdout).toContain('Name:      home\n');
    expect(await stored(world)).toEqual({ profiles: { work: { base_url: WORK_URL } } });
  });

  test("lists the account's running instances and the command that terminates them", async () => {
    const world = await twoProfiles();
    const journal = journalOf(world, { service: world.service.url, account: 'user-anna' });
    for (const [at, name, status] of [
      [1, 'trainer', 'ACTIVE'],
      [2, 'lab', 'STOPPED'],
      [3, 'old', 'TERMINATED'],
    ] as const) {
      const id = `b0000000-0000-4000-8000-00000000000${at}`;
      await journal.add(id, 'track', { id, name, status });
    }
    const other = journalOf(world, { service: world.service.url, account: 'user-boris' });
    await other.add('b0000000-0000-4000-8000-000000000004', 'track');
    await world.cli(['profiles', 'use', 'sandbox']);
    await world.cli(['profiles', 'remove', 'home']);
    await world.cli(['profiles', 'remove', 'home', '--yes']);
  });

  test('keeps the active profile if another profile is removed', async () => {
    const world = await twoProfiles();
    const { stderr } = await world.cli(['profiles', 'remove', 'work', '-y']);
    expect(stderr).toBe('Removed the profile "work".\n');
    expect((await stored(world)).current).toBe('home');
  });

  test('exits with 2 for removing the sandbox profile, even with --yes', async () => {
    const { code } = await (await newWorld()).cli(['profiles', 'rm', 'sandbox', '--yes']);
    expect(code).toBe(2);
  });
});

test('lists every setting of each profile', async () => {
  const world = await twoProfiles();
  const rest = { max_burn: '2.50', enforce_max_burn: true, require_deadline: true };
  const guards = { max_instances: 1, ...rest };
  const work = { base_url: WORK_URL, guards, defaults: { offer: 'o', image: 'i', ssh_key: 'k' } };
  const account = { id: 'user-boris', email: null, name: null };
  const { profiles, ...file } = await stored(world);
  const all = {
    ...profiles,
    work: { ...work, notify: ['say', 'x y'], account },
    named: { ...work, key_command: ['cat'], account: { ...account, name: 'Boris' } },
  };
  await writeFile(configFile(world), JSON.stringify({ ...file, profiles: all }), { mode: 0o600 });
  const columns = profileView.columns.map(({ id }) => id).join();
  await world.cli(['profiles', 'list', '-o', 'csv', '--columns', columns]);
  await world.cli(['profiles', 'list', '-o', 'tsv']);
  for (const name of ['home', 'work', 'named', 'sandbox'])
    await world.cli(['profiles', 'get', name, '--json']);
  await chmod(configFile(world), 0o666);
  await world.cli(['profiles', 'move', 'named', '--to', 'file']);
});

test.each([
  [2, 'profiles move home'],
  [2, 'profiles move home --to elsewhere'],
  [3, 'profiles move work --to file'],
  [3, 'profiles move sandbox --to file'],
  [9, 'profiles move home --to keyring'],
  [2, 'profiles remove SANDBOX --yes'],
  [2, 'profiles remove work'],
  [0, 'profiles use sandbox'],
  [0, 'profiles use home -q'],
  [2, 'profiles set work'],
  [2, 'profiles set Sandbox --max-instances 1'],
  [2, 'profiles set work --enforce-max-burn'],
  [2, 'profiles set work --max-instances -1'],
  [2, 'profiles set work --max-burn -1'],
  [
    0,
    'profiles set work --max-instances 0 --max-burn 0 --enforce-max-burn --require-deadline --offer a --image b --ssh-key c --notify d --json',
  ],
  [0, 'profiles set work --max-instances 1000000'],
  [2, 'profiles set work --max-instances 1000001'],
  [0, 'profiles set work --offer a'],
  [0, 'profiles set work --notify none --image none'],
  [3, 'profiles get zzzzzz'],
  [2, 'logout --profile sandbox'],
  [0, 'logout --profile work'],
  [0, 'logout'],
  [2, 'login --store command --key-stdin'],
  [2, 'login --store file --key-command x'],
])('exits with %i, and prints the output in the snapshot: %s', async (exit, words) => {
  const world = await twoProfiles();
  const { code, stderr } = await world.cli(words.split(' '));
  expect(code, stderr).toBe(exit);
});

test('profiles set keeps the other guards and defaults', async () => {
  const world = await twoProfiles();
  const set = (...words: string[]) => world.cli(['profiles', 'set', 'work', ...words, '--json']);
  await set('--max-instances', '2', '--offer', 'a');
  await set('--ssh-key', 'c', '--notify', 'd', '--require-deadline');
  const { stdout } = await set('--max-burn', '100', '--image', 'b');
  const columns =
    'name,max_instances,max_burn,enforce_max_burn,require_deadline,offer,image,ssh_key,notify';
  await world.cli(['profiles', 'list', '-o', 'csv', '--columns', columns]);
  expect(JSON.parse(stdout)).toMatchObject({
    guards: { max_instances: 2, max_burn: '100.00' },
    defaults: { offer: 'a', image: 'b' },
  });
});

describe('profiles move', () => {
  const move = (world: World) => world.cli(['profiles', 'move', 'home', '--to', 'file']);

  test("moves a command's key to the config file, and keeps the account", async () => {
    const world = await newWorld();
    const argv = ['login', '--profile', 'home', '--base-url', world.service.url];
    const key = join(world.home, 'key');
    await writeFile(key, ANNA_KEY, { mode: 0o600 });
    await world.cli([...argv, '--key-command', `cat ${key}`]);
    const { key_command, ...rest } = (await stored(world)).profiles.home;
    expect(key_command).toEqual(['cat', key]);
    expect(await move(world)).toMatchObject({
      code: 0,
      stderr: `Key saved to ${configFile(world)} (mode 0600).\n`,
    });
    expect((await stored(world)).profiles.home).toEqual({ ...rest, api_key: ANNA_KEY });
    const { account: _none, ...alone } = rest;
    const bare = { profiles: { home: { ...alone, key_command } } };
    await writeFile(configFile(world), JSON.stringify(bare), { mode: 0o600 });
    expect((await move(world)).code).toBe(0);
    expect((await stored(world)).profiles.home).toEqual({ ...alone, api_key: ANNA_KEY });
  });

  test('knows a key in the system keyring', async () => {
    const world = await newWorld();
    await mkdir(join(world.home, 'config'), { mode: 0o700 });
    const home = { base_url: world.service.url, keyring: 'home entry' };
    const text = JSON.stringify({ profiles: { home } });
    await writeFile(configFile(world), text, { mode: 0o600 });
    await world.cli(['profiles', 'move', 'home', '--to', 'keyring', '-o', 'csv']);
    expect(keptText({ place: { kind: 'keyring', entry: 'home' } } as KeptKey, '/config')).toBe(
      'Key saved to the system keyring, as "home".',
    );
  });

  test('changes nothing if the key is already there', async () => {
    const world = await twoProfiles();
    const before = await stored(world);
    expect(await move(world)).toMatchObject({
      code: 0,
      stderr: 'The key of profile "home" is already in the config file.\n',
    });
    expect(await stored(world)).toEqual(before);
  });
});
