import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { candidates, continuing, isPlain, spelledOtherwise } from '../../src/completion/names.ts';
import { putJob } from '../contract/tree.ts';
import { anyText, fc } from '../support/random.ts';
import { createSandboxWorld, createWorld, type SandboxWorld } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { ok } from '../support/service.ts';
import { sshPublicKey } from '../support/ssh-key.ts';
import { HOSTILE } from './hostile.ts';

let world: SandboxWorld;
beforeEach(async () => {
  world = await createSandboxWorld();
});

type Env = Readonly<Record<string, string | undefined>>;

/** Returns the names that zsh offers after these words, with their states. */
async function offered(words: string, env: Env = {}, { cli } = world): Promise<string[]> {
  const { stdout } = await cli(['__complete', 'zsh', ...words.split(' '), ''], { env });
  return stdout.split('\n').slice(1, -1);
}

const SANDBOX = {
  GPUCLOUD_API_KEY: undefined,
  GPUCLOUD_BASE_URL: undefined,
  GPUCLOUD_PROFILE: 'sandbox',
};

async function create(name: string): Promise<string> {
  const { stdout } = await world.cli(['instances', 'create', name, ...HARDWARE, '-q']);
  return stdout.trim();
}

const terminate = (name: string) =>
  world.cli(['instances', 'terminate', name, '--yes', '--wait', '-q']);

describe('instances', () => {
  test('offers an instance until it is terminated', async () => {
    const cli = (...argv: string[]) => world.cli(argv, { env: SANDBOX });
    await cli('instances', 'create', 'trainer', ...HARDWARE);
    expect(await offered('instances stop', SANDBOX)).toEqual(['trainer:PROVISIONING']);
    await cli('instances', 'wait', 'trainer');
    expect(await offered('instances stop', SANDBOX)).toEqual(['trainer:ACTIVE']);
    await cli('instances', 'terminate', 'trainer', '-y', '--wait');
    expect(await offered('instances stop', SANDBOX)).toEqual([]);
  });

  // The job's status, not that of its instance; none for a command that may run.
  test.each([
    ['EXITED', {}],
    ['EXITED', { ended_at: null }],
    ['LOST', { exit_code: null, command_started_at: '', lost_at: '' }],
    ['TERMINATED', { exit_code: null, command_started_at: '' }],
    ['job', { exit_code: null, command_started_at: '', ended_at: null }],
  ])('describes a job as %s: %j', async (status, job) => {
    const id = await create('trainer');
    await putJob(world.env, { id, name: 'trainer' }, job);
    expect(await offered('jobs logs')).toEqual([`trainer:${status}`]);
  });

  test('offers terminated instances only for reorder', async () => {
    await create('first');
    await create('second');
    await terminate('first');
    expect(await offered('instances get')).toEqual([expect.stringMatching(/^second:/)]);
    expect(await offered('instances reorder')).toEqual(['first:TERMINATED']);
  });

  test('offers the ID of a terminated instance if a living one has its name', async () => {
    const id = await create('trainer');
    await terminate('trainer');
    await create('trainer');
    expect(await offered('instances get')).toEqual([expect.stringMatching(/^trainer:/)]);
    expect(await offered('instances reorder')).toEqual([`${id}:TERMINATED`]);
  });

  test('does not offer an untracked instance', async () => {
    await create('kept');
    const id = await create('dropped');
    await world.cli(['instances', 'untrack', id, '--yes']);
    await world.cli(['instances', 'list', '--all']);
    expect(await offered('instances get')).toEqual([expect.stringMatching(/^kept:/)]);
  });

  test('offers offers and images by slug, and no instance after a sandbox reset', async () => {
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE], { env: SANDBOX });
    await world.cli(['sandbox', 'reset', '-y'], { env: SANDBOX });
    expect(await offered('instances stop', SANDBOX)).toEqual([]);
    expect(await offered('instances create --offer', SANDBOX)).toEqual([
      '8x-h100-80gb-sxm5:2,359.60 ₽/h',
      'a100-80gb:189.50 ₽/h',
      'h100-80gb:299.95 ₽/h',
      'rtx-3090:54.00 ₽/h, out of stock',
      'rtx-4090:89.90 ₽/h',
    ]);
    expect(await offered('instances create --image', SANDBOX)).toEqual([
      'ubuntu-22-04:image',
      'ubuntu-24-04:image',
      'windows-server-2022:image',
    ]);
  });

  test("offers only the instances of the profile's account if a command prints its key", async () => {
    const own = { GPUCLOUD_API_KEY: undefined, GPUCLOUD_BASE_URL: undefined };
    const { GPUCLOUD_API_KEY: key, GPUCLOUD_BASE_URL: url = '' } = world.env;
    const file = join(world.home, 'key');
    await writeFile(file, `${key}\n`);
    const login = ['login', '--profile', 'work', '--base-url', url];
    const { code } = await world.cli([...login, '--key-command', `cat ${file}`], { env: own });
    expect(code).toBe(0);
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE], { env: own });
    const accounts = join(world.home, 'state', 'journal');
    const [service = ''] = await readdir(accounts);
    const [account = ''] = (await readdir(join(accounts, service))).filter((one) => one[0] !== '@');
    await cp(join(accounts, service, account), join(accounts, service, 'another'), {
      recursive: true,
    });
    expect(await offered('instances stop', own)).toEqual(['trainer:PROVISIONING']);
  });

  test("offers the offers and images of another service, by the user's names", async () => {
    await create('trainer');
    await world.cli(['catalog', 'add', 'offer', 'abc', '--name', 'My Offer']);
    expect(await offered('instances create --offer')).toEqual([
      'my-offer:offer',
      expect.stringMatching(/^rtx-4090:89\.90 ₽\/h on \d{4}-\d\d-\d\d$/),
    ]);
    expect(await offered('catalog remove')).toHaveLength(3);
  });
});

describe('drives, SSH keys and templates', () => {
  const file = (kind: string) =>
    join(world.home, 'state', 'cache', 'names', '-env', `${kind}.json`);

  test('offers what a list or a change showed last', async () => {
    expect(await offered('drives get')).toEqual([]);
    await world.cli(['drives', 'create', 'my data', '--size', '10', '-y']);
    await world.cli(['drives', 'create', 'other', '--size', '10', '-y']);
    await world.cli(['templates', 'get', 'vllm']);
    expect(await offered('drives get')).toEqual(['my data:AVAILABLE', 'other:AVAILABLE']);
    expect(await offered('instances create --drive')).toEqual(await offered('drives get'));
    expect(await offered('templates get')).toEqual(['jupyterlab:template', 'vllm:template']);
    await world.cli(['drives', 'update', 'my data', '--name', 'big']);
    expect(await offered('drives get')).toEqual(['big:AVAILABLE', 'other:AVAILABLE']);
    await rm(file('drive'));
    await world.cli(['drives', 'list']);
    expect(await offered('drives get')).toEqual(['big:AVAILABLE', 'other:AVAILABLE']);
  });

  test('offers none of another account to a profile whose address it used', async () => {
    const { GPUCLOUD_BASE_URL: url = '' } = world.env;
    await world.cli(['profiles', 'add', 'work', '--base-url', url]);
    const both = { GPUCLOUD_BASE_URL: undefined, GPUCLOUD_PROFILE: 'work' };
    await world.cli(['drives', 'create', 'data', '--size', '10', '-y'], { env: both });
    expect(await offered('drives get', both)).toEqual(['data:AVAILABLE']);
    expect(await offered('drives get', { ...both, GPUCLOUD_API_KEY: undefined })).toEqual([]);
  });

  test('stores no names of a profile whose name is a path', async () => {
    const profile = { base_url: world.env.GPUCLOUD_BASE_URL, api_key: world.env.GPUCLOUD_API_KEY };
    await mkdir(join(world.home, 'config'), { mode: 0o700 });
    const config = JSON.stringify({ current: '../up', profiles: { '../up': profile } });
    await writeFile(join(world.home, 'config', 'config.json'), config, { mode: 0o600 });
    const own = { GPUCLOUD_BASE_URL: undefined, GPUCLOUD_API_KEY: undefined };
    await world.cli(['templates', 'list', '-q'], { env: own });
    expect(await offered('templates get', own)).toEqual([]);
  });

  test('offers SSH keys until they are deleted', async () => {
    for (const [name, ...flags] of [['laptop', '--default'], ['desk']] as const) {
      const key = join(world.home, `${name}.pub`);
      await writeFile(key, `${sshPublicKey('ssh-ed25519')}\n`);
      await world.cli(['ssh-keys', 'add', key, '--name', name, ...flags]);
    }
    expect(await offered('ssh-keys delete')).toEqual(['desk:ssh-key', 'laptop:default']);
    await world.cli(['ssh-keys', 'delete', 'laptop', '-y']);
    expect(await offered('ssh-keys delete')).toEqual(['desk:ssh-key']);
  });

  test('stores only names, IDs and states, with mode 0600', async () => {
    await world.cli(['drives', 'create', 'data', '--size', '10', '-y']);
    expect((await stat(file('drive'))).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(file('drive')))).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(file('drive'), 'utf8'))).toEqual([
      { id: expect.any(String), name: 'data', state: 'AVAILABLE' },
    ]);
  });

  test('does not write again if nothing changed', async () => {
    await world.cli(['templates', 'list']);
    const before = await stat(file('template'));
    await world.cli(['templates', 'list']);
    expect((await stat(file('template'))).ino).toBe(before.ino);
  });

  test("does not fail a command if the names can't be written", async () => {
    const folder = join(world.home, 'state', 'cache', 'names');
    await mkdir(dirname(folder), { recursive: true });
    await writeFile(folder, 'a file in the place of the folder');
    expect(await world.cli(['templates', 'list', '-q'])).toMatchObject({ code: 0, stderr: '' });
    expect(await offered('templates get')).toEqual([]);
  });

  test.each(['\u0000', '{}', '[1,null,{"id":"a","name":1}]'])(
    'replaces the damaged names %j',
    async (text) => {
      await mkdir(dirname(file('template')), { recursive: true });
      await writeFile(file('template'), text);
      await chmod(file('template'), 0o600);
      expect(await offered('templates get')).toEqual([]);
      await world.cli(['templates', 'list']);
      expect(await offered('templates get')).toContain('vllm:template');
    },
  );
});

test('offers the good names of a damaged file', async () => {
  const file = join(world.home, 'state', 'cache', 'names', '-env', 'template.json');
  await mkdir(dirname(file), { recursive: true });
  const names = [null, 'x', { id: 'a', name: 'b', state: 'c' }, { id: 'd', name: 'e' }];
  await writeFile(file, JSON.stringify(names));
  await chmod(file, 0o600);
  expect(await offered('templates get')).toEqual(['b:c']);
});

describe('names with unusual characters', () => {
  test.each(HOSTILE)('offers the ID instead of the name %j', (name) => {
    expect(candidates('drive', [{ id: 'drive-1', name, state: 'AVAILABLE' }])).toEqual([
      { value: 'drive-1', help: 'AVAILABLE' },
    ]);
  });

  test.each(HOSTILE)('shows no state %j, and no hostile ID', (text) => {
    expect(candidates('drive', [{ id: 'a', name: 'b', state: text }])).toEqual([
      { value: 'b', help: 'drive' },
    ]);
    expect(candidates('drive', [{ id: text, name: text, state: '' }])).toEqual([]);
  });

  test('offers names with blanks, brackets and letters of any script', () => {
    const plain = ['my data', 'Диск (2)', '数据-1', 'a@b', 'x:y/z', '_', 'a'.repeat(100)];
    const odd = ['', ' a', 'a ', 'a  b', '-a', '(a)', 'a,b', 'Д,b', ' Д', '-Д', 'a'.repeat(101)];
    expect([...plain, ...odd].filter(isPlain)).toEqual(plain);
  });

  test('offers the IDs of resources whose names differ only in case', () => {
    const names = [
      { id: '1', name: 'Data', state: '' },
      { id: '2', name: 'data', state: '' },
    ];
    expect(candidates('drive', names).map(({ value }) => value)).toEqual(['1', '2']);
  });

  test('offers at most 300 names', () => {
    const drives = Array.from({ length: 5000 }, (_, at) => ({
      id: `id-${at}`,
      name: `drive-${at}`,
      state: '',
    }));
    const all = candidates('drive', drives);
    expect(continuing(all, '')).toHaveLength(300);
    expect(continuing(all, 'Drive-49').map(({ value }) => value)).toEqual(
      all.map(({ value }) => value).filter((value) => value.startsWith('drive-49')),
    );
    expect(continuing(all.slice(0, 300), 'x')).toHaveLength(300);
    const [rtx, other] = ['RTX 4090', 'h100'].map((value) => ({ value, help: '' }));
    expect(spelledOtherwise([rtx, other] as never, 'rtx-4')).toEqual([rtx]);
    expect(spelledOtherwise([rtx, other] as never, 'h')).toEqual([]);
  });

  test('offers only plain text for any text', () => {
    const text = anyText();
    fc.assert(
      fc.property(fc.array(fc.record({ id: text, name: text, state: text })), (names) => {
        for (const { value, help } of candidates('drive', names)) {
          expect(value).not.toMatch(/[$`'"\\;&|<>*?![\]{}~#\u0000-\u001f\u007f-\u009f]|^-/);
          expect(help).not.toMatch(/[$`'"\\;&|<>*?![\]{}~#\u0000-\u001f\u007f-\u009f]|^-/);
        }
      }),
    );
  });

  test('offers IDs instead of unusual names from the service', async () => {
    const other = await createWorld({
      handler: () =>
        ok(HOSTILE.map((name, at) => ({ id: `drive-${at}`, name, status: 'AVAILABLE' }))),
    });
    await other.cli(['drives', 'list']);
    const lines = await offered('drives get', {}, { ...world, cli: other.cli });
    const ids = HOSTILE.map((_, at) => `drive-${at}`).sort();
    expect(lines).toEqual(ids.map((id) => `${id}:AVAILABLE`));
  });
});
