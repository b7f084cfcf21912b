import { chmod, chown, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { exposureOfState, trustedOwners } from '../../src/config/exposure.ts';
import { needs } from '../support/needs.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { ok } from '../support/service.ts';

let world: World;
let state: string;
let account: string;

const sandbox = (...argv: string[]) => world.cli(['--profile', 'sandbox', ...argv]);

beforeEach(async () => {
  world = await createWorld({ signedIn: false, handler: () => ok({}) });
  state = join(world.home, 'state');
  const made = await sandbox('instances', 'create', 'box', ...HARDWARE, '-y');
  expect(made.code, made.stderr).toBe(0);
  const services = join(state, 'journal', '@sandbox');
  account = join(services, (await readdir(services)).find((name) => name !== '@keys') ?? '');
});

const COMMANDS: readonly (readonly [readonly string[]])[] = [
  [['instances', 'list']],
  [['instances', 'reap']],
  [['instances', 'terminate', 'box', '--yes']],
  [['instances', 'create', 'other', ...HARDWARE, '-y']],
  [['jobs', 'list']],
  [['status']],
  [['catalog', 'list']],
];

describe('a state folder that other users can write to', () => {
  test.each(COMMANDS)('stops %j', async (argv) => {
    await chmod(state, 0o777);
    const { code, stdout, stderr } = await sandbox(...argv);
    expect({ code, stdout, stderr }).toEqual({
      code: 4,
      stdout: '',
      stderr: `error: Refused to use the journal: other users can write to ${state} (0777).\nhint: chmod 700 ${state}\n`,
    });
    const json = await sandbox(...argv, '--json');
    expect(JSON.parse(json.stderr).error).toMatchObject({ code: 'exposed_journal' });
  });

  test.each([
    ['journal', 0o777],
    ['journal/@sandbox', 0o707],
    ['jobs', 0o722],
    ['reap', 0o770],
    ['account', 0o702],
    ['account/deadlines', 0o777],
    ['account/instances', 0o772],
  ])('applies to %s with mode %o', async (name, mode) => {
    const path = name.startsWith('account')
      ? join(account, name.slice('account/'.length))
      : join(state, name);
    await mkdir(path, { recursive: true });
    await chmod(path, mode);
    const { code, stderr } = await sandbox('instances', 'reap');
    expect(code).toBe(4);
    expect(stderr).toContain(`hint: chmod 700 ${path}\n`);
  });

  test('is reported by doctor', async () => {
    await chmod(state, 0o777);
    const { checks } = JSON.parse((await sandbox('doctor', '--json')).stdout);
    expect(checks).toContainEqual({
      id: 'state_folder',
      status: 'fail',
      message: `other users can write to ${state} (0777)`,
      hint: `chmod 700 ${state}`,
    });
  });

  test('does not stop commands without the journal', async () => {
    await chmod(state, 0o777);
    for (const argv of [['profiles', 'list'], ['commands'], ['completion', 'bash']]) {
      expect((await world.cli(argv)).code, argv.join(' ')).toBe(0);
    }
  });
});

test('accepts a state folder that other users can read, and shared parents', async () => {
  await chmod(state, 0o755);
  await chmod(world.home, 0o775);
  expect((await sandbox('instances', 'list')).code).toBe(0);
});

test('creates its folders for one user even with umask 002', async () => {
  const before = process.umask(0o002);
  try {
    const env = { GPUCLOUD_STATE_DIR: join(world.home, 'fresh', 'state') };
    const create = ['instances', 'create', 'box', ...HARDWARE, '-y'];
    expect((await world.cli(['--profile', 'sandbox', ...create], { env })).code).toBe(0);
    expect((await world.cli(['--profile', 'sandbox', 'instances', 'list'], { env })).code).toBe(0);
  } finally {
    process.umask(before);
  }
});

test('ignores a record that another user put into the journal', needs('root'), async () => {
  const [record = ''] = await readdir(join(account, 'instances'));
  const path = join(account, 'instances', record);
  await chown(path, 4711, 4711);
  const { code, stdout, stderr } = await sandbox('instances', 'list', '--json');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '[]\n' });
  expect(stderr).toContain(`Could not read the journal file ${path} (it belongs to another user`);
});

test.each([
  [1000, undefined, [1000, 0, 1000]],
  [1000, '/', [1000, 0, 1000]],
  [0, undefined, [0, 0, 0]],
  [0, '/none', [0, 0, 0]],
  [undefined, '/', undefined],
])('trusts the owners that user %s with home %s has: %s', (uid, home, owners) => {
  expect(trustedOwners(uid, home)).toEqual(owners);
});

test("trusts the home folder's owner as root", needs('root'), async () => {
  await chown(world.home, 4711, 4711);
  expect(trustedOwners(0, world.home)).toEqual([0, 0, 4711]);
  expect(trustedOwners(1000, world.home)).toEqual([1000, 0, 1000]);
  await chown(state, 4711, 4711);
  expect(exposureOfState([state], 0, [0, 0, 4711])).toBeUndefined();
  expect(exposureOfState([state], 0, [0])).toMatchObject({
    remedy: ['sudo', '-u', '#4711', 'gpucloud'],
  });
});

test(
  'refuses that root creates a state folder in the folder of another user',
  needs('root'),
  async () => {
    await chown(world.home, 4711, 4711);
    const missing = join(world.home, 'none', 'state');
    expect(exposureOfState([missing], 0, [0])).toEqual({
      message: `${world.home} belongs to another user (uid 4711)`,
      remedy: ['sudo', '-u', '#4711', 'gpucloud'],
    });
    expect(exposureOfState([missing], 0, [0, 4711])).toBeUndefined();
  },
);

test('suggests that root gives a shared folder of root to the user', needs('root'), async () => {
  await chmod(state, 0o775);
  expect(exposureOfState([state], 4711, [4711, 0])).toEqual({
    message: `other users can write to ${state} (0775)`,
    remedy: ['sudo', 'chown', '4711', state],
  });
  await chown(state, 4711, 4711);
  expect(exposureOfState([state], 4711, [4711, 0])?.remedy).toEqual(['chmod', '700', state]);
});

describe('a state folder of another version', () => {
  const stopped = async (path: string) => {
    for (const [argv] of COMMANDS) {
      const { code, stdout, stderr } = await sandbox(...argv);
      expect({ code, stdout, stderr }).toEqual({
        code: 9,
        stdout: '',
        stderr: [
          `error: Another version of gpucloud may have recorded instances in ${path}.`,
          'hint: update gpucloud; if the folder is not from gpucloud, move it away, or set GPUCLOUD_STATE_DIR to another folder\n',
        ].join('\n'),
      });
    }
  };

  test('stops commands with its folder: rentals/SERVICE/ACCOUNT/machines', async () => {
    await rename(join(state, 'journal'), join(state, 'rentals'));
    await stopped(join(state, 'rentals'));
  });

  test('stops commands with its folder: journal2', async () => {
    await mkdir(join(state, 'journal2'));
    await stopped(join(state, 'journal2'));
  });

  test.each(['machines', 'instances2', 'leases'])('stops commands with %s/', async (name) => {
    await rename(join(account, 'instances'), join(account, name));
    await stopped(join(account, name));
  });

  test('accepts folders of the user, of file systems, locks and sandbox instances', async () => {
    for (const name of ['lost+found', 'my-journal2', 'old-rentals', 'drives.lock']) {
      await mkdir(join(state, name), { mode: 0o700 });
    }
    for (const name of ['.Trash-1000', '@eaDir']) {
      await mkdir(join(account, name), { mode: 0o700 });
    }
    const lock = join(account, 'requests.lock');
    await mkdir(lock);
    await chmod(lock, 0o777);
    await writeFile(join(state, 'notes'), '');
    expect((await sandbox('instances', 'list')).code).toBe(0);
    expect(await readFile(join(state, 'notes'), 'utf8')).toBe('');
  });
});
