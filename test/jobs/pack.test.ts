import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
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
  const listener = {
    onChanged: (path: string) => changed.push(path),
    onProgress: () => undefined,
    now: Date.now,
  };
  for await (const entry of packed(files, listener).pipe(extract())) {
    const { name, type, linkname } = entry.header;
    const own = await text(entry);
    content[name] = type === 'file' ? own : `${type} ${linkname ?? ''}`.trim();
  }
  return { changed, content };
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
  });
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
