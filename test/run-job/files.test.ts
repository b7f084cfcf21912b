import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listFiles } from '../../src/run-job/copy/files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Lists the folder with these files and patterns. */
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

test('distinguishes upper from lower case', async () => {
  const paths = ['Data/a', 'data/b'];
  expect(await listed(paths, 'data/')).toEqual(['.gpucloudignore', 'Data/a']);
});

test('applies --exclude after .gpucloudignore, and reads no .gitignore', async () => {
  const paths = ['.gitignore', 'a.bin', 'keep.bin'];
  await writeFile(join(folder, '.gitignore'), '*');
  expect(await listed(paths, '*.bin\n!keep.bin\n', ['keep.bin'])).toEqual([
    '.gitignore',
    '.gpucloudignore',
  ]);
});
