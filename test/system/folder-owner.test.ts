import fs, { chownSync, lstatSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openConfig } from '../../src/config/index.ts';
import { remedyOf } from '../../src/journal/files.ts';
import { privateFolder, readOwn, replaceFile, takeFolderOwner } from '../../src/system/files.ts';
import { withLock } from '../../src/system/lock.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { needs } from '../support/needs.ts';

const [USER, GROUP] = [65_534, 4712];

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const ownerOf = (...names: string[]) => {
  const { uid, gid } = lstatSync(join(folder, ...names));
  return [uid, gid];
};

describe("root in another user's folder", needs('root'), () => {
  beforeEach(() => chownSync(folder, USER, GROUP));

  test('gives new folders, files and locks to the owner of their folder', async () => {
    await privateFolder(join(folder, 'a', 'b'));
    await replaceFile(join(folder, 'a', 'b', 'file'), 'text');
    await withLock(join(folder, 'a', 'file'), async () => {
      expect(ownerOf('a', 'file.lock')).toEqual([USER, GROUP]);
    });
    await openConfig(join(folder, 'config')).change((file) => ({ ...file, current: 'sandbox' }));
    for (const name of ['a', 'a/b', 'a/b/file', 'config', 'config/config.json']) {
      expect(ownerOf(name), name).toEqual([USER, GROUP]);
    }
    expect(lstatSync(join(folder, 'a', 'b', 'file')).mode & 0o777).toBe(0o600);
  });

  test('leaves no folder and no lock that it may not give to the owner', async () => {
    const fault = Object.assign(new Error('no'), { code: 'EPERM' });
    vi.spyOn(fs, 'lchownSync').mockImplementation(() => {
      throw fault;
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    await expect(privateFolder(join(folder, 'a'))).rejects.toBe(fault);
    await expect(withLock(join(folder, 'file'), async () => 'done')).rejects.toBe(fault);
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  test('takes files back from root when it rewrites them', async () => {
    writeFileSync(join(folder, 'file'), 'by an earlier version');
    expect(ownerOf('file')).toEqual([0, 0]);
    await replaceFile(join(folder, 'file'), 'text');
    expect(ownerOf('file')).toEqual([USER, GROUP]);
  });

  test('keeps the owner of a file that it rewrites for its user', async () => {
    for (const [uid, gid] of [
      [0, 4712],
      [4711, 0],
    ] as const) {
      await replaceFile(join(folder, 'file'), 'text', { owner: { uid, gid } });
      expect(ownerOf('file')).toEqual([uid, gid]);
    }
  });

  test('leaves files of other users, and its own files in its own folders', async () => {
    writeFileSync(join(folder, 'theirs'), '');
    chownSync(join(folder, 'theirs'), 4711, 4711);
    takeFolderOwner(join(folder, 'theirs'));
    expect(ownerOf('theirs')).toEqual([4711, 4711]);
    await mkdir(join(folder, 'own'));
    await replaceFile(join(folder, 'own', 'file'), 'text');
    expect(ownerOf('own', 'file')).toEqual([0, 0]);
  });

  test("names the folder's owner if it may not give a file to that user", () => {
    const error = Object.assign(new Error(), { code: 'EPERM' });
    expect(remedyOf(error, folder)).toBe(
      `give the folder one owner: sudo chown -R ${USER} ${folder}`,
    );
    chownSync(folder, 0, 0);
    expect(remedyOf(error, folder)).toContain(`sudo chown -R "$(id -u)" ${folder}`);
  });

  test.each([
    [USER, 'text'],
    [0, 'text'],
    [4711, undefined],
  ])('reads a file of uid %d as %j', (uid, text) => {
    const path = join(folder, 'file');
    writeFileSync(path, 'text');
    chownSync(path, uid, uid);
    expect(readOwn(path)?.toString()).toBe(text);
  });
});
