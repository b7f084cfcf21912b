import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { ConfigFile } from '../../src/config/file.ts';
import { openConfig, profileOf, withProfile } from '../../src/config/index.ts';
import { notLocked } from '../../src/config/store.ts';
import { CliError, usageError } from '../../src/errors.ts';
import { needs } from '../support/needs.ts';

const CANARY = 'svc_sk_canary';
const WORK = { base_url: 'https://api.example.com/v1', api_key: CANARY };
let folder: string;
let path: string;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'gpucloud-config-')), 'config');
  path = join(folder, 'config.json');
});

afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

const addWork = (file: ConfigFile) => withProfile(file, 'work', WORK);

async function refusal(work: () => Promise<unknown>): Promise<CliError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

async function mode(of: string): Promise<string> {
  return ((await stat(of)).mode & 0o777).toString(8);
}

/** Returns all text of an error. */
function spoken(error: CliError): string {
  return [error.message, error.hint, error.stack, String(error.cause)].join('\n');
}

test("treats a missing config file as empty, and doesn't create one", async () => {
  const config = openConfig(folder);
  expect(config.path).toBe(path);
  expect(await config.read()).toEqual({ profiles: {} });
  await expect(stat(folder)).rejects.toThrow('ENOENT');
});

test('restricts the mode of a readable config file at the next change', async () => {
  await mkdir(folder);
  await writeFile(path, '{"profiles":{}}', { mode: 0o666 });
  await chmod(path, 0o666);
  await openConfig(folder).change(addWork);
  expect(await mode(path)).toBe('600');
});

test('keeps unknown fields at every level, even one named __proto__', async () => {
  await mkdir(folder);
  const home = '{"base_url":"https://h.example.com","region":"n","account":{"id":"1","x":2}}';
  const head = '{"version":3,"__proto__":{"x":1},"a.b":{"c":[1,null]},"current":"home",';
  await writeFile(path, `${head}"profiles":{"home":${home}}}`);
  await openConfig(folder).change(addWork);
  // Compares text, since object comparison ignores a field named __proto__.
  expect(JSON.stringify(JSON.parse(await readFile(path, 'utf8')))).toBe(
    `${head}"profiles":{"home":${home},"work":${JSON.stringify(WORK)}}}`,
  );
});

test.each(['__proto__', 'constructor', 'a.b', 'prototype'])(
  'stores a profile named %s, even after later changes',
  async (name) => {
    const config = openConfig(folder);
    expect((await config.read()).profiles[name]).toBeUndefined();
    await config.change((file) => withProfile(file, name, WORK));
    await config.change((file) => withProfile(file, 'other', WORK));
    const file = await config.read();
    expect(profileOf(file, name)).toEqual(WORK);
    expect(file.profiles.toString).toBeUndefined();
    expect(Object.keys(file.profiles).sort()).toEqual([name, 'other'].sort());
    expect('base_url' in {}).toBe(false);
  },
);

test('accepts a byte order mark at the start of the config file, and keeps others', async () => {
  await mkdir(folder);
  const file = { profiles: { work: { base_url: 'https://a.example', notify: ['\ufeffsay'] } } };
  for (const mark of ['', '\ufeff']) {
    await writeFile(path, `${mark}${JSON.stringify(file)}`);
    expect(await openConfig(folder).read()).toEqual(file);
  }
});

const half = `{"profiles":{"work":{"base_url":"https://a.example","api_key":"${CANARY}"`;
test.each<[string, string | Buffer, string]>([
  ['null', 'null', 'the whole'],
  ['a list', '[1]', 'the whole'],
  ['a number', '7', 'the whole'],
  ['a string', `"${CANARY}"`, 'the whole'],
  ['nothing', '', 'empty'],
  ['only blanks', ' \n', 'empty'],
  ['truncated JSON', half, 'not valid JSON'],
  ['only a key', CANARY, 'not valid JSON'],
  ['a key and a syntax error', `${half} x}}}`, 'not valid JSON'],
  ['text that is not UTF-8', Buffer.from('{"profiles":{"w\xe9":{}}}', 'latin1'), 'UTF-8'],
  ['UTF-16', Buffer.from('{"profiles":{}}', 'utf16le'), 'not valid JSON'],
  ['NUL bytes', Buffer.alloc(64), 'not valid JSON'],
  ['an object without profiles', '{}', 'profiles'],
  ['profiles as a list', '{"profiles":[]}', 'profiles'],
  ['profiles as null', '{"profiles":null}', 'profiles'],
  ['current as a number', '{"current":1,"profiles":{}}', 'current'],
  ['a profile as a string', `{"profiles":{"work":"${CANARY}"}}`, 'profiles.work'],
  [
    'a profile without a base URL',
    `{"profiles":{"work":{"api_key":"${CANARY}"}}}`,
    'profiles.work.base_url',
  ],
  [
    'a key as a list',
    `{"profiles":{"work":{"base_url":"x","api_key":["${CANARY}"]}}}`,
    'profiles.work.api_key',
  ],
  [
    'an account without an id',
    '{"profiles":{"work":{"base_url":"x","account":{}}}}',
    'profiles.work.account.id',
  ],
  [
    'a wrong profile named __proto__',
    '{"profiles":{"__proto__":{"base_url":1}}}',
    'profiles.__proto__.base_url',
  ],
])(
  'rejects %s in the config file, and leaves the file unchanged',
  async (_name, content, words) => {
    await mkdir(folder);
    await writeFile(path, content);
    const before = await readFile(path);
    const config = openConfig(folder);
    for (const work of [() => config.read(), () => config.change(addWork)]) {
      const error = await refusal(work);
      expect(error.failure).toBe('storage');
      expect(error.exitCode).toBe(9);
      expect(error.message).toContain(path);
      expect(error.message).toContain(words);
      expect(spoken(error)).not.toContain('canary');
    }
    expect((await readFile(path)).equals(before)).toBe(true);
    expect(await readdir(folder)).toEqual(['config.json']);
  },
);

test('rejects a folder in place of the config file', async () => {
  await mkdir(join(path, 'inside'), { recursive: true });
  const config = openConfig(folder);
  for (const work of [() => config.read(), () => config.change(addWork)]) {
    const error = await refusal(work);
    expect([error.failure, error.message]).toEqual(['storage', expect.stringContaining(path)]);
    expect(error.message).toContain('a folder');
  }
  expect(await readdir(path)).toEqual(['inside']);
});

test('rejects a pipe in place of the config file, without waiting for the pipe', async () => {
  await mkdir(folder);
  execFileSync('mkfifo', [path]);
  const error = await refusal(() => openConfig(folder).read());
  expect(error.message).toContain('not a regular file');
});

test('rejects a file in place of the config folder', async () => {
  await writeFile(folder, 'mine');
  const config = openConfig(folder);
  for (const work of [() => config.read(), () => config.change(addWork)]) {
    const error = await refusal(work);
    expect(error.failure).toBe('storage');
    expect(error.message).toContain(path);
  }
  expect(await readFile(folder, 'utf8')).toBe('mine');
});

test('writes the config file through a symlink to its target', async () => {
  const real = join(folder, '..', 'dotfiles', 'gpucloud.json');
  await mkdir(join(real, '..'));
  await mkdir(folder);
  await writeFile(real, '{"profiles":{}}');
  await symlink(real, path);
  await openConfig(folder).change(addWork);
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect(JSON.parse(await readFile(real, 'utf8'))).toEqual({ profiles: { work: WORK } });
  expect(await readdir(join(real, '..'))).toEqual(['gpucloud.json']);
  expect(await readdir(folder)).toEqual(['config.json']);
});

test('keeps concurrent changes made through the config file and through a symlink', async () => {
  const names = Array.from({ length: 10 }, (_, at) => `profile-${at}`);
  const linked = join(folder, 'linked', 'config.json');
  await mkdir(join(folder, 'linked'), { recursive: true });
  await openConfig(folder).change((file) => withProfile(file, 'work', WORK));
  await symlink(path, linked);
  const changes = names.map((name, at) =>
    openConfig(at % 2 === 0 ? folder : join(folder, 'linked')).change((file) =>
      withProfile(file, name, WORK),
    ),
  );
  await Promise.all(changes);
  const { profiles } = await openConfig(folder).read();
  expect(Object.keys(profiles).sort()).toEqual([...names, 'work']);
});

test('does not overwrite a dangling symlink to the config file', async () => {
  await mkdir(folder);
  await symlink(join(folder, 'missing', 'gpucloud.json'), path);
  for (const work of [() => openConfig(folder).read(), () => openConfig(folder).change(addWork)]) {
    const error = await refusal(work);
    expect([error.failure, error.message]).toEqual([
      'storage',
      expect.stringContaining('a symlink'),
    ]);
  }
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
});

test("rethrows the edit's error, and writes nothing", async () => {
  const config = openConfig(folder);
  await config.change(addWork);
  const before = await readFile(path);
  const mine = usageError('no such profile');
  await expect(
    config.change(() => {
      throw mine;
    }),
  ).rejects.toBe(mine);
  expect((await readFile(path)).equals(before)).toBe(true);
  expect(await readdir(folder)).toEqual(['config.json']);
});

test('rejects an edit with an invalid result', async () => {
  const config = openConfig(folder);
  await config.change(addWork);
  const before = await readFile(path);
  const error = await refusal(() =>
    config.change((file) => ({ ...file, current: 7 as unknown as string })),
  );
  expect(error.failure).toBe('storage');
  expect((await readFile(path)).equals(before)).toBe(true);
  expect(await readdir(folder)).toEqual(['config.json']);
});

test("removes a killed process's temporary files, and no others", async () => {
  await mkdir(folder);
  const left = ['config.json.new', 'config.json.new.tmp-1234567890abcdef'];
  const theirs = [
    ...['config.json.bak', 'new', 'other.json.1.new', 'config.json.newer'],
    ...['config.json.new.tmp-1234567890abcde', 'config.json.new.tmp-1234567890abcdef0'],
  ];
  for (const name of [...left, ...theirs]) await writeFile(join(folder, name), CANARY);
  await openConfig(folder).change(addWork);
  expect((await readdir(folder)).sort()).toEqual(['config.json', ...theirs].sort());
});

// The lock, or conf's temporary file, has too long a path. The file itself has not.
test.each([
  [4080, "it can't be locked: ENAMETOOLONG"],
  [4072, 'ENAMETOOLONG'],
])('keeps the settings in a folder with a path of %i bytes', needs('Linux'), async (bytes, why) => {
  let deep = folder;
  while (deep.length < bytes - 250) deep = join(deep, 'x'.repeat(200));
  deep = join(deep, 'x'.repeat(bytes - deep.length - 1));
  await mkdir(deep, { recursive: true });
  const config = openConfig(deep);
  expect(await refusal(() => config.change(addWork))).toMatchObject({
    failure: 'storage',
    message: `could not save the change to ${config.path}: ${why}`,
  });
  expect(await readdir(deep)).toEqual([]);
});

test("names the disk's error for a file that can't be read", needs('Linux'), async () => {
  await mkdir(folder);
  await symlink('/proc/self/mem', path);
  expect(await refusal(() => openConfig(folder).read())).toMatchObject({
    failure: 'storage',
    message: `${path}: it can't be read: the disk has an I/O error. The file is unchanged.`,
  });
});

test('reports a folder in place of the temporary config file', async () => {
  const config = openConfig(folder);
  await config.change(addWork);
  const before = await readFile(path);
  await mkdir(`${path}.new`);
  const error = await refusal(() => config.change((file) => ({ ...file, current: 'work' })));
  expect(error.failure).toBe('storage');
  expect(error.message).toBe(
    `could not save the change to ${path}: could not remove ${path}.new: it is a folder`,
  );
  expect((await readFile(path)).equals(before)).toBe(true);
});

test('reads a file or none while another process creates it', async () => {
  const folders = Array.from({ length: 200 }, (_, at) => join(folder, String(at)));
  for (const one of folders) await mkdir(one, { recursive: true });
  const turn = new Int32Array(new SharedArrayBuffer(4));
  const other = new Worker(
    `const { renameSync, writeFileSync } = require('node:fs');
    const { folders, turn } = require('node:worker_threads').workerData;
    for (const [at, one] of folders.entries()) {
      while (Atomics.load(turn, 0) < at);
      writeFileSync(one + '/new', '{"profiles":{}}', { mode: 0o600 });
      renameSync(one + '/new', one + '/config.json');
    }`,
    { eval: true, workerData: { folders, turn } },
  );
  onTestFinished(async () => void (await other.terminate()));
  await once(other, 'online');
  const exited = once(other, 'exit');
  for (const [at, one] of folders.entries()) {
    const config = openConfig(one);
    Atomics.store(turn, 0, at);
    for (let time = 0; time < 20; time += 1) expect((await config.read()).profiles).toEqual({});
  }
  await exited; // the folders are removed before onTestFinished
});

test("keeps the config file's owner when root changes the file", needs('root'), async () => {
  await mkdir(folder);
  await writeFile(path, '{"profiles":{}}');
  for (const owner of [
    [65534, 65533],
    [0, 65533],
  ] as const) {
    await chown(path, owner[0], owner[1]);
    await openConfig(folder).change(addWork);
    const { uid, gid } = await stat(path);
    expect([uid, gid, await mode(path)]).toEqual([...owner, '600']);
  }
});

test("reports a lock that another process holds or that can't be created", () => {
  expect(notLocked('/c.json', new Error('held'), true)).toMatchObject({
    failure: 'storage',
    message:
      'could not save the change to /c.json: another gpucloud process is still changing the file',
  });
  const full = Object.assign(new Error('ENOSPC: mkdir'), { code: 'ENOSPC' });
  expect(notLocked('/c.json', full, false).message).toContain('no space');
});
