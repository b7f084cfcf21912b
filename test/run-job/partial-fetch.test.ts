import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { WORK } from '../../src/run-job/remote/supervisor.ts';
import { needs } from '../support/needs.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/ssh-world.ts';
import {
  base,
  faultOf,
  fetchEntries,
  fetchFile,
  fetchFrom,
  inFetchWorld,
  lacks,
  link,
  local,
  treeOf,
  victim,
} from './fetch-world.ts';
import { type RawEntry, rawEntry } from './raw-tar.ts';

inFetchWorld();

/** Returns an entry whose name doesn't fit in its header. */
const longName = (name: string): RawEntry[] => [
  { name: 'long', type: 'L', content: `${name}\0` },
  { name: 'short', content: 'x' },
];

/** An entry whose name may have any characters. */
function paxName(name: string): RawEntry[] {
  const path = `path=${name}\n`;
  const pax = { name: 'pax', type: 'x', content: `${path.length + 3} ${path}` };
  return [pax, { name: 'short', content: 'x' }];
}

/** Mounts a small disk on a folder of `local`, and returns the folder. */
async function mountInLocal(size: string): Promise<string> {
  const disk = await mountSmallDisk(size);
  const mounted = join(local, 'sub');
  await mkdir(mounted);
  execFileSync('mount', ['--bind', disk.path, mounted]);
  // The folder keeps the disk until it is unmounted.
  await disk.remove();
  return mounted;
}

describe('a partly failed fetch', needs('POSIX'), () => {
  test.each([
    ['an overlong name', longName('n'.repeat(300)), 'n (ENAMETOOLONG)'],
    ['a folder with an overlong name', longName(`${'n'.repeat(300)}/b`), 'n/b (ENAMETOOLONG)'],
    ['a name with a NUL byte', paxName('n\0m'), '"n\0m" can\'t be a path'],
    ['a path below a file', [{ name: 'a/b', content: 'x' }], 'a/b (E'],
    ['a folder in place of a file', [{ name: 'a', type: '5' }], 'a (EEXIST)'],
  ])('fetches the other files and reports %s', async (_what, entries, named) => {
    const fault = await faultOf(
      fetchEntries({ name: 'a', content: '1' }, ...entries, link('c', 'a'), {
        name: 'z',
        content: '2',
      }),
    );
    expect(fault.retryable).toBe(false);
    expect(fault.message.replace(" can't be written", '')).toContain(named);
    expect(fault.message).toContain(`; the other files are in ${local}`);
    expect(await treeOf(local)).toEqual({ a: '1', c: '-> a', z: '2' });
  });

  test('lists the first six unwritten files and counts the others', async () => {
    const bad = Array.from({ length: 8 }, (_, at) => ({ name: `a/${at}`, content: 'x' }));
    const fault = await faultOf(fetchEntries({ name: 'a', content: '1' }, ...bad));
    expect(fault.message).toMatch(
      /: a\/0 can't be written \(\w+\); also not written: a\/1, a\/2, a\/3, a\/4, a\/5 and 2 more; /,
    );
  });

  test('stores the files received before the connection was lost', async () => {
    const archive = [
      rawEntry({ name: 'sub/a', content: '1' }),
      rawEntry({ name: 'b', content: 'x'.repeat(5_000) }).subarray(0, 2_000),
    ];
    const fault = await faultOf(fetchFrom(Buffer.concat(archive), 'exit 255'));
    expect(fault.retryable).toBe(true);
    expect(fault.message).toContain(`; the copy stopped in b; the earlier files are in ${local}`);
    expect(await treeOf(local)).toEqual({ 'sub/': '', 'sub/a': '1' });
  });

  test('stores the files received before an interrupt and warns about the partial one', async () => {
    const stop = new AbortController();
    const archive = [
      rawEntry({ name: 'a', content: '1' }),
      rawEntry({ name: 'b', content: 'x'.repeat(5_000) }).subarray(0, 2_000),
    ];
    await writeFile(join(base, 'archive'), Buffer.concat(archive));
    const script = '#!/bin/sh\ncat "$HOME/archive"\nexec sleep 60\n';
    await writeFile(join(base, 'bin', 'tar'), script, { mode: 0o755 });
    const fetching = fetchFile('results', local, base, stop.signal).catch(String);
    await until(() =>
      readdirSync(local, { recursive: true }).some((name) => /\/b$/.test(`${name}`)),
    );
    stop.abort(new CliError('terminated', 'Terminated.'));
    expect(await fetching).toContain('Terminated.');
    expect(lacks).toEqual([
      `Fetched only a part of ./results; the copy stopped in b; the earlier files are in ${local}`,
    ]);
    expect(await treeOf(local)).toEqual({ a: '1' });
  });

  test('reports nothing missing after an interrupt before the first byte', async () => {
    const stop = new AbortController();
    const script = `#!/bin/sh\ntouch ${join(base, 'begun')}\nexec sleep 60\n`;
    await writeFile(join(base, 'bin', 'tar'), script, { mode: 0o755 });
    const fetching = fetchFile('results', local, base, stop.signal).catch(String);
    await until(() => existsSync(join(base, 'begun')));
    stop.abort(new CliError('terminated', 'Terminated.'));
    expect(await fetching).toContain('Terminated.');
    expect(lacks).toEqual([]);
  });

  test.each([
    ["before a stream's first byte as retryable", '', true],
    ["after a stream's first bytes as final", 'printf some', false],
  ])('reports a connection cut %s', async (_when, script, retryable) => {
    await writeFile(join(base, WORK, 'log'), 'some text');
    const text = `#!/bin/sh\n${script}\nexit 255\n`;
    await writeFile(join(base, 'bin', 'cat'), text, { mode: 0o755 });
    const fault = await faultOf(fetchFile('log', '/dev/stdout'));
    expect(fault).toMatchObject({ failure: 'refused', retryable });
  });

  test('fetches only the files that fit on a small disk', needs('the right to mount'), async () => {
    const disk = await mountSmallDisk('2m');
    try {
      const to = join(disk.path, 'results');
      const results = join(base, WORK, 'results');
      const sizes = { 'best.ckpt': 100_000, 'last.ckpt': 900_000, 'older.ckpt': 3_000_000, z: 10 };
      for (const [name, size] of Object.entries(sizes)) {
        await writeFile(join(results, name), Buffer.alloc(size, 'x'));
      }
      await writeFile(join(disk.path, 'ballast'), Buffer.alloc(1_200_000));
      const fault = await faultOf(fetchFile('results', to));
      expect(lacks).toEqual([
        expect.stringMatching(/^no space for .\/results: it has 4.* left\. /),
      ]);
      for (const name of ['last.ckpt', 'older.ckpt']) expect(fault.message).toContain(name);
      expect((await readdir(to)).sort()).toEqual(['best.ckpt', 'z']);
      expect((await stat(join(to, 'best.ckpt'))).size).toBe(100_000);
    } finally {
      await disk.remove();
    }
  });

  test(
    'merges results into a disk mounted in the folder',
    needs('the right to mount'),
    async () => {
      const mounted = await mountInLocal('1m');
      try {
        await writeFile(join(mounted, 'old'), 'old');
        await symlink(join(victim, 'file'), join(mounted, 'a'));
        await fetchEntries(
          { name: 'sub/a', content: '1', mode: 0o750, mtime: 1_600_000_000 },
          { name: 'sub/new', type: '5', mode: 0o700 },
          { name: 'sub/new/b', content: '2' },
          { name: 'sub/old', content: 'new' },
          link('sub/l', 'new/b'),
          { name: 'z', content: '3' },
        );
        expect(await treeOf(local)).toEqual({
          'sub/': '',
          'sub/a': '1',
          'sub/l': '-> new/b',
          'sub/new/': '',
          'sub/new/b': '2',
          'sub/old': 'new',
          z: '3',
        });
        expect(await readdir(victim)).toEqual([]);
        const { mode, mtimeMs } = await stat(join(mounted, 'a'));
        expect({ mode: mode & 0o777, mtimeMs }).toEqual({
          mode: 0o750,
          mtimeMs: 1_600_000_000_000,
        });
        expect((await stat(join(mounted, 'new'))).mode & 0o777).toBe(0o700);
      } finally {
        execFileSync('umount', [mounted]);
      }
    },
  );

  test(
    'leaves no copy beside a file that it could not replace on a disk mounted in the folder',
    needs('the right to mount'),
    async () => {
      const mounted = await mountInLocal('64k');
      for (const path of [join(mounted, 'a'), join(victim, 'busy')]) await writeFile(path, 'old');
      execFileSync('mount', ['--bind', join(victim, 'busy'), join(mounted, 'a')]);
      try {
        const fault = await faultOf(fetchEntries({ name: 'sub/a', content: 'new' }));
        expect(fault.message).toContain(`${join(mounted, 'a')} can't be written (EBUSY)`);
        expect(await treeOf(mounted)).toEqual({ a: 'old' });
      } finally {
        execFileSync('umount', [join(mounted, 'a')]);
        execFileSync('umount', [mounted]);
      }
    },
  );

  test(
    'reports a folder that the mounted disk refuses to create',
    needs('the right to mount'),
    async () => {
      const mounted = await mountInLocal('64k');
      try {
        execFileSync('mount', ['-o', 'remount,bind,ro', mounted]);
        const entries = [
          { name: 'sub/new', type: '5' },
          { name: 'sub/new/a', content: '1' },
        ];
        const fault = await faultOf(fetchEntries(...entries));
        expect(fault.message).toContain(`${join(mounted, 'new')} can't be written (EROFS)`);
      } finally {
        execFileSync('umount', [mounted]);
      }
    },
  );

  test(
    'leaves no partial file on a full disk mounted in the folder',
    needs('the right to mount'),
    async () => {
      const mounted = await mountInLocal('64k');
      try {
        const fault = await faultOf(
          fetchEntries(
            { name: 'sub/big', content: 'x'.repeat(200_000) },
            { name: 'sub/small', content: '1' },
          ),
        );
        const [, staging = ''] =
          /; files that were not moved are in (.*)$/.exec(fault.message) ?? [];
        expect(fault.message).toContain(`${join(mounted, 'big')} can't be written (ENOSPC)`);
        expect((await stat(join(staging, 'sub', 'big'))).size).toBe(200_000);
        expect(await readdir(mounted)).toEqual(['small']);
      } finally {
        execFileSync('umount', [mounted]);
      }
    },
  );
});
