import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { folders } from '../../src/config/index.ts';
import { createWorld, TEST_KEY, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { ok } from '../support/service.ts';

let world: World;
let file: string;
let env: Record<string, string>;
beforeEach(async () => {
  world = await createWorld({
    signedIn: false,
    handler: ({ path }) =>
      path === '/users/me' ? ok({ id: 'user-1', email: 'a@example.com' }) : ok([]),
  });
  env = { GPUCLOUD_API_KEY: TEST_KEY, GPUCLOUD_BASE_URL: world.service.url };
  file = join(world.home, 'config', 'config.json');
  await mkdir(join(world.home, 'config'), { mode: 0o700 });
});

const COMMANDS = [
  ['me', 'get'],
  ['instances', 'list'],
  ['instances', 'reap'],
  ['drives', 'list'],
  ['status'],
  ['jobs', 'list'],
];

describe.each([
  ['empty', ''],
  ['cut off', '{"current": "wo'],
  ['of another form', '{"profiles": []}'],
])('a config file that is %s', (_what, text) => {
  beforeEach(() => writeFile(file, text, { mode: 0o600 }));

  test.each(COMMANDS)('does not stop %s %s with a key and an address', async (...argv) => {
    expect(await world.cli(argv, { env })).toMatchObject({ code: 0 });
    const { GPUCLOUD_BASE_URL: url = '', ...key } = env;
    expect((await world.cli([...argv, '--base-url', url], { env: key })).code).toBe(0);
  });

  test('does not stop the sandbox', async () => {
    const create = ['instances', 'create', 'box', ...HARDWARE, '-y'];
    for (const argv of [create, ['status'], ['instances', 'terminate', 'box', '-y']]) {
      const { code, stderr } = await world.cli(['--profile', 'sandbox', ...argv]);
      expect(code, stderr).toBe(0);
    }
  });

  test('stops a rental, since its guards are unknown', async () => {
    const create = ['instances', 'create', 'box', ...HARDWARE, '-y'];
    const { code, stderr, requests } = await world.cli(create, { env });
    expect(code).toBe(9);
    expect(stderr).toContain(`error: ${file}: `);
    expect(requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  test.each([
    [{ GPUCLOUD_API_KEY: '' }],
    [{ GPUCLOUD_BASE_URL: '' }],
    [{ GPUCLOUD_PROFILE: 'work' }],
  ])('stops commands that need a profile: %j', async (missing) => {
    const { code, requests } = await world.cli(['me', 'get'], { env: { ...env, ...missing } });
    expect({ code, requests }).toEqual({ code: 9, requests: [] });
    expect(await readFile(file, 'utf8')).toBe(text);
  });
});

describe('an active profile that does not exist', () => {
  beforeEach(() => writeFile(file, '{"current": "gone", "profiles": {}}', { mode: 0o600 }));

  test.each(COMMANDS)('does not stop %s %s with a key and an address', async (...argv) => {
    expect(await world.cli(argv, { env })).toMatchObject({ code: 0 });
    expect((await world.cli(['--profile', 'sandbox', ...argv])).code).toBe(0);
  });

  test('stops commands that need it', async () => {
    const { code, stderr } = await world.cli(['me', 'get']);
    expect(code).toBe(2);
    expect(stderr).toContain('the active profile "gone" does not exist');
  });
});

test('names both variables if there is no home folder', () => {
  for (const kind of ['config', 'state', 'cache'] as const) {
    expect(() => folders({}, undefined, 'linux')[kind]).toThrow(
      expect.objectContaining({
        hint: 'set HOME, or both GPUCLOUD_CONFIG_DIR and GPUCLOUD_STATE_DIR, to absolute paths',
      }),
    );
  }
});

test('checks the schedule without a home folder, where gpucloud schedules nothing', async () => {
  const cli = (...argv: string[]) => world.cli(argv, { env, hasHome: false });
  const status = await cli('instances', 'reap', '--status', '--json');
  expect(JSON.parse(status.stdout)).toMatchObject({ armed: false, scheduler: null });
  const { checks } = JSON.parse((await cli('doctor', '--json')).stdout);
  expect(checks).toContainEqual({
    id: 'deadlines',
    status: 'pass',
    message: '"instances reap" is not scheduled',
    hint: null,
  });
});
