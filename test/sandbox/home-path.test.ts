import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inHome } from '../../src/sandbox/ssh/home-path.ts';

let folder: string;
let home: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'home-path-')));
  home = join(folder, 'home');
  await mkdir(join(home, 'sub', 'deeper'), { recursive: true });
  await symlink('sub/deeper', join(home, 'deep'));
  await symlink('../file', join(home, 'deep', 'back'));
  await mkdir(join(folder, 'home-2'));
  await writeFile(join(folder, 'secret'), '');
  await symlink('../secret', join(home, 'up'));
  await symlink(join(folder, 'not-yet'), join(home, 'new'));
  await symlink(folder, join(home, 'out'));
  await symlink('sub', join(home, 'in'));
  await symlink('up', join(home, 'twice'));
  await symlink('loop', join(home, 'loop'));
  await symlink(home, join(folder, 'link-to-home'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('a path of sftp in a sandbox instance', () => {
  test.each([
    ['.', ''],
    ['', ''],
    ['new-file', 'new-file'],
    ['sub/../sub/file', 'sub/file'],
    ['in/file', 'sub/file'],
    ['in', 'sub'],
    ['deep/back', 'sub/file'],
    ['..file', '..file'],
  ])('accepts the sftp path %j in the home folder', async (path, found) => {
    expect(await inHome(home, path)).toBe(join(home, found));
    expect(await inHome(join(folder, 'link-to-home'), path)).toBe(join(home, found));
  });

  test('accepts an absolute sftp path in a sandbox instance', async () => {
    expect(await inHome(home, join(home, 'in', 'file'))).toBe(join(home, 'sub', 'file'));
  });

  test.each([
    ...['..', '../secret', '../home-2', 'sub/../../secret', '/etc/passwd', '/', 'up', 'twice'],
    ...['new', 'out', 'out/secret', 'out/home/../secret', 'loop'],
  ])('rejects an sftp path outside the home folder: %j', async (path) => {
    await expect(inHome(home, path)).rejects.toMatchObject({
      code: 'EACCES',
      message: `${path}: outside the home folder of this sandbox instance`,
    });
  });

  test('reports the link itself, so that the user can rename or delete it', async () => {
    expect(await inHome(home, 'up', false)).toBe(join(home, 'up'));
    await expect(inHome(home, 'out/secret', false)).rejects.toMatchObject({ code: 'EACCES' });
  });

  test('rejects an sftp path in a missing folder with ENOENT', async () => {
    await expect(inHome(home, 'none/file')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
