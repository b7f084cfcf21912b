import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os, { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { faultOf } from '../../src/system/error-code.ts';
import { checkArrived, privateFolder, replaceFile } from '../../src/system/files.ts';
import { journalIn, RENTAL as request } from '../support/journal.ts';

// Checks the order of calls, which decides the state after a power cut. test/faults/order.test.ts
// checks it with strace.

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-durable-'));
});
/** Files that `watched` has seen opened, and not closed. */
const open = new Set<number>();
afterEach(async () => {
  expect([...open]).toEqual([]);
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await rm(folder, { recursive: true });
});

/** Records all later calls on files in the folder. */
function watched(): string[] {
  const calls: string[] = [];
  const paths = new Map<number, string>();
  const named = (path: fs.PathLike) =>
    relative(folder, String(path)).replace(/(\.[\w-]+)*\.tmp$/, '.tmp');
  const { openSync, closeSync, fsyncSync, linkSync, renameSync, rmSync } = fs;
  vi.spyOn(fs, 'openSync').mockImplementation((path, flags, mode) => {
    const fd = openSync(path, flags, mode);
    paths.set(fd, named(path));
    open.add(fd);
    return fd;
  });
  vi.spyOn(fs, 'closeSync').mockImplementation((fd) => {
    closeSync(fd);
    open.delete(fd);
  });
  vi.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
    fsyncSync(fd);
    calls.push(`fsync ${paths.get(fd)}`);
  });
  vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
    linkSync(from, to);
    calls.push(`link ${named(to)}`);
  });
  vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    renameSync(from, to);
    calls.push(`rename ${named(from)} ${named(to)}`);
  });
  vi.spyOn(fs, 'rmSync').mockImplementation((path, options) => {
    rmSync(path, options);
    calls.push(`remove ${named(path)}`);
  });
  syncBuiltinESMExports();
  return calls;
}

/** Simulates a disk that writes half of each file and reports success. */
function halfDisk(): void {
  const { writeFileSync } = fs;
  vi.spyOn(fs, 'writeFileSync').mockImplementation((file, content) => {
    const text = String(content);
    writeFileSync(file, text.slice(0, text.length / 2));
  });
  syncBuiltinESMExports();
}

describe('replaceFile', () => {
  test('syncs a file before renaming it, and then its folder', async () => {
    const calls = watched();
    await replaceFile(join(folder, 'a'), 'new');
    expect(calls).toEqual(['fsync a.tmp', 'rename a.tmp a', 'fsync ']);
  });

  test('keeps the old content after a partial write, and removes the temporary file', async () => {
    await writeFile(join(folder, 'a'), 'old');
    halfDisk();
    await expect(replaceFile(join(folder, 'a'), 'new content')).rejects.toThrow('does not contain');
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['a']);
  });

  test('refuses to replace a pipe', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const error = await replaceFile(pipe, 'new').catch((thrown: unknown) => thrown);
    expect(faultOf(error)).toBe('not a regular file');
    expect((await lstat(pipe)).isFIFO()).toBe(true);
    expect(await readdir(folder)).toEqual(['pipe']);
  });

  /** Simulates Windows with another program that holds the file during the first renames. */
  function heldFor(renames: number): () => number {
    const { renameSync } = fs;
    let left = renames;
    vi.spyOn(os, 'platform').mockReturnValue('win32');
    vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
      left -= 1;
      if (left >= 0) throw Object.assign(new Error('held'), { code: 'EPERM' });
      renameSync(from, to);
    });
    syncBuiltinESMExports();
    return () => renames - left;
  }

  test('waits on Windows until another program closes the file', async () => {
    const tries = heldFor(3);
    await replaceFile(join(folder, 'a'), 'new');
    expect(tries()).toBe(4);
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('new');
    expect(await readdir(folder)).toEqual(['a']);
  });

  test('throws on Windows if another program keeps the file open', async () => {
    await writeFile(join(folder, 'a'), 'old');
    const past = performance.now();
    heldFor(Number.POSITIVE_INFINITY);
    vi.spyOn(performance, 'now').mockReturnValueOnce(past - 1_001);
    await expect(replaceFile(join(folder, 'a'), 'new')).rejects.toThrow('held');
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['a']);
  });

  test('creates a file with mode 0600', async () => {
    await replaceFile(join(folder, 'a'), 'new');
    expect(fs.statSync(join(folder, 'a')).mode & 0o777).toBe(0o600);
  });
});

test('creates private folders, and syncs the parent of each', async () => {
  const calls = watched();
  await privateFolder(join(folder, 'state', 'journal', 'account'));
  expect(calls).toEqual(['fsync ', 'fsync state', 'fsync state/journal']);
  for (const made of ['state', 'state/journal', 'state/journal/account']) {
    expect(fs.statSync(join(folder, made)).mode & 0o777).toBe(0o700);
  }
});

describe('a rental request', () => {
  const requests = 'journal/@sandbox/user-1/requests';
  const journal = () => journalIn(folder);

  test("exits with 9 after a partial write, and removes the request's file", async () => {
    await journal().open({ ...request, name: 'other' }, new Set());
    halfDisk();
    await expect(journal().open(request, new Set())).rejects.toMatchObject({ exitCode: 9 });
    expect(await readdir(join(folder, requests))).toEqual(['other.json']);
  });
});

test('names the file that lacks what was written, not its content', async () => {
  const path = join(folder, 'file');
  await writeFile(path, 'secret');
  checkArrived(path, 'secret');
  checkArrived(path, Buffer.from('secret'));
  for (const content of ['secre', 'secrets', Buffer.from('x')])
    expect(() => checkArrived(path, content)).toThrow(
      new Error(`${path} does not contain what was written to it`),
    );
});
