import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { chmod, lutimes, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { difference } from '../../src/jobs/files/changed.ts';
import { copyIn } from '../../src/jobs/files/copy-in.ts';
import { listFiles, overviewOf } from '../../src/jobs/files/files.ts';
import type { RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import { WORK } from '../../src/jobs/remote/supervisor.ts';
import { startPiped } from '../../src/system/programs.ts';
import { manualClock } from '../support/clock.ts';
import { needs, programAt } from '../support/needs.ts';
import { treeOf } from './fetch-world.ts';
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
  const { entries } = await listFiles(folder, { exclude, gitignore: true });
  return entries.flatMap(({ path, kind }) => (kind === 'file' ? [path] : []));
}

const ALL = { exclude: [], gitignore: true };

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
  await expect(listFiles(folder, ALL)).rejects.toThrow('.gpucloudignore: must be UTF-8');
});

test('rejects a file as the folder', async () => {
  const file = join(folder, 'a');
  await writeFile(file, 'x');
  await expect(listFiles(file, ALL)).rejects.toThrow(`--sync: the folder "${file}" can't be read`);
});

test('applies --exclude after .gpucloudignore, which counts instead of .gitignore', async () => {
  const paths = ['.gitignore', 'a.bin', 'keep.bin', 'sub/.gitignore', 'sub/b'];
  for (const path of ['.gitignore', 'sub/.gitignore']) await put(path, '*');
  expect(await listed(paths.slice(1), '*.bin\n!keep.bin\n', ['keep.bin'])).toEqual([
    '.gitignore',
    '.gpucloudignore',
    'sub/.gitignore',
    'sub/b',
  ]);
});

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

/** .gitignore files with all that decides, each on the same files. */
const FILES = ['a.log', 'b/a.log', 'b/c/a.log', 'b/c/x', 'b/x', 'b*/x', 'build/x', '!x', '#x'];

test.each<[string, Record<string, string>]>([
  ['none', {}],
  ['a name in all folders', { '.gitignore': '*.log\nbuild/\n' }],
  ['a nested name', { 'b/.gitignore': '*.log' }],
  ['a nested path', { 'b/.gitignore': '/x\nc/a.log\n' }],
  ['a nested folder', { 'b/.gitignore': 'c/  \r\n# no\n\n' }],
  ['a nested negated path', { '.gitignore': '*.log', 'b/.gitignore': '!/c/a.log ' }],
  ['a nested negation', { '.gitignore': '*.log', 'b/.gitignore': '!a.log', 'b/c/.gitignore': '*' }],
  ['a folder included again', { '.gitignore': 'b/c/', 'b/.gitignore': '!c/' }],
  ['nothing of an excluded folder', { '.gitignore': 'b/', 'b/.gitignore': '!x' }],
  ['a folder with special characters', { 'b*/.gitignore': '/x' }],
  ['escaped characters', { '.gitignore': '\\!x\n\\#x\n' }],
  ['escaped characters below', { 'b/.gitignore': '\\#x\n/\n\\!x\n!\\!x\n**/x\n' }],
  ['all but one', { '.gitignore': '/*\n!/b\n/b/*\n!/b/c\n' }],
])('leaves out what git ignores: %s', needs('git'), async (_what, ignores) => {
  for (const path of FILES) await put(path, 'x');
  for (const [path, text] of Object.entries(ignores)) await put(path, text);
  execFileSync('git', ['init', '-q'], { cwd: folder });
  const words = ['ls-files', '-z', '--others', '--exclude-per-directory=.gitignore'];
  const expected = execFileSync('git', words, { cwd: folder, encoding: 'utf8' });
  const { entries } = await listFiles(folder, ALL);
  const paths = entries.flatMap(({ path, kind }) => (kind === 'file' ? [path] : []));
  expect(paths.sort()).toEqual(expected.split('\0').filter(Boolean).sort());
  const all = await listFiles(folder, { exclude: [], gitignore: false });
  expect(all.count).toBe(FILES.length + Object.keys(ignores).length);
});

/** No patterns, but `change` runs when they are read a second time: in a folder that was just listed. */
function whenListed(change: () => void): readonly string[] {
  let reads = 0;
  const iterator = () => {
    reads += 1;
    if (reads === 2) change();
    return [].values();
  };
  return Object.assign([], { [Symbol.iterator]: iterator });
}

test('lists nothing of what vanishes meanwhile, and rejects a file that it can not read', async () => {
  for (const path of ['.gitignore', 'gone', 'left', 'sub/a']) await put(path, '');
  const exclude = whenListed(() => {
    for (const path of ['gone', 'sub']) rmSync(join(folder, path), { recursive: true });
  });
  const { entries } = await listFiles(folder, { exclude, gitignore: true });
  expect(entries.map(({ path }) => path)).toEqual(['.gitignore', 'left', 'sub']);
  await mkdir(join(folder, 'sub'));
  const file = (path: string) => join(folder, 'sub', path);
  const replace = () => {
    rmSync(file(''), { recursive: true });
    writeFileSync(join(folder, 'sub'), '');
  };
  const unread = listFiles(folder, { exclude: whenListed(replace), gitignore: true, flag: 'sync' });
  const there = join(folder, 'sub');
  await expect(unread).rejects.toThrow(`sync: the folder "${there}" can't be read (ENOTDIR)`);
  for (const path of ['.gitignore', 'sub']) await rm(join(folder, path));
  await put('sub/.gitignore', '');
  const again = whenListed(replace);
  const listing = listFiles(folder, { exclude: again, gitignore: true, flag: 'sync' });
  const text = `sync: the file "${file('.gitignore')}" can't be read (ENOTDIR)`;
  await expect(listing).rejects.toThrow(text);
});

test(
  'reads no .gitignore that is a link, and skips what it can not copy',
  needs('Linux'),
  async () => {
    await put('rules', '*');
    await symlink('rules', join(folder, '.gitignore'));
    await mkdir(Buffer.from(join(folder, 'odd-\xff'), 'latin1'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const { entries, special } = await listFiles(folder, ALL);
    expect({ paths: entries.map(({ path }) => path), special }).toEqual({
      paths: ['.gitignore', 'rules'],
      special: ['odd-\ufffd', 'pipe'],
    });
  },
);

test('names the largest entries, and counts what it leaves out but .git', async () => {
  await put('.gitignore', 'data/\n*.bin\n');
  await put('.git/objects', 'x'.repeat(900));
  for (const [path, size] of [
    ['data/a', 300],
    ['data/sub/b', 200],
    ['c.bin', 50],
    ['src/a', 100],
    ['src/b', 20],
    ['notes', 110],
    ['z', 7],
  ] as const) {
    await put(path, 'x'.repeat(size));
  }
  const files = await listFiles(folder, ALL);
  await symlink('data', join(folder, 'link'));
  const leftOut = ['gone', 'gone/', 'link', 'c.bin', 'data/', 'z'];
  const counted = async (most: number) => {
    const { count, bytes, isPart, largest } = (await overviewOf({ ...files, leftOut }, most))
      .leftOut;
    return [count, bytes, isPart, largest.map(({ path }) => path).join(' ')];
  };
  expect(await Promise.all([1, 2, 3, 5, 6].map(counted))).toEqual([
    [1, 0, true, 'gone gone/ link'],
    [2, 50, true, 'c.bin gone gone/'],
    [3, 350, true, 'data/ c.bin gone'],
    [5, 557, true, 'data/ c.bin z'],
    [5, 557, false, 'data/ c.bin z'],
  ]);
  expect(await overviewOf(files)).toEqual({
    largest: [
      { path: 'src', bytes: 120 },
      { path: 'notes', bytes: 110 },
      { path: '.gitignore', bytes: 12 },
    ],
    leftOut: {
      count: 3,
      bytes: 550,
      largest: [
        { path: 'data/', bytes: 500 },
        { path: 'c.bin', bytes: 50 },
      ],
      isPart: false,
    },
  });
});

test('resends a file if its size, time or executable mode changed', needs('Linux'), async () => {
  const [here, there] = [join(folder, 'here'), join(folder, WORK)];
  for (const path of [here, there]) await mkdir(path, { recursive: true });
  // Each bit of a mode: the copy's umask leaves only these.
  const bits = Array.from({ length: 12 }, (_, at) => 1 << at);
  const modes = bits.map((bit) => `mode-${bit}`);
  for (const name of ['same', 'script', 'touched', 'longer', 'gone', 'linked', ...modes]) {
    for (const path of [here, there]) {
      await writeFile(join(path, name), 'x');
      await chmod(join(path, name), 0o644);
      await utimes(join(path, name), 1_700_000_000, 1_700_000_000);
    }
  }
  for (const bit of bits) await chmod(join(here, `mode-${bit}`), 0o644 ^ bit);
  await chmod(join(here, 'script'), 0o755);
  await utimes(join(here, 'touched'), 1_700_000_001, 1_700_000_001);
  // Of the same mode, size and time.
  await chmod(join(here, 'linked'), 0o755);
  await rm(join(there, 'linked'));
  await symlink('x', join(there, 'linked'));
  await lutimes(join(there, 'linked'), 1_700_000_000, 1_700_000_000);
  await writeFile(join(here, 'longer'), 'xy');
  await utimes(join(here, 'longer'), 1_700_000_000, 1_700_000_000);
  for (const path of [here, there]) {
    await mkdir(join(path, 'sub'));
    await symlink('same', join(path, 'link'));
  }
  const { signal } = new AbortController();
  const shell = localShell(folder, ['sh']);
  const all = await listFiles(here, ALL);
  await rm(join(here, 'gone'));
  const { files, inTheWay } = await difference(all, { shell, signal });
  const { entries, count, bytes } = files;
  expect(inTheWay).toEqual([]);
  // --sync always resends folders and links, since they are small.
  const kept = bits.filter((bit) => (bit & 0o755) !== 0).map((bit) => `mode-${bit}`);
  const sent = ['gone', 'link', 'linked', 'longer', ...kept.sort(), 'script', 'sub', 'touched'];
  expect(entries.map(({ path }) => path)).toEqual(sent);
  expect({ count, bytes }).toEqual({ count: 13, bytes: 13 });
});

describe('copying again to an instance', needs('Linux', 'busybox', 'rsync'), () => {
  const copyFrom = async (here: string, shell: RemoteShell, hasRsync: boolean, isAgain: boolean) =>
    copyIn(await listFiles(here, ALL), {
      shell,
      signal: new AbortController().signal,
      hasRsync,
      isAgain,
      startPiped: (program) => startPiped({ ...program, env: process.env }, 'linux'),
      clock: manualClock(),
      onChanged: () => undefined,
      onProgress: () => undefined,
    });

  test.each([
    ['mkdir', true],
    ['xargs', false],
  ])('reports the error of a failed %s', async (name, hasRsync) => {
    await put('here/a', 'x');
    await put(`${WORK}/a/b`, 'x');
    await put(`bin/${name}`, '#!/bin/sh\necho "no space" >&2; exit 3\n');
    await chmod(join(folder, 'bin', name), 0o755);
    const copying = copyFrom(
      join(folder, 'here'),
      localShell(folder, ['sh'], join(folder, 'bin')),
      hasRsync,
      true,
    );
    await expect(copying).rejects.toThrow('Could not copy files in: no space');
  });

  test.each([
    ['tar', [], false],
    ['busybox', ['tar', 'find', 'stat', 'xargs', 'rm'], false],
    ['rsync', [], true],
  ])('replaces folders by files and files by folders with %s', async (_what, busybox, hasRsync) => {
    const here = join(folder, 'here');
    // rsync starts this as ssh: -l USER HOST COMMAND.
    await put('ssh', '#!/bin/sh\nshift 3; cd "$(dirname "$0")" && exec "$@"\n');
    await chmod(join(folder, 'ssh'), 0o755);
    await mkdir(join(folder, 'bin'));
    for (const name of busybox)
      await symlink(programAt('busybox') ?? '', join(folder, 'bin', name));
    const ssh = { words: [join(folder, 'ssh')], user: 'nobody', host: 'nowhere' };
    const shell = { ...localShell(folder, ['sh'], join(folder, 'bin')), ssh };
    const copy = (isAgain: boolean) => copyFrom(here, shell, hasRsync, isAgain);
    await put('here/a/b/c', 'x');
    await put("here/it's\nd", 'x');
    await put('here/d', 'x');
    await symlink('a', join(here, 'link'));
    await copy(false);
    await put(`${WORK}/own/result`, 'stays');
    await rm(join(here, 'a'), { recursive: true });
    for (const path of ['d', 'link']) await rm(join(here, path));
    await put('here/a', 'file');
    for (const path of ['here/d/e', 'here/link/f']) await put(path, 'new');
    await copy(true);
    await copy(true);
    expect(await treeOf(join(folder, WORK))).toEqual({
      a: 'file',
      'd/': '',
      'd/e': 'new',
      "it's\nd": 'x',
      'link/': '',
      'link/f': 'new',
      'own/': '',
      'own/result': 'stays',
    });
  });

  test('keeps nothing of the names that a hostile instance lists', async () => {
    await put('here/a', 'x');
    await utimes(join(folder, 'here', 'a'), 1, 1);
    // The first two lines only resemble one of the file.
    const odd = `printf 'x 81a4 1 1 ./a\\n81a4 1 1 ./a\\rb\\n'`;
    await put(
      'bin/find',
      `#!/bin/sh\n${odd}\nyes "81a4 1 1 ./$(printf %0200d 1)" | head -n 200000\n`,
    );
    await chmod(join(folder, 'bin', 'find'), 0o755);
    await mkdir(join(folder, WORK), { recursive: true });
    const files = await listFiles(join(folder, 'here'), ALL);
    const shell = localShell(folder, ['sh'], join(folder, 'bin'));
    const { signal } = new AbortController();
    global.gc?.();
    const before = process.memoryUsage().heapUsed;
    expect(await difference(files, { shell, signal })).toEqual({ files, inTheWay: [] });
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
    await put('bin/find', '#!/bin/sh\nhead -c 10000000 /dev/zero | tr "\\0" x\nsleep 60\n');
    await expect(difference(files, { shell, signal })).rejects.toThrow('too long a name');
  });
});
