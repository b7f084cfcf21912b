import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import {
  addInclude,
  ensureIncludable,
  hostsFile,
  withoutTaken,
  writeHosts,
} from '../../src/ssh/hosts/ssh-config.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { fc, runs } from '../support/random.ts';

const OURS = 'Include /state/ssh/*.conf';

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

describe('the Include line in ~/.ssh/config', () => {
  test('adds the Include line once, above the unchanged content', { timeout: 60_000 }, async () => {
    await mkdir(join(folder, '.ssh'));
    const line = fc.constantFrom(
      'Host *',
      'Match all',
      '  IdentityFile ~/.ssh/id',
      'Include other',
      `# ${OURS}`,
      '',
    );
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc
        .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'))
        .map(([lines, end]) => Buffer.from(lines.join(end))),
    );
    await fc.assert(
      fc.asyncProperty(content, async (before) => {
        await writeFile(config, before);
        expect(await addInclude(config, OURS)).toBe(true);
        expect(await addInclude(config, OURS)).toBe(false);
        const after = await readFile(config);
        const end = before.includes('\r\n') ? '\r\n' : '\n';
        expect(after.equals(Buffer.concat([Buffer.from(`${OURS}${end}`), before]))).toBe(true);
      }),
      { numRuns: runs(150) },
    );
    expect(await readdir(join(folder, '.ssh'))).toEqual(['config']);
  });

  test('adds the Include line even if a Host block already contains it', async () => {
    await mkdir(join(folder, '.ssh'));
    await writeFile(config, `Host one\n  ${OURS}\n`);
    expect(await addInclude(config, OURS)).toBe(true);
    expect(await readFile(config, 'utf8')).toBe(`${OURS}\nHost one\n  ${OURS}\n`);
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
