import { beforeEach, expect, test } from 'vitest';
import { createWorld, type World } from '../support/run-cli.ts';
import { ok } from '../support/service.ts';

let world: World;

beforeEach(async () => {
  world = await createWorld({ signedIn: false, handler: () => ok([]) });
});

const NEEDS_A_KEY = [
  'instances create',
  'instances create box --offer x --image y',
  'instances create box --offer x --image y --if-not-exists',
  'instances create box --offer x --image y --dry-run',
  'instances list',
  'instances get trainer',
  'instances terminate trainer --yes',
  'instances ssh trainer',
  'catalog list',
  'status',
  'billing balance',
  'api GET /users/me',
];

test.each(NEEDS_A_KEY)('exits with 4 and suggests the sandbox and login: %s', async (line) => {
  const { code, stdout, stderr } = await world.cli(line.split(' '));
  expect({ code, stdout, stderr }).toEqual({
    code: 4,
    stdout: '',
    stderr:
      'error: You are not signed in.\nhint: Try the sandbox: gpucloud --profile sandbox …, or sign in: gpucloud login\n',
  });
});

test('says that the variable of the key is empty, as CI sets a missing secret', async () => {
  const commands = [
    ['status', {}],
    ['billing balance', { GPUCLOUD_BASE_URL: 'https://a.example' }],
  ] as const;
  for (const [line, address] of commands) {
    const env = { ...address, GPUCLOUD_API_KEY: ' ' };
    expect(await world.cli(line.split(' '), { env })).toMatchObject({
      code: 4,
      stderr:
        'error: You are not signed in: GPUCLOUD_API_KEY is empty.\nhint: Try the sandbox: gpucloud --profile sandbox …, or sign in: gpucloud login\n',
    });
  }
});

test('exits with 2 for the missing base URL if only the key is set', async () => {
  const missing = '--base-url (or GPUCLOUD_BASE_URL) is missing';
  const env = { GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef' };
  for (const [line, words] of [
    ['catalog list', `${missing}: offers and images depend on the service`],
    ['drives list', missing],
  ] as const) {
    const { code, stderr } = await world.cli(line.split(' '), { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: `error: ${words}\n` });
  }
  expect(await world.cli(['drives', 'list', '--csv-safe'])).toMatchObject({
    ...{ code: 2, stderr: 'error: --csv-safe needs -o csv\n' },
  });
});
