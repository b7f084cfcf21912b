import { lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { makeFolder, type Unpacking, unpack } from '../../src/jobs/files/unpack.ts';
import { needs } from '../support/needs.ts';
import { treeOf } from './fetch-world.ts';
import { type RawEntry, rawEntry, rawTar } from './raw-tar.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-unpack-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const link = (name: string, linkname: string): RawEntry => ({ name, type: '2', linkname });
const hard = (name: string, linkname: string): RawEntry => ({ name, type: '1', linkname });

/** Unpacks an archive, and returns all that it did. */
async function unpacked(archive: Buffer, mayBe?: Unpacking['mayBe']) {
  const [skipped, failed]: string[][] = [[], []];
  const into: Unpacking = {
    ...{ folder, links: [], hasFiles: false, mayBe },
    onSkipped: (path) => skipped?.push(path),
    onFailed: (path, { message }) => failed?.push(`${path}: ${message}`),
  };
  async function* chunks() {
    // Headers and contents are not aligned to the chunks of a connection.
    for (let at = 0; at < archive.length; at += 700) yield archive.subarray(at, at + 700);
  }
  const fault = await unpack(chunks(), into).then(
    () => undefined,
    (error: Error) => (error instanceof CliError ? error.message : 'broken'),
  );
  const { links, hasFiles, at } = into;
  const left = { fault, tree: await treeOf(folder), links, skipped, failed, hasFiles, at };
  return JSON.parse(JSON.stringify(left).replaceAll(folder, 'FOLDER'));
}

const NOTHING = { tree: {}, links: [], skipped: [], failed: [], hasFiles: false };
const [A, Z] = [
  { name: 'a', content: 'one' },
  { name: 'z', content: 'two' },
];

test.each<[string, RawEntry[], object]>([
  ['nothing', [], {}],
  ['the folder itself', [{ name: './', type: '5' }], {}],
  ['a folder alone', [{ name: './sub/', type: '5' }], { tree: { 'sub/': '' } }],
  ['a file', [A], { tree: { a: 'one' }, hasFiles: true }],
  ['a contiguous file', [{ ...A, type: '7' }], { tree: { a: 'one' }, hasFiles: true }],
  [
    'names with dots',
    [
      { name: './/.//a..b', content: '1' },
      { name: '..c//./d..', content: '2' },
      { name: '...', content: '3' },
    ],
    { tree: { 'a..b': '1', '..c/': '', '..c/d..': '2', '...': '3' }, hasFiles: true },
  ],
  [
    'a link alone',
    [link('./sub/l', '../a')],
    { tree: { 'sub/': '' }, links: [{ path: 'sub/l', target: '../a' }], hasFiles: true },
  ],
  [
    'hard links',
    [A, hard('b', 'a'), hard('c', './/a'), hard('d', 'none'), hard('sub/e', 'c')],
    {
      tree: { a: 'one', b: 'one', c: 'one', 'sub/': '', 'sub/e': 'one' },
      skipped: ['d'],
      hasFiles: true,
    },
  ],
  [
    'a hard link to a folder',
    [{ name: 'a', type: '5' }, hard('b', 'a')],
    { tree: { 'a/': '' }, skipped: ['b'] },
  ],
  [
    'a device, and the same name again',
    [{ name: './dev', type: '3' }, A, { ...Z, name: 'a' }, Z],
    { tree: { a: 'one', z: 'two' }, skipped: ['dev', 'a'], hasFiles: true },
  ],
  [
    'a path below a file',
    [A, { name: 'a/b', content: 'x' }, Z],
    {
      tree: { a: 'one', z: 'two' },
      failed: [
        expect.stringMatching(/^a\/b: Could not copy files out: a\/b can't be written \(E\w+\)$/),
      ],
      hasFiles: true,
    },
  ],
  [
    'a path out of the folder',
    [A, { name: './b/../c', content: 'x' }, Z],
    {
      ...{ tree: { a: 'one' }, hasFiles: true, at: 'b/../c' },
      fault:
        'Could not copy files out: the instance sent "./b/../c", which is not a path in the folder',
    },
  ],
  [
    'a hard link out of the folder',
    [hard('b', '/etc/passwd')],
    {
      at: 'b',
      fault:
        'Could not copy files out: the instance sent "/etc/passwd", which is not a path in the folder',
    },
  ],
  [
    'a negative size',
    [A, { name: 'b', size: -512 }, Z],
    {
      ...{ tree: { a: 'one' }, hasFiles: true, at: 'b' },
      fault: 'Could not copy files out: the instance sent "b" without a size',
    },
  ],
])('unpacks %s', needs('POSIX'), async (_what, entries, expected) => {
  expect(await unpacked(rawTar(entries))).toEqual({ ...NOTHING, ...expected });
});

test('unpacks only what a pattern matches', async () => {
  const asked: string[] = [];
  const mayBe = (name: string) => {
    asked.push(name);
    return name !== 'z';
  };
  expect(await unpacked(rawTar([{ name: './b/c/d', content: '1' }, A, Z]), mayBe)).toEqual({
    ...{
      ...NOTHING,
      tree: { a: 'one', 'b/': '', 'b/c/': '', 'b/c/d': '1' },
      hasFiles: true,
      at: 'z',
    },
    fault: 'Could not copy files out: the instance sent "z", which does not match',
  });
  expect(asked).toEqual(['b', 'a', 'z']);
});

test('says in which entry an archive broke', async () => {
  const whole = Buffer.concat([rawEntry(A), rawEntry({ name: './b', content: 'x'.repeat(5_000) })]);
  expect(await unpacked(whole.subarray(0, 3_000))).toEqual({
    ...{ ...NOTHING, tree: { a: 'one' }, hasFiles: true, at: 'b' },
    fault: 'broken',
  });
});

test(
  'keeps the modes and times of an archive, as far as they are safe',
  needs('POSIX'),
  async () => {
    const umask = process.umask(0o027);
    try {
      await mkdir(join(folder, 'made'));
      await unpacked(
        rawTar([
          { name: 'all', mode: 0o7777, mtime: 1 },
          { name: 'none', mode: 0, mtime: 1_700_000_000 },
          { name: 'some', mode: 0o6541 },
          // No date has this time.
          { name: 'late', mode: 0o644, mtime: 2 ** 60 },
          { name: 'all-folder', type: '5', mode: 0o7777 },
          { name: 'no-folder', type: '5', mode: 0 },
          { name: 'new/file', mode: 0o666 },
        ]),
      );
      await makeFolder(join(folder, 'own'));
      const names = (await readdir(folder, { recursive: true })).sort();
      const started = Date.now() / 1000 - 600;
      const seen = names.map(async (name) => {
        const { mode, mtimeMs } = await lstat(join(folder, name));
        const time = mtimeMs / 1000 > started ? 'now' : mtimeMs / 1000;
        return `${name} ${(mode & 0o7777).toString(8)} ${time}`;
      });
      expect(await Promise.all(seen)).toEqual([
        'all 750 1',
        'all-folder 750 now',
        'late 640 now',
        'made 750 now',
        'new 750 now',
        'new/file 640 1700000000',
        'no-folder 700 now',
        'none 0 1700000000',
        'own 750 now',
        'some 540 1700000000',
      ]);
      process.umask(0);
      await makeFolder(join(folder, 'open'));
      expect((await lstat(join(folder, 'open'))).mode & 0o7777).toBe(0o777);
    } finally {
      process.umask(umask);
    }
  },
);
