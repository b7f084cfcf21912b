import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import {
  addInclude,
  ensureAccepted,
  ensureIncludable,
  hostsFile,
  withoutTaken,
  writeHosts,
} from '../../src/ssh/hosts/ssh-config.ts';
import { temporaryFolder } from '../support/afterwards.ts';

const OURS = 'Include /stäte/ssh/*.conf';

let folder: string;
let config: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  config = join(folder, '.ssh', 'config');
});

test.each<[platform: string, state: string, wrong: string | undefined]>([
  ['linux', '/a b', undefined],
  ['linux', '/a\\b', '\\'],
  ['linux', '/a\nb', '\n'],
  ...['"', '%', '*', '?', '[', '${'].map((wrong): [string, string, string] => [
    'linux',
    `/a${wrong}b`,
    wrong,
  ]),
  ['win32', 'C:\\a b', undefined],
  ['win32', 'C:\\a%b', '%'],
])('refuses on %s to include files from %j because of %j', async (platform, state, wrong) => {
  const context = { host: { platform }, folders: async () => ({ state }) } as unknown as Context;
  const fault = await ensureIncludable(context).catch((error: Error) => error.message);
  expect(fault).toBe(
    wrong &&
      `--install: ssh can't include a file from ${state}: its path contains ${JSON.stringify(wrong)}`,
  );
});

test("names the folder or file of other profiles' hosts that it can't read or write", async () => {
  const context = {
    folders: async () => ({ state: folder }),
    settings: async () => ({}),
  } as unknown as Context;
  const file = await hostsFile(context);
  await mkdir(join(folder, 'ssh', 'other.conf'), { recursive: true });
  await expect(withoutTaken([], context)).rejects.toMatchObject({
    failure: 'storage',
    message: `Could not read ${join(folder, 'ssh')} (EISDIR).`,
  });
  await mkdir(file.path);
  await expect(writeHosts(file, '')).rejects.toMatchObject({
    failure: 'storage',
    message: `Could not write ${file.path} (EISDIR).`,
  });
});

test('leaves out the host names of other profiles', async () => {
  const warnings: string[] = [];
  const context = {
    folders: async () => ({ state: folder }),
    settings: async () => ({ profile: { value: 'my.own' } }),
    err: { warn: (_code: string, text: string) => warnings.push(text.replace(/, so it .*/, '')) },
  } as unknown as Context;
  const place = join(folder, 'ssh');
  expect((await hostsFile(context)).path).toBe(join(place, 'my.own.conf'));
  await mkdir(place);
  for (const [name, hosts] of [
    ['my.own.conf', 'free'],
    ['.d.conf', 'free'],
    ['e.conf.bak', 'free'],
    ['a.conf', 'x\nHost box other\nHost both gpucloud-i-1'],
    ['b.conf', 'box'],
    ['@.c.conf', 'lab'],
    ['x@.y.conf.z.conf', 'web'],
    ['@environment.conf', 'ci'],
  ] as const)
    await writeFile(join(place, name), `Host ${hosts}\n`);
  const entry = { name: 'box', endpoint: { id: 'i-1' } };
  const hosts = ['gpucloud-i-1', 'box', 'lab', 'web', 'ci', 'both', 'free'];
  expect(await withoutTaken([{ ...entry, hosts }] as never, context)).toEqual([
    { ...entry, hosts: ['gpucloud-i-1', 'both', 'free'] },
  ]);
  expect(warnings).toEqual([
    'box already connects to an instance of profile a',
    'lab already connects to an instance of profile .c',
    'web already connects to an instance of profile x@.y.conf.z',
    "ci already connects to an instance of GPUCLOUD_API_KEY's account",
  ]);
});

test('accepts the Include line without an ssh to ask', async () => {
  const context = { start: () => Promise.reject(new Error('ENOENT')) } as unknown as Context;
  await ensureAccepted({ path: '', include: OURS }, context);
});

describe('the Include line in ~/.ssh/config', () => {
  test.each([
    ['', '\n'],
    ['Host *\nInclude other', '\n'],
    [`Match all\r\n\r\n# ${OURS}\r\n`, '\r\n'],
    ['  IdentityFile ~/.ssh/id\nHost *\r\n', '\r\n'],
    [Buffer.from([0xff, 0xc3, 10, 0, 13]), '\n'],
  ])('adds the Include line once, above the unchanged content %j', async (content, end) => {
    const before = Buffer.from(content);
    await mkdir(join(folder, '.ssh'));
    await writeFile(config, before);
    expect(await addInclude(config, OURS)).toBe(true);
    expect(await addInclude(config, OURS)).toBe(false);
    const after = Buffer.concat([Buffer.from(`${OURS}${end}`), before]);
    expect((await readFile(config)).equals(after)).toBe(true);
    expect(await readdir(join(folder, '.ssh'))).toEqual(['config']);
  });

  test('adds the Include line even if a Host block already contains it', async () => {
    await mkdir(join(folder, '.ssh'));
    await writeFile(config, `Host one\n  ${OURS}\n`);
    expect(await addInclude(config, OURS)).toBe(true);
    expect(await readFile(config, 'utf8')).toBe(`${OURS}\nHost one\n  ${OURS}\n`);
    await writeFile(config, `# My host = one\n${OURS}\n`);
    expect(await addInclude(config, OURS)).toBe(false);
  });

  test('creates a missing ssh config with mode 0600', async () => {
    await addInclude(config, OURS);
    expect((await stat(join(folder, '.ssh'))).mode & 0o777).toBe(0o700);
    expect((await stat(config)).mode & 0o777).toBe(0o600);
  });

  test('keeps the mode of the folder', async () => {
    await mkdir(join(folder, '.ssh'), { mode: 0o750 });
    await addInclude(config, OURS);
    expect((await stat(join(folder, '.ssh'))).mode & 0o777).toBe(0o750);
  });

  test('keeps a symlinked ssh config and the mode of its target', async () => {
    await mkdir(join(folder, '.ssh'));
    await mkdir(join(folder, 'dotfiles'));
    const real = join(folder, 'dotfiles', 'ssh');
    await writeFile(real, 'Host *\n');
    await chmod(real, 0o640);
    await symlink('../dotfiles/ssh', config);
    await addInclude(config, OURS);
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    expect(await readdir(join(folder, 'dotfiles'))).toEqual(['ssh']);
    expect(await readFile(real, 'utf8')).toBe(`${OURS}\nHost *\n`);
  });

  test('rejects a dangling symlink and suggests adding the line by hand', async () => {
    await mkdir(join(folder, '.ssh'));
    await symlink('nowhere', config);
    await expect(addInclude(config, OURS)).rejects.toMatchObject({
      failure: 'storage',
      message: expect.stringContaining(`Could not change ${config} (`),
      hint: `add this line by hand: ${OURS}`,
    });
    expect(await readdir(join(folder, '.ssh'))).toEqual(['config']);
  });
});
