import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyIn } from '../../src/jobs/files/copy-in.ts';
import { listFiles } from '../../src/jobs/files/files.ts';
import { packed } from '../../src/jobs/files/pack.ts';
import type { RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import { manualClock } from '../support/clock.ts';
import { needs } from '../support/needs.ts';
import { openFiles } from '../support/open-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-pack-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Returns the entries of a packed list and the files reported as changed. */
async function read(files: Parameters<typeof packed>[0]) {
  const changed: string[] = [];
  const content: Record<string, string> = {};
  const progress: number[] = [];
  const listener = {
    onChanged: (path: string) => changed.push(path),
    onProgress: (bytes: number) => progress.push(bytes),
    now: Date.now,
  };
  for await (const entry of packed(files, listener).pipe(extract())) {
    const { name, type, linkname } = entry.header;
    const own = await text(entry);
    content[name] = type === 'file' ? own : `${type} ${linkname ?? ''}`.trim();
  }
  return { changed, content, progress: [...new Set(progress)] };
}

test('packs files, folders and links, and reports files that changed since the listing', async () => {
  await mkdir(join(folder, 'sub'));
  await writeFile(join(folder, 'sub', 'stays'), 'content');
  await symlink('sub/stays', join(folder, 'link'));
  for (const name of ['gone', 'replaced']) await writeFile(join(folder, name), 'x');
  await symlink('sub', join(folder, 'was-link'));
  await mkdir(join(folder, 'was-sub'));
  const files = await listFiles(folder, { exclude: [], gitignore: true });
  for (const name of ['gone', 'replaced', 'was-link', 'was-sub'])
    await rm(join(folder, name), { recursive: true });
  await mkdir(join(folder, 'replaced'));
  for (const name of ['was-link', 'was-sub']) await writeFile(join(folder, name), 'x');
  expect(await read(files)).toEqual({
    changed: ['gone', 'replaced', 'was-link', 'was-sub'],
    content: { link: 'symlink sub/stays', sub: 'directory', 'sub/stays': 'content' },
    progress: [7],
  });
});

test('packs modes and times without owners, and reports the bytes', needs('POSIX'), async () => {
  for (const [name, bytes, mode, time] of [
    ['big', 600_000, 0o751, 1_000],
    ['early', 10, 0o640, 1_999.75],
    // May change again in this second.
    ['late', 0, 0o604, 2_001],
    ['now', 3, 0o4700, 2_000.25],
  ] as const) {
    const path = join(folder, name);
    await writeFile(path, 'x'.repeat(bytes));
    await chmod(path, mode);
    await utimes(path, time, time);
  }
  const files = await listFiles(folder, { exclude: [], gitignore: true });
  const [seen, progress]: [string[], number[]] = [[], []];
  const listener = {
    onChanged: (path: string) => seen.push(`changed: ${path}`),
    onProgress: (bytes: number) => progress.push(bytes),
    now: () => 2_000_999,
  };
  for await (const entry of packed(files, listener).pipe(extract())) {
    const { name, mode = 0, mtime, size, uid, gid, uname, gname } = entry.header;
    const time = Number(mtime) / 1000;
    seen.push(`${name} ${mode.toString(8)} ${time} ${size} ${uid} ${gid} "${uname}" "${gname}"`);
    entry.resume();
  }
  expect(seen).toEqual([
    'big 751 1000 600000 0 0 "" ""',
    'early 640 1999 10 0 0 "" ""',
    'late 604 2000 0 0 0 "" ""',
    'now 4700 1999 3 0 0 "" ""',
  ]);
  const ofBig = progress.filter((bytes) => bytes < 600_000);
  expect(ofBig.length).toBeGreaterThan(0);
  expect(progress).toEqual([...ofBig, 600_000, 600_010, 600_013]);
});

test('fails if a file can not be read, although the program on the instance succeeds', async () => {
  await writeFile(join(folder, 'file'), '');
  const entries = [{ path: 'file/a', kind: 'file', size: 1 }] as const;
  const files = { ...(await listFiles(folder, { exclude: [], gitignore: true })), entries };
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stderr.end();
  const kill = () => undefined;
  const running = { stdin, stdout, stderr, kill, ended: Promise.resolve(0) };
  const shell = { open: async () => running } as unknown as RemoteShell;
  const how = { shell, hasRsync: false, isAgain: false, clock: manualClock() };
  const rest = { onChanged: kill, onProgress: kill, signal: new AbortController().signal };
  const copying = copyIn(files, { ...how, ...rest, startPiped: async () => running });
  await expect(copying).rejects.toThrow('Could not copy files in: ENOTDIR');
});

// A sysfs file reports the size of a page but contains less.
const SHORT = '/sys/kernel/uevent_seqnum';

test('pads a file that shrank since the listing', needs(SHORT), async () => {
  const entries = [{ path: 'uevent_seqnum', kind: 'file', size: 4096 }] as const;
  const files = {
    folder: '/sys/kernel',
    entries,
    count: 1,
    bytes: 4096,
    special: [],
    leftOut: [],
    rules: undefined,
  };
  const { changed, content } = await read(files);
  expect(changed).toEqual(['uevent_seqnum']);
  expect(content.uevent_seqnum).toMatch(/^\d+\n\0+$/);
  expect(content.uevent_seqnum).toHaveLength(4096);
});

test('closes the open file and rejects if the connection breaks', needs('Linux'), async () => {
  await writeFile(join(folder, 'large'), Buffer.alloc(3_000_000));
  const files = await listFiles(folder, { exclude: [], gitignore: true });
  const listener = { onChanged: () => undefined, onProgress: () => undefined, now: Date.now };
  for (const bytes of [1, 1_000_000]) {
    let left = bytes;
    const broken = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _encoding, done) {
        left -= chunk.length;
        setImmediate(done, left > 0 ? undefined : new Error('write EPIPE'));
      },
    });
    await expect(pipeline(packed(files, listener), broken)).rejects.toThrow('write EPIPE');
  }
  await expect.poll(() => openFiles(folder)).toEqual([]);
});
