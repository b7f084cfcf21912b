import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { RentingService } from '../../support/renting-service.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { ok, sent } from '../../support/service.ts';
import { errorOf } from '../../support/stderr-lines.ts';

const ANNA_KEY = 'svc_sk_test_anna_0001';
const NEXT_KEY = 'svc_sk_test_next_0002';

let world: World;
let service: RentingService;
/** The account of each key. */
let owners: Record<string, object>;
let keyFile: string;

beforeEach(async () => {
  service = new RentingService();
  owners = {
    [ANNA_KEY]: { id: 'user-anna', email: 'anna@example.com', balance: '9.00' },
    [NEXT_KEY]: { id: 'user-boris', email: null, name: 'Boris', balance: '9.00' },
  };
  world = await createWorld({
    handler: (request) =>
      request.path === '/users/me'
        ? ok(owners[request.headers['x-api-key'] ?? ''])
        : service.handler(request),
    signedIn: false,
  });
  keyFile = join(world.home, 'key');
  await writeFile(keyFile, ANNA_KEY);
  const argv = ['login', '--profile', 'a', '--base-url', world.service.url];
  const { code, stderr } = await world.cli([...argv, '--key-command', `cat ${keyFile}`]);
  expect(code, stderr).toBe(0);
});

const create = () => world.cli(['instances', 'create', 'box', ...HARDWARE, '--json']);

const THEIRS = '3f0c5d9e-1111-4222-8333-444455557777';

/** The files that know instances or requests, by account. */
async function recorded(): Promise<string[]> {
  const files = await readdir(join(world.home, 'state', 'journal'), { recursive: true });
  return files.filter((path) => /\/(instances|requests)\/.*json$/.test(path));
}

const OTHER = {
  code: 'other_account',
  message:
    'The key of profile "a" belongs to the account Boris (user-boris), but the profile signed in as anna@example.com (user-anna).',
  hint: 'restore the earlier key, or sign in to the other account: gpucloud login --profile a',
};

describe('a key that changed under a profile', () => {
  test('rents nothing if it belongs to another account', async () => {
    await writeFile(keyFile, NEXT_KEY);
    const { stderr, requests } = await create();
    expect(errorOf(stderr)).toMatchObject(OTHER);
    expect(sent(requests)).toEqual(['GET /users/me']);
    expect(await recorded()).toEqual([]);
  });

  test.each([
    [['instances', 'track', THEIRS]],
    [['instances', 'list']],
    [['instances', 'recover']],
    [['instances', 'reap']],
    [['status']],
    [['me', 'get']],
    [['billing', 'balance']],
    [['instances', 'get', THEIRS]],
    [['instances', 'events', THEIRS]],
    [['instances', 'start', THEIRS]],
    [['instances', 'stop', THEIRS, '--yes']],
    [['instances', 'terminate', THEIRS, '--yes']],
    [['instances', 'wait', THEIRS]],
    [['billing', 'spend']],
    [['billing', 'transactions']],
    [['billing', 'runway']],
    [['billing', 'promo', 'SPRING']],
    [['me', 'update', '--name', 'Anna']],
    [['ssh-keys', 'list']],
    [['ssh-keys', 'delete', THEIRS, '--yes']],
    [['api-keys', 'list']],
    [['drives', 'list']],
    [['templates', 'list']],
    [['audit']],
    [['api', 'GET', '/ssh-keys']],
    [['api', 'PATCH', '/users/me', '-f', 'name=Anna', '--yes']],
  ])('fails %j with both accounts, and stores nothing', async (argv) => {
    await writeFile(keyFile, NEXT_KEY);
    service.rent(THEIRS, 'theirs');
    const format = argv[0] === 'api' ? [] : ['--json'];
    const { stderr, requests } = await world.cli([...argv, ...format]);
    expect([...new Set(sent(requests))]).toEqual(['GET /users/me']);
    expect(stderr.replaceAll('\\', '')).toContain(OTHER.message);
    expect(await recorded()).toEqual([]);
  });

  test('creates no API key to save as the profile of its earlier account', async () => {
    await writeFile(keyFile, NEXT_KEY);
    const argv = ['api-keys', 'create', 'ci', '--save-profile', 'ci', '--json'];
    const { code, stderr, requests } = await world.cli(argv);
    expect({ code, sent: sent(requests) }).toEqual({ code: 4, sent: ['GET /users/me'] });
    expect(errorOf(stderr)).toMatchObject(OTHER);
  });

  test('creates no drive, which would bill the other account', async () => {
    await writeFile(keyFile, NEXT_KEY);
    const argv = ['drives', 'create', 'data', '--size', '10', '--yes', '--json'];
    const { code, stderr, requests } = await world.cli(argv);
    expect({ code, sent: sent(requests) }).toEqual({ code: 4, sent: ['GET /users/me'] });
    expect(stderr).toContain('"code":"other_account"');
  });

  test('fails the check of the key in doctor', async () => {
    await writeFile(keyFile, NEXT_KEY);
    const { stdout } = await world.cli(['doctor', '--json']);
    expect(stdout).toContain(JSON.stringify(OTHER.message).slice(1, -1));
  });

  test('rents after one request if it belongs to the same account, and asks no more', async () => {
    owners[NEXT_KEY] = { id: 'user-anna' };
    await writeFile(keyFile, NEXT_KEY);
    const first = await create();
    expect(sent(first.requests)).toEqual(['GET /users/me', 'POST /instances']);
    service.newId = () => '3f0c5d9e-1111-4222-8333-444455558888';
    const again = await world.cli(['instances', 'create', 'lab', ...HARDWARE]);
    expect(sent(again.requests)).not.toContain('GET /users/me');
    expect(await recorded()).toHaveLength(2);
  });

  test.each([[['ssh-keys', 'list']], [['billing', 'transactions']], [['me', 'get']]])(
    'asks once before %j if it belongs to the same account',
    async (argv) => {
      owners[NEXT_KEY] = { id: 'user-anna' };
      await writeFile(keyFile, NEXT_KEY);
      const asked = async (words: string[]) => {
        const { requests } = await world.cli(words);
        return sent(requests).filter((one) => one === 'GET /users/me').length;
      };
      expect(await asked(argv)).toBe(1);
      expect(await asked(['templates', 'list'])).toBe(0);
    },
  );

  test('still terminates if the service can not say whose key it is', async () => {
    owners[NEXT_KEY] = { id: 17 };
    service.rent(THEIRS, 'theirs');
    await writeFile(keyFile, NEXT_KEY);
    const argv = ['instances', 'terminate', THEIRS, '--yes', '--json'];
    const { stderr } = await world.cli(argv);
    expect(stderr).toContain('"code":"incomplete"');
    expect(service.instances.get(THEIRS)?.status).toBe('TERMINATING');
  });

  test('asks nothing for the key of the last login', async () => {
    const { requests } = await create();
    expect(sent(requests)).toEqual(['POST /instances']);
  });
});
