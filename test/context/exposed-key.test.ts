import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { exposureOfConfig } from '../../src/config/exposure.ts';
import { createWorld, TEST_KEY, type World } from '../support/run-cli.ts';
import { ok } from '../support/service.ts';

let world: World;
let folder: string;
let file: string;

beforeEach(async () => {
  world = await createWorld({
    signedIn: false,
    handler: () => ok({ id: 'user-1', email: 'a@example.com' }),
  });
  folder = join(world.home, 'config');
  file = join(folder, 'config.json');
  await mkdir(folder, { mode: 0o700 });
  await store({ api_key: TEST_KEY });
});

async function store(key: object): Promise<void> {
  const profiles = { work: { base_url: world.service.url, ...key } };
  await writeFile(file, JSON.stringify({ current: 'work', profiles }), { mode: 0o600 });
}

const EXPOSED: readonly [string, () => Promise<void>, string, () => string][] = [
  ['a world-writable file', () => chmod(file, 0o666), '(0666)', () => `chmod 600 ${file}`],
  ['a group-writable file', () => chmod(file, 0o660), '(0660)', () => `chmod 600 ${file}`],
  ['a file writable by others', () => chmod(file, 0o602), '(0602)', () => `chmod 600 ${file}`],
  // The sticky bit of a file does not restrict writes to it.
  ['a sticky world-writable file', () => chmod(file, 0o1666), '(0666)', () => `chmod 600 ${file}`],
  ['a world-writable folder', () => chmod(folder, 0o777), '(0777)', () => `chmod 700 ${folder}`],
];

test('leaves a folder that is out of reach to its reader', () => {
  expect(exposureOfConfig(join(file, 'below'), process.getuid?.())).toBe(undefined);
});

test.each(EXPOSED)('refuses to use the key in %s', async (_what, expose, words, remedy) => {
  await expose();
  const { code, stderr, requests } = await world.cli(['me', 'get']);
  expect({ code, requests }).toEqual({ code: 4, requests: [] });
  expect(stderr).toContain(words);
  expect(stderr).toContain(`hint: ${remedy()}\n`);
  const json = await world.cli(['me', 'get', '--json']);
  expect(JSON.parse(json.stderr).error).toMatchObject({ code: 'exposed_key', hint: remedy() });
});

test.each(EXPOSED)(
  'reports %s in doctor, with the same hint',
  async (_what, expose, words, remedy) => {
    await expose();
    const { code, stdout } = await world.cli(['doctor', '--json']);
    expect(code).toBe(1);
    const { checks } = JSON.parse(stdout) as { checks: Record<string, string>[] };
    const at = remedy().endsWith('.json') ? 'config_file' : 'config_folder';
    for (const id of ['api_key', at]) {
      const check = checks.find((one) => one.id === id);
      expect(check).toMatchObject({ message: expect.stringContaining(words), hint: remedy() });
    }
  },
);

test('rejects a symlink to a file in a world-writable folder', async () => {
  const shared = join(world.home, 'shared');
  await mkdir(shared);
  await chmod(shared, 0o777);
  await rename(file, join(shared, 'config.json'));
  await symlink(join(shared, 'config.json'), file);
  const { code, stderr } = await world.cli(['me', 'get']);
  expect(code).toBe(4);
  expect(stderr).toContain(`hint: chmod 700 ${shared}\n`);
});

test('does not run a key command from a file that other users can write to', async () => {
  await store({ key_command: ['touch', join(world.home, 'ran')] });
  await chmod(file, 0o666);
  const env = { PATH: '/usr/bin:/bin' };
  for (const words of [
    ['me', 'get'],
    ['profiles', 'move', 'work', '--to', 'file'],
  ]) {
    expect((await world.cli(words, { env })).code).toBe(4);
  }
  await expect(rename(join(world.home, 'ran'), file)).rejects.toMatchObject({ code: 'ENOENT' });
});

test.each(EXPOSED)('does not store a key at login in %s', async (_what, expose, words, remedy) => {
  await expose();
  const before = await readFile(file, 'utf8');
  const argv = ['login', '--profile', 'other', '--base-url', world.service.url, '--key-stdin'];
  const { code, stderr, requests } = await world.cli(argv, { stdin: TEST_KEY });
  expect({ code, requests }).toEqual({ code: 4, requests: [] });
  expect(stderr).toContain(words);
  expect(stderr).toContain(`hint: ${remedy()}\n`);
  expect(await readFile(file, 'utf8')).toBe(before);
});

test('does not store a key from login or --save-profile in a world-writable folder', async () => {
  await rm(file);
  await chmod(folder, 0o777);
  const base = ['--base-url', world.service.url];
  const login = await world.cli(['login', ...base, '--key-stdin'], { stdin: TEST_KEY });
  const env = { GPUCLOUD_API_KEY: TEST_KEY };
  const create = ['api-keys', 'create', 'ci', '--save-profile', 'ci', ...base];
  for (const { code, requests } of [login, await world.cli(create, { env })]) {
    expect({ code, requests }).toEqual({ code: 4, requests: [] });
  }
  expect(await readdir(folder)).toEqual([]);
});

test('accepts a config file that other users can only read', async () => {
  await chmod(file, 0o644);
  // In a sticky folder, others can't replace the file.
  await chmod(folder, 0o1777);
  expect((await world.cli(['me', 'get'])).code).toBe(0);
});

test('does not send a key from the environment to a base URL in an exposed file', async () => {
  await store({});
  await chmod(file, 0o666);
  const env = { GPUCLOUD_API_KEY: TEST_KEY };
  const refused = await world.cli(['me', 'get'], { env });
  expect(refused).toMatchObject({ code: 4, requests: [] });
  const both = { ...env, GPUCLOUD_BASE_URL: world.service.url };
  expect((await world.cli(['me', 'get'], { env: both })).code).toBe(0);
});

test('accepts only a config file that this user or root owns', async () => {
  const own = process.geteuid?.() ?? 0;
  // Root changes the owner, since files of root are always accepted.
  if (own === 0) await chown(file, 4711, 4711);
  const owner = own === 0 ? 4711 : own;
  expect(exposureOfConfig(file, owner + 1)).toEqual({
    message: expect.stringContaining('belongs to another user'),
    // The error names the folder first unless root owns it.
    remedy: ['sudo', 'chown', String(owner + 1), own === 0 ? file : folder],
  });
  // Suggests sudo, since chown would take the file from its user.
  expect(exposureOfConfig(file, 0)).toMatchObject({
    remedy: ['sudo', '-u', `#${owner}`, 'gpucloud'],
  });
  if (own !== 0) expect(exposureOfConfig(file, own)).toBeUndefined();
  // Windows has no numeric file owners.
  expect(exposureOfConfig(file, undefined)).toBeUndefined();
});
