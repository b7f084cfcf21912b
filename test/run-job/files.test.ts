import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changedFiles } from '../../src/run-job/copy/changed.ts';
import { listFiles } from '../../src/run-job/copy/files.ts';
import { WORK } from '../../src/run-job/remote/supervisor.ts';
import { needs } from '../support/needs.ts';
import { localShell } from './local-shell.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Creates these files and patterns, then lists the files to copy. */
async function listed(
  paths: readonly string[],
  ignored: string,
  exclude: readonly string[] = [],
): Promise<string[]> {
  for (const path of [...paths, '.gpucloudignore']) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), path === '.gpucloudignore' ? ignored : 'x');
  }
  const { entries } = await listFiles(folder, exclude);
  return entries.flatMap(({ path, kind }) => (kind === 'file' ? [path] : []));
}

test('lists files that a later pattern includes again', async () => {
  const paths = ['a.bin', 'keep.bin', 'data/b.bin', 'data/keep.bin', 'logs/keep.bin'];
  expect(await listed(paths, '*.bin\nlogs/\n!keep.bin\n')).toEqual([
    '.gpucloudignore',
    'data/keep.bin',
    'keep.bin',
  ]);
});

test('matches --exclude patterns case-sensitively', async () => {
  const paths = ['Data/a', 'data/b'];
  expect(await listed(paths, 'data/')).toEqual(['.gpucloudignore', 'Data/a']);
});

test('reads a pattern file with a BOM and CRLF line ends', async () => {
  expect(await listed(['a.bin', 'b'], '\ufeff*.bin\r\n\r\n# none\r\n')).toEqual([
    '.gpucloudignore',
    'b',
  ]);
});

test('rejects a UTF-16 pattern file', async () => {
  await writeFile(join(folder, 'secret'), 'x');
  await writeFile(join(folder, '.gpucloudignore'), '\ufeffsecret\r\n', 'utf16le');
  await expect(listFiles(folder, [])).rejects.toThrow('.gpucloudignore: must be UTF-8');
});

test('rejects a file as the folder', async () => {
  const file = join(folder, 'a');
  await writeFile(file, 'x');
  await expect(listFiles(file, [])).rejects.toThrow(`--sync: the folder "${file}" can't be read`);
});

test('applies --exclude after .gpucloudignore and ignores .gitignore', async () => {
  const paths = ['.gitignore', 'a.bin', 'keep.bin'];
  await writeFile(join(folder, '.gitignore'), '*');
  expect(await listed(paths, '*.bin\n!keep.bin\n', ['keep.bin'])).toEqual([
    '.gitignore',
    '.gpucloudignore',
  ]);
});

test('resends a file if its size, time or executable mode changed', needs('Linux'), async () => {
  const [here, there] = [join(folder, 'here'), join(folder, WORK)];
  for (const path of [here, there]) await mkdir(path, { recursive: true });
  for (const name of ['same', 'shared', 'script', 'touched', 'longer']) {
    for (const path of [here, there]) {
      await writeFile(join(path, name), 'x');
      await chmod(join(path, name), 0o644);
      await utimes(join(path, name), 1_700_000_000, 1_700_000_000);
    }
  }
  await chmod(join(here, 'shared'), 0o664);
  await chmod(join(here, 'script'), 0o755);
  await utimes(join(here, 'touched'), 1_700_000_001, 1_700_000_001);
  await writeFile(join(here, 'longer'), 'xy');
  await utimes(join(here, 'longer'), 1_700_000_000, 1_700_000_000);
  for (const path of [here, there]) {
    await mkdir(join(path, 'sub'));
    await symlink('same', join(path, 'link'));
  }
  const { signal } = new AbortController();
  const shell = localShell(folder, ['sh']);
  const { entries, count, bytes } = await changedFiles(await listFiles(here, []), {
    shell,
    signal,
  });
  // --sync always resends folders and links, since they are small.
  const sent = ['link', 'longer', 'script', 'sub', 'touched'];
  expect(entries.map(({ path }) => path)).toEqual(sent);
  expect({ count, bytes }).toEqual({ count: 4, bytes: 4 });
});
