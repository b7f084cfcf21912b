import { execFileSync } from 'node:child_process';
import {
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { lackOfRoom, placeOf } from '../../src/jobs/files/local-file.ts';
import { inStaging, makeLinks, moveInto } from '../../src/jobs/files/merge.ts';
import { WORK } from '../../src/jobs/remote/supervisor.ts';
import { needs, programAt } from '../support/needs.ts';
import {
  base,
  COPIER,
  faultOf,
  fetchEntries,
  fetchFile,
  fetchFrom,
  inFetchWorld,
  link,
  local,
  treeOf,
  unplaced,
  victim,
} from './fetch-world.ts';
import { type RawEntry, rawEntry, rawTar } from './raw-tar.ts';

inFetchWorld();

const KEY: RawEntry = { name: 'x/authorized_keys', content: 'foreign key' };

describe('fetching a hostile archive', needs('POSIX'), () => {
  test('writes nothing through a symlink from the same archive', async () => {
    const { skipped } = await fetchEntries(link('x', victim), KEY);
    expect(skipped).toEqual(['x']);
    expect(await treeOf(local)).toEqual({ 'x/': '', 'x/authorized_keys': 'foreign key' });
    expect(await readdir(victim)).toEqual([]);
  });

  test('writes nothing through a symlink from an interrupted attempt', async () => {
    const cut = await faultOf(fetchFrom(rawEntry(link('x', victim)), 'exit 255'));
    expect(cut.retryable).toBe(true);
    expect(await treeOf(local)).toEqual({});
    await fetchEntries(KEY);
    expect(await treeOf(local)).toEqual({ 'x/': '', 'x/authorized_keys': 'foreign key' });
    expect(await readdir(victim)).toEqual([]);
  });

  test.each([1, 600])('keeps no file without its last bytes: %d', async (missing) => {
    const whole = rawEntry({ name: 'x', content: 'a'.repeat(600) });
    const fault = await faultOf(fetchFrom(whole.subarray(0, 512 + 600 - missing)));
    expect(fault.message).toMatch(/can't be read \(.+\); the copy stopped in x$/);
    expect(await treeOf(local)).toEqual({});
  });

  test('rejects an archive whose symlinks would fill the memory', async () => {
    const long: RawEntry = { name: '././@LongLink', type: 'K', content: 'x'.repeat(60_000) };
    const pair = Buffer.concat([rawEntry(long), rawEntry(link('x', 'y'))]);
    const again = 'i=0; while [ $i -lt 99 ]; do i=$((i+1)); cat "$HOME/archive"; done';
    const archive = Buffer.concat(Array.from({ length: 17 }, () => pair));
    const fault = await faultOf(fetchFrom(archive, again));
    expect(fault.message).toContain('the archive has too many symlinks');
    expect(await treeOf(local)).toEqual({});
  });

  test('replaces existing symlinks instead of writing through them', async () => {
    await symlink(victim, join(local, 'x'));
    await symlink(join(victim, 'file'), join(local, 'y'));
    await symlink(victim, join(local, 'z'));
    await writeFile(join(victim, 'file'), 'mine');
    await fetchEntries(KEY, { name: 'y', content: 'new' }, link('z', 'y'));
    expect(await treeOf(local)).toEqual({
      'x/': '',
      'x/authorized_keys': 'foreign key',
      y: 'new',
      z: '-> y',
    });
    expect(await treeOf(victim)).toEqual({ file: 'mine' });
  });

  test.each([
    ['../victim/key'],
    ['a/../../victim/key'],
    ['/tmp/gpucloud-victim'],
    ['..'],
    ['./..//x'],
  ])('rejects the path %s in an archive', async (name) => {
    const fault = await faultOf(fetchEntries({ name: 'a', content: 'x' }, { name, content: 'x' }));
    expect(fault.message).toContain(`the instance sent "${name}"`);
    expect(fault.retryable).toBe(false);
    expect({ ...(await treeOf(local)), ...(await treeOf(victim)) }).toEqual({});
  });

  test('rejects a PAX path that leaves the folder', async () => {
    const path = 'path=../victim/key\n';
    const pax: RawEntry = { name: 'pax', type: 'x', content: `${path.length + 3} ${path}` };
    const fault = await faultOf(fetchEntries(pax, { name: 'plain', content: 'x' }));
    expect(fault.message).toContain('the instance sent "../victim/key"');
    expect(await readdir(victim)).toEqual([]);
  });

  test('creates only symlinks that stay in the folder', async () => {
    await symlink(victim, join(local, 'mine'));
    const bad = [
      link('absolute', victim),
      link('up', '..'),
      link('sub/up', '../..'),
      link('sub/deep', '../../out/a'),
      link('late', 'sub/../../victim'),
      link('chained', 'sub/top/../../victim'),
      link('through', 'mine/key'),
      link('onto', './mine'),
      link('empty', ''),
    ];
    const good = [
      link('sub/top', '..'),
      link('same', 'a'),
      link('sub/b', '../a'),
      link('new', 'n'),
    ];
    const { skipped } = await fetchEntries({ name: 'a', content: 'x' }, ...good, ...bad);
    expect(skipped).toEqual(bad.slice(0, 5).map(({ name }) => name));
    expect(await treeOf(local)).toEqual({
      a: 'x',
      mine: `-> ${victim}`,
      new: '-> n',
      same: '-> a',
      'sub/': '',
      'sub/b': '-> ../a',
      'sub/top': '-> ..',
    });
  });

  test('does not create a symlink in place of a folder or below another symlink', async () => {
    await mkdir(join(local, 'kept'));
    const { skipped } = await fetchEntries(
      link('d', '.'),
      link('d/d/l', '../..'),
      link('kept', 'a'),
    );
    expect(skipped).toEqual(['d', 'kept']);
    expect(await treeOf(local)).toEqual({ 'd/': '', 'd/d/': '', 'd/d/l': '-> ../..', 'kept/': '' });
  });

  test('does not create a symlink below a symlink that it could not replace', async () => {
    await symlink(victim, join(local, 'x'));
    const skipped: string[] = [];
    await writeFile(join(local, 'file'), '');
    const links = [
      { path: 'x/l', target: 'a' },
      { path: 'file/l', target: 'a' },
      { path: 'long', target: 'a'.repeat(4096) },
      { path: 'n'.repeat(256), target: 'a' },
    ];
    await makeLinks(local, links, (path) => skipped.push(path));
    expect(skipped).toEqual(links.map(({ path }) => path));
    // The folder itself may be behind a link.
    await symlink(local, join(base, 'way'));
    await makeLinks(join(base, 'way'), [{ path: 'made', target: 'file' }], String);
    expect(await readdir(victim)).toEqual([]);
    expect(await treeOf(local)).toEqual({ file: '', made: '-> file', x: `-> ${victim}` });
  });

  test('names the path that can not be written', async () => {
    const file = join(local, 'file');
    await writeFile(file, '');
    await writeFile(join(victim, 'a'), '');
    const [none, nothing] = [join(local, 'none'), async () => undefined];
    const vanish = async (staging: string) => {
      await rm(staging, { recursive: true });
      throw new CliError('interrupted', 'Interrupted.');
    };
    const faults = await Promise.all([
      faultOf(moveInto(file, victim)),
      faultOf(inStaging(none, COPIER, nothing, nothing, () => undefined)),
      faultOf(inStaging(base, COPIER, vanish, nothing, () => undefined)),
    ]);
    const place = (from: string) => moveInto(none, from);
    faults.push(await faultOf(inStaging(victim, COPIER, nothing, place, () => undefined)));
    const [left = ''] = (await readdir(victim)).filter((name) => name.startsWith('.'));
    expect(faults.map(({ failure, message }) => [failure, message])).toEqual([
      ['storage', `Could not copy files out: ${file}/a can't be written (ENOTDIR)`],
      ['storage', `Could not copy files out: ${none} can't be written (ENOENT)`],
      ['interrupted', 'Interrupted.'],
      [
        'storage',
        `Could not copy files out: ${victim} can't be written (ENOENT); files that were not moved are in ${join(victim, left)}`,
      ],
    ]);
    // Nobody knows the free space there.
    expect(await lackOfRoom(none, 'a', 1_000_000)).toBeUndefined();
    expect(await lackOfRoom('/proc', 'a', 10 ** 16)).toBeUndefined();
    expect(await lackOfRoom(local, 'a', 10 ** 16)).toMatch(/^no space for a: it has 10000 TB/);
  });

  test('ignores owners and special modes in an archive, and skips devices and pipes', async () => {
    const types = ['3', '4', '6', 'S', 'V'];
    const specials = types.map((type) => ({ name: `type-${type}`, type, size: 0 }));
    const { skipped } = await fetchEntries(
      { name: 'suid', mode: 0o6755, uid: 4711, mtime: 2 ** 60, content: 'x' },
      { name: 'sub', type: '5', mode: 0o7700, uid: 4711 },
      { name: 'closed', type: '5', mode: 0 },
      { name: 'closed/file', mode: 0o400, content: 'y' },
      ...specials,
    );
    expect(skipped).toEqual(specials.map(({ name }) => name));
    const modes = ['suid', 'sub', 'closed', 'closed/file'].map(async (name) => {
      const { mode, uid } = await stat(join(local, name));
      return { mode: mode & 0o7777, isMine: uid === process.geteuid?.() };
    });
    expect(await Promise.all(modes)).toEqual([
      { mode: 0o755 & ~process.umask(), isMine: true },
      { mode: 0o700, isMine: true },
      { mode: 0o700, isMine: true },
      { mode: 0o400, isMine: true },
    ]);
  });

  test('creates hard links only to files of the same archive', async () => {
    await writeFile(join(victim, 'secret'), 'x');
    await symlink(victim, join(local, 'x'));
    const hard = (name: string, linkname: string): RawEntry => ({ name, type: '1', linkname });
    const { skipped } = await fetchEntries(
      { name: 'a', content: 'one' },
      hard('b', './a'),
      hard('c', 'x/secret'),
      hard('d', 'later'),
      hard('b', 'a'),
      hard('f', ''),
    );
    expect(skipped).toEqual(['c', 'd', 'b', 'f']);
    expect(await treeOf(local)).toEqual({ a: 'one', b: 'one', x: `-> ${victim}` });
    // A copy would have another time, and many links to one file could fill the disk.
    const [a, b] = await Promise.all(['a', 'b'].map((name) => stat(join(local, name))));
    expect(b?.ino).toBe(a?.ino);
    const fault = await faultOf(fetchEntries(hard('e', join('..', '..', 'victim', 'secret'))));
    expect(fault.message).toContain('the instance sent "../../victim/secret"');
  });

  test('fails at a file larger than the disk and stores the files before it', async () => {
    const archive = [
      rawEntry({ name: 'a', content: '1' }),
      rawEntry({ name: 'big', size: 10 ** 16 }),
    ];
    const fault = await faultOf(fetchFrom(Buffer.concat(archive), 'exit 1'));
    expect(fault.message).toMatch(
      /no space for big: it has 10000 TB, and the disk has .* left; the copy stopped in big; the earlier files are in /,
    );
    expect(await treeOf(local)).toEqual({ a: '1' });
  });

  test.each([
    ['a negative size', rawEntry({ name: 'a', size: -512 })],
    ['a negative size of a header', rawEntry({ name: 'a', type: 'L', size: -512 })],
    ['an endless header', rawEntry({ name: 'a', type: 'x', size: 10 ** 12 })],
    ['no header', Buffer.alloc(2048, 'x')],
    ['only zeros', Buffer.alloc(512)],
  ])('rejects a fetched archive with %s', async (_what, start) => {
    // The instance sends nothing more, so a reader that accepts this much would wait.
    const rest = start.some((byte) => byte !== 0) ? 'x' : '\0';
    const archive = Buffer.concat([start, Buffer.alloc(2 ** 20, rest)]);
    const fault = await faultOf(fetchFrom(archive, 'sleep 60'));
    expect(fault.message).toMatch(/the archive (has too long|from the instance)|without a size/);
    expect(fault.retryable).toBe(false);
    expect(await treeOf(local)).toEqual({});
  });

  test('rejects a truncated fetched archive', async () => {
    const whole = rawTar([{ name: 'a', content: 'x'.repeat(5_000) }]);
    const fault = await faultOf(fetchFrom(whole.subarray(0, 2_000)));
    expect(fault.message).toContain("the archive from the instance can't be read");
    expect(await treeOf(local)).toEqual({});
  });

  test('keeps a fetched file in staging if a local folder has its name', async () => {
    await mkdir(join(local, 'b', 'mine'), { recursive: true });
    const entries = ['a', 'b', 'c'].map((name) => ({ name, content: 'new' }));
    const fault = await faultOf(fetchEntries(...entries, link('l', 'a')));
    expect(unplaced).toEqual([true]);
    const [, staging = ''] = /; files that were not moved are in (.*)$/.exec(fault.message) ?? [];
    expect(fault.message).toBe(
      `Could not copy files out: ${join(local, 'b')} is a folder on this computer, but a file on the instance; files that were not moved are in ${staging}`,
    );
    expect(await treeOf(staging)).toEqual({ b: 'new' });
    expect((await stat(staging)).mode & 0o777).toBe(0o700);
    expect(await readdir(join(local, 'b'))).toEqual(['mine']);
    expect(await treeOf(local)).toMatchObject({ a: 'new', 'b/mine/': '', c: 'new', l: '-> a' });
    await faultOf(fetchFrom(rawTar(entries), 'exit 255'));
    expect(unplaced).toEqual([true, false]);
  });

  test('fails instead of replacing a local pipe', async () => {
    execFileSync('mkfifo', [join(local, 'a')]);
    const fault = await faultOf(fetchEntries({ name: 'a', content: 'x' }));
    expect(fault.message).toContain(
      `${join(local, 'a')} is not a regular file; files that were not moved are in`,
    );
    expect((await lstat(join(local, 'a'))).isFIFO()).toBe(true);
  });

  test('refuses to merge into the home folder or its parent', async () => {
    await fetchEntries({ name: '.bashrc', content: 'foreign' });
    const files = join(local, '.bashrc');
    for (const home of [local, join(local, 'ann')]) {
      await rm(files, { force: true });
      await mkdir(home, { recursive: true });
      const fault = await faultOf(fetchFile('results', local, home));
      expect(fault.message).toContain(
        `merge a folder into ${local}, which contains your home folder`,
      );
      const [, staging = ''] = /; files that were not moved are in (.*)$/.exec(fault.message) ?? [];
      expect(await treeOf(staging)).toEqual({ '.bashrc': 'foreign' });
      expect(await readdir(local)).not.toContain('.bashrc');
    }
  });

  test('stores the other files and fails if tar could not read everything', async () => {
    const archive = rawTar([{ name: 'a', content: '1' }]);
    const fault = await faultOf(fetchFrom(archive, 'echo "tar: ./b: Cannot open" >&2; exit 2'));
    expect(fault.message).toContain(`tar: ./b: Cannot open; the other files are in ${local}`);
    expect(await treeOf(local)).toEqual({ a: '1' });
  });

  test('merges results into those of an earlier job', async () => {
    await fetchEntries({ name: 'a/old', content: '1' }, { name: 'a/both', content: '1' });
    await fetchEntries({ name: 'a/new', content: '2' }, { name: 'a/both', content: '2' });
    expect(await treeOf(local)).toEqual({ 'a/': '', 'a/both': '2', 'a/new': '2', 'a/old': '1' });
  });

  test('merges results that twelve jobs fetch at the same time', async () => {
    const script = `#!/bin/sh
own=$(mktemp -d "$HOME/own-XXXXXX")
mkdir -p "$own/a/b/c" && touch "$own/a/b/c/$(basename "$own")"
exec ${programAt('tar')} -cf - -C "$own" .
`;
    await writeFile(join(base, 'bin', 'tar'), script, { mode: 0o755 });
    const jobs = Array.from({ length: 12 }, () => fetchFile('results', local));
    await Promise.all(jobs);
    expect(await readdir(join(local, 'a', 'b', 'c'))).toHaveLength(jobs.length);
    expect(await readdir(local)).toEqual(['a']);
  });

  test('skips a second entry with the same name', async () => {
    const twice = await fetchEntries({ name: 'a', content: '1' }, { name: './a', content: '2' });
    expect(twice.skipped).toEqual(['a']);
    expect(await treeOf(local)).toEqual({ a: '1' });
  });
});

test.each([
  ['/dev/stdout', 'other'],
  ['/dev/stdout.log', 'file'],
  ['/none/dev/fd/1', 'file'],
])('takes %s as a place of the kind %s', needs('POSIX'), async (path, kind) => {
  expect(await placeOf(path, 'log')).toEqual({ path, kind });
});

describe('fetching a file from a hostile instance', needs('POSIX'), () => {
  beforeEach(() => writeFile(join(base, WORK, 'results', 'log'), 'content'));

  test('rejects a file larger than the disk', async () => {
    const stat = `#!/bin/sh\necho ${10 ** 16}\n`;
    await writeFile(join(base, 'bin', 'stat'), stat, { mode: 0o755 });
    const fault = await faultOf(fetchFile('results/log', `${local}/`));
    expect(fault.message).toContain('no space for ./results/log: it has 10000 TB');
    expect(await treeOf(local)).toEqual({});
  });

  test('writes nothing through a symlink beside the destination', async () => {
    await writeFile(join(victim, 'bashrc'), 'mine');
    await symlink(join(victim, 'bashrc'), join(local, 'log.gpucloud-part'));
    await fetchFile('results/log', `${local}/`);
    expect(await treeOf(local)).toEqual({
      log: 'content',
      'log.gpucloud-part': `-> ${join(victim, 'bashrc')}`,
    });
    expect(await readFile(join(victim, 'bashrc'), 'utf8')).toBe('mine');
  });

  test("replaces the target of the user's symlink and keeps the symlink", async () => {
    const [file, path] = [join(victim, 'file'), join(local, 'log')];
    await writeFile(file, 'old');
    await symlink(file, path);
    await fetchFile('results/log', path);
    expect(await readlink(path)).toBe(file);
    expect(await treeOf(victim)).toEqual({ file: 'content' });
  });

  test('rejects a dangling symlink or a folder as the destination', async () => {
    const log = join(local, 'log');
    await symlink(join(victim, 'file'), log);
    const fault = await faultOf(fetchFile('results/log', log));
    expect(fault.message).toContain(`${log} is a dangling link`);
    expect(await readdir(victim)).toEqual([]);
    await rm(log);
    await mkdir(log);
    const other = await faultOf(fetchFile('results/log', local));
    expect(other.message).toContain(`${log} is a folder on this computer, but a file`);
  });

  test.each(['pipe', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])(
    'fetches nothing to %s',
    async (name) => {
      const to = name === 'pipe' ? join(local, 'pipe') : name;
      if (name === 'pipe') execFileSync('mkfifo', [to]);
      const fault = await faultOf(fetchFile('results/log', to));
      expect(fault.failure).toBe('storage');
      expect(fault.message).toContain(`${to} is not a regular file on this computer`);
    },
  );

  test.each(['pipe', 'device'])('rejects a %s as the remote file', async (kind) => {
    if (kind === 'pipe') execFileSync('mkfifo', [join(base, WORK, 'results', 'odd')]);
    const remote = kind === 'pipe' ? 'results/odd' : '/dev/zero';
    const fault = await faultOf(fetchFile(remote, join(local, 'odd')));
    expect(fault.message).toContain(`${remote} is neither a file nor a folder on the instance`);
    expect(await treeOf(local)).toEqual({});
  });
});
