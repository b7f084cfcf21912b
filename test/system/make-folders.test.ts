import { existsSync } from 'node:fs';
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeFolders } from '../../src/system/files.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { needs } from '../support/needs.ts';

let root: string;
beforeEach(async () => {
  root = await temporaryFolder();
});

describe('makeFolders', () => {
  test('creates each folder with mode 0700, and returns the first new one', async () => {
    const path = join(root, 'a', 'b', 'c');
    expect(makeFolders(path, 0o700)).toBe(join(root, 'a'));
    for (const part of ['a', 'a/b', 'a/b/c']) {
      expect((await stat(join(root, part))).mode & 0o777).toBe(0o700);
    }
    expect(makeFolders(path, 0o700)).toBeUndefined();
    expect(makeFolders(join(path, 'd'), 0o700)).toBe(join(path, 'd'));
  });

  test('follows a symlink to a folder', async () => {
    await mkdir(join(root, 'real'));
    await symlink(join(root, 'real'), join(root, 'link'));
    expect(makeFolders(join(root, 'link'), 0o700)).toBeUndefined();
    makeFolders(join(root, 'link', 'new'), 0o700);
    expect(existsSync(join(root, 'real', 'new'))).toBe(true);
  });

  test("throws if a file or a dangling symlink has the folder's path", async () => {
    await writeFile(join(root, 'file'), '');
    await symlink(join(root, 'nowhere'), join(root, 'link'));
    for (const path of ['file', 'file/below', 'file/far/below', 'link']) {
      const code = `${join(root, path.replace(/\/.*/, ''))} is not a folder`;
      expect(() => makeFolders(join(root, path), 0o700)).toThrow(
        Object.assign(new Error(code), { code }),
      );
    }
  });

  test("throws without endless retries if it can't create a folder", needs('Linux'), () =>
    expect(() => makeFolders('/proc/gpucloud/below', 0o700)).toThrow('ENOENT'),
  );
});
