import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { writeHeartbeat } from '../../../src/journal/index.ts';
import { minuteText } from '../../../src/output/time.ts';
import { AccountService } from '../../support/account-service.ts';
import { createWorld, journalOf, type World } from '../../support/run-cli.ts';
import { ok } from '../../support/service.ts';
import { ANNA_KEY, accounts, BORIS_KEY } from './accounts.ts';

const PAST = '2026-01-01T00:00:00.000Z';

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: accounts, signedIn: false });
});

function login(key: string, ...more: string[]) {
  const argv = ['login', '--base-url', world.service.url, '--key-stdin', ...more];
  return world.cli(argv, { stdin: `${key}\n` });
}

/** Signs "a" in as Anna, who has a living instance past its deadline. */
async function annaRents(): Promise<void> {
  expect((await login(ANNA_KEY, '--profile', 'a')).code).toBe(0);
  const journal = journalOf(world, { service: world.service.url, account: 'user-anna' });
  await journal.add('i-1', 'track', { id: 'i-1', name: 'box', status: 'ACTIVE' });
  await journal.withDeadline('i-1', (held) => held.set('box', { deadline: PAST }));
}

const profileKey = async (name: string) =>
  JSON.parse(await readFile(join(world.home, 'config', 'config.json'), 'utf8')).profiles[name]
    .api_key;

/** The two warnings about Anna's instance. */
const LEFT = () =>
  `warning: Instances of anna@example.com (${world.service.url}) may still be billing, and no profile signs in to that account: box. To manage them: gpucloud login --profile NAME --base-url ${world.service.url}\n` +
  `warning: Nothing on this computer enforces the deadline of box (${minuteText(Date.parse(PAST))}): "instances reap" is not scheduled.\n`;

describe('a profile that leaves an account with living instances', () => {
  test('signs in to another account only with --yes, and warns about what is left', async () => {
    await annaRents();
    const asked = await login(BORIS_KEY, '--profile', 'a');
    expect(asked).toMatchObject({ code: 2, stdout: '', requests: [] });
    expect(await profileKey('a')).toBe(ANNA_KEY);
    const forced = await login(BORIS_KEY, '--profile', 'a', '--yes');
    expect(forced.code, forced.stderr).toBe(0);
    expect(await profileKey('a')).toBe(BORIS_KEY);
  });

  test('asks although the same key command is stored, if its key is now of another account', async () => {
    const command = (file: string) => [
      ...['login', '--profile', 'a', '--base-url', world.service.url],
      ...['--key-command', `cat ${file}`],
    ];
    const key = join(world.home, 'key');
    await writeFile(key, ANNA_KEY);
    expect((await world.cli(command(key))).code).toBe(0);
    const journal = journalOf(world, { service: world.service.url, account: 'user-anna' });
    await journal.add('i-1', 'track', { id: 'i-1', name: 'box', status: 'ACTIVE' });
    await writeFile(key, BORIS_KEY);
    const { code } = await world.cli(command(key));
    expect(code).toBe(2);
    const config = JSON.parse(await readFile(join(world.home, 'config', 'config.json'), 'utf8'));
    expect(config.profiles.a.account.id).toBe('user-anna');
    const yes = await world.cli(command(key), { terminal: true, stdin: 'y\n' });
    expect(yes.code, yes.stderr).toBe(0);
  });

  test('says nothing for another key of the same account, or if nothing is left', async () => {
    expect((await login(ANNA_KEY, '--profile', 'a')).code).toBe(0);
    const { code, stderr } = await login(BORIS_KEY, '--profile', 'a', '--yes');
    expect({ code, stderr: stderr.includes('warning') }).toEqual({ code: 0, stderr: false });
  });

  test('names no instances that another profile still manages, but their deadlines', async () => {
    await annaRents();
    await login(ANNA_KEY, '--profile', 'b');
    const { stderr } = await login(BORIS_KEY, '--profile', 'a', '--yes');
    expect(stderr).not.toContain('may still be billing');
    expect(stderr).toContain('enforces the deadline of box');
  });

  test('asks before api-keys create saves a key of another account', async () => {
    await annaRents();
    const other = await createWorld({
      handler: (request) =>
        request.path === '/api-keys'
          ? ok({ id: 'k-1', name: 'ci', secret_key: ANNA_KEY }, 201)
          : accounts(request),
      signedIn: false,
    });
    // Boris's key comes from the environment, for another service.
    const env = { GPUCLOUD_API_KEY: BORIS_KEY, GPUCLOUD_BASE_URL: other.service.url };
    const argv = ['api-keys', 'create', 'ci', '--save-profile', 'a'];
    await world.cli(argv, { env });
    expect(other.service.requests.filter(({ method }) => method === 'POST')).toEqual([]);
    await world.cli([...argv, '--yes'], { env });
    const config = JSON.parse(await readFile(join(world.home, 'config', 'config.json'), 'utf8'));
    expect(config.profiles.a.account.id).toBe('user-boris');
  });

  test('asks if the base URL changes', async () => {
    await annaRents();
    const other = await createWorld({ handler: accounts, signedIn: false });
    const argv = ['login', '--profile', 'a', '--base-url', other.service.url, '--key-stdin'];
    const { stderr } = await world.cli([...argv, '--yes'], { stdin: ANNA_KEY });
    expect(stderr).toContain(LEFT());
  });

  test('counts a schedule no longer once its profile signs in to another account', async () => {
    await annaRents();
    const state = join(world.home, 'state');
    await writeHeartbeat(state, 'a', {
      service: world.service.url,
      account: 'user-anna',
      every: 300_000,
      at: new Date(world.clock.now()).toISOString(),
      stored: true,
      features: ['deadline', 'idle', 'job'],
    });
    await login(BORIS_KEY, '--profile', 'a', '--yes');
  });
});

test('status names accounts with living instances that no profile signs in to', async () => {
  await world.close();
  const service = new AccountService(Date.now());
  world = await createWorld({
    handler: (request) =>
      request.path === '/users/me'
        ? ok({ id: 'user-2', balance: '1.00' })
        : service.handler(request),
    signedIn: false,
  });
  await login(BORIS_KEY, '--profile', 'a');
  const journal = journalOf(world, { service: world.service.url, account: 'user-anna' });
  const messages = async () => {
    const { attention } = JSON.parse((await world.cli(['status', '--json'])).stdout);
    return attention.map(({ message }: { message: string }) => message);
  };
  const elsewhere = 'http://127.0.0.1:1';
  const file = join(world.home, 'config', 'config.json');
  const addProfile = async (name: string, profile: object) => {
    const config = JSON.parse(await readFile(file, 'utf8'));
    config.profiles[name] = { api_key: ANNA_KEY, ...profile };
    await writeFile(file, JSON.stringify(config));
  };
  await addProfile('far', { base_url: elsewhere, account: { id: 'user-anna' } });
  await journal.add('i-1', 'track', { id: 'i-1', name: 'box', status: 'ACTIVE' });
  await journal.add('i-2', 'track', { id: 'i-2', name: 'lab', status: 'ACTIVE' });
  const left = expect.stringMatching(/^box and 1 more may be billing on the account user-anna of /);
  expect(await messages()).toEqual([left]);
  const far = journalOf(world, { service: elsewhere, account: 'user-2' });
  await far.add('i-3', 'track', { id: 'i-3', name: 'far', status: 'ACTIVE' });
  expect(await messages()).toHaveLength(2);
  // Its account is unknown, so it may be Anna's.
  await addProfile('unknown', { base_url: world.service.url });
  expect(await messages()).toEqual([expect.stringMatching(/^far may be billing/)]);
  for (const id of ['i-1', 'i-2']) {
    await journal.add(id, 'track', { id, name: 'box', status: 'TERMINATING' });
  }
  await far.add('i-3', 'track', { id: 'i-3', name: 'far', status: 'TERMINATING' });
  expect(await messages()).toEqual([]);
});

describe('instances that bill on the account of another profile', () => {
  const OTHER =
    'box may be billing on another account, anna@example.com (profile a). To show it: gpucloud --profile a status';

  beforeEach(async () => {
    await world.close();
    const service = new AccountService(Date.now());
    world = await createWorld({
      handler: (request) =>
        request.path === '/users/me' ? accounts(request) : service.handler(request),
      signedIn: false,
    });
    await annaRents();
    await login(BORIS_KEY, '--profile', 'b');
  });

  test.each<[readonly string[], 'stdout' | 'stderr']>([
    [['status'], 'stdout'],
    [['instances', 'list'], 'stderr'],
    [['instances', 'list', '--json'], 'stderr'],
    [['instances', 'list', '-q'], 'stderr'],
    [['instances', 'terminate', '--all', '--yes'], 'stderr'],
    [['instances', 'get', 'BOX'], 'stderr'],
    [['jobs', 'list'], 'stderr'],
    [['jobs', 'get', 'box'], 'stderr'],
    [['jobs', 'logs', 'box'], 'stderr'],
    [['jobs', 'attach', 'box'], 'stderr'],
    [['jobs', 'stop', 'box'], 'stderr'],
    [['--profile', 'b', 'instances', 'list'], 'stderr'],
    [['--profile', 'b', 'status'], 'stdout'],
  ])('%j names them, with the command that shows them', async (argv, stream) => {
    const outcome = await world.cli(argv);
    expect(outcome[stream].replaceAll(/\n */g, ' ')).toContain(OTHER);
    const own = await world.cli(argv.includes('b') ? [...argv, '--profile', 'a'] : argv, {
      env: { GPUCLOUD_PROFILE: 'a' },
    });
    expect(own[stream].replaceAll(/\n */g, ' ')).not.toContain('on another account');
  });

  test.each([
    [{ GPUCLOUD_API_KEY: BORIS_KEY }, 'GPUCLOUD_API_KEY'],
    [{ GPUCLOUD_BASE_URL: 'URL' }, 'GPUCLOUD_BASE_URL'],
    [
      { GPUCLOUD_API_KEY: BORIS_KEY, GPUCLOUD_BASE_URL: 'URL' },
      'GPUCLOUD_API_KEY and GPUCLOUD_BASE_URL',
    ],
  ])('says to unset the variables that override the profiles: %j', async (given, names) => {
    const env = JSON.parse(JSON.stringify(given).replace('"URL"', `"${world.service.url}"`));
    const { stderr } = await world.cli(['instances', 'list'], { env });
    expect(stderr.split('\n').at(-2)).toBe(
      `warning: box may be billing on another account, anna@example.com (profile a). Unset ${names}, then: gpucloud --profile a status`,
    );
  });

  test('names the typed instance before others of its account', async () => {
    const journal = journalOf(world, { service: world.service.url, account: 'user-anna' });
    await journal.add('i-0', 'track', { id: 'i-0', name: 'aaa', status: 'ACTIVE' });
    await journal.add('i-9', 'track', { id: 'i-9', name: 'zzz', status: 'ACTIVE' });
    for (const name of ['aaa', 'zzz']) {
      const { stderr } = await world.cli(['jobs', 'logs', name]);
      expect(stderr).toContain(`hint: ${name} and 2 more may be billing on another account`);
    }
  });

  test('terminate names the account whose instance it terminates', async () => {
    const { stderr } = await world.cli([
      '--profile',
      'a',
      'instances',
      'terminate',
      'box',
      '--yes',
    ]);
    expect(stderr.split('\n')[0]).toBe('Account: anna@example.com (profile a)');
  });

  test('says nothing of them once they are terminated', async () => {
    const journal = journalOf(world, { service: world.service.url, account: 'user-anna' });
    await journal.add('i-1', 'track', { id: 'i-1', name: 'box', status: 'TERMINATED' });
    for (const argv of [['list'], ['get', 'box']]) {
      const { stderr } = await world.cli(['instances', ...argv]);
      expect(stderr).not.toContain('on another account');
    }
  });
});
