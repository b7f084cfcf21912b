import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import type { Unplaced } from '../../src/jobs/files/copy-out.ts';
import { copyOutEach, failedOf, worstOf } from '../../src/jobs/files/copy-out-each.ts';
import { WORK } from '../../src/jobs/remote/supervisor.ts';
import { manualClock } from '../support/clock.ts';
import { needs } from '../support/needs.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/ssh-world.ts';
import {
  base,
  copying,
  faultOf,
  fetchEntries,
  fetchFile,
  fetchFrom,
  inFetchWorld,
  lacks,
  link,
  local,
  treeOf,
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

const EACH = {
  clock: manualClock(),
  onBegin: () => undefined,
  onFetched: async () => undefined,
  onUnplaced: async () => undefined,
  onCut: undefined,
};

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
    'leaves nothing incomplete on a full disk, and fetches everything once there is space',
    needs('the right to mount'),
    async () => {
      const disk = await mountSmallDisk('2m');
      try {
        const names = Array.from({ length: 100 }, (_, at) => `${at}`);
        for (const name of names) {
          await writeFile(join(base, WORK, 'results', name), Buffer.alloc(32_768, 'x'));
        }
        const [results, log] = [join(disk.path, 'results'), join(disk.path, 'log')];
        await writeFile(join(base, WORK, 'log'), 'log');
        await writeFile(log, 'old');
        const paths = [
          { remote: 'log', local: log },
          { remote: 'results', local: results },
        ];
        const fetchPaths = () => copyOutEach(paths, { ...copying(base), ...EACH });
        await disk.fill();
        const none = await fetchPaths();
        expect(none.map(failedOf)).toEqual(['here', 'here']);
        expect(await readFile(log, 'utf8')).toBe('old');
        expect(await treeOf(results)).toEqual({});
        await rm(join(disk.path, 'ballast'));
        const some = await fetchPaths();
        expect(some.map(failedOf)).toEqual(['here']);
        const there = Object.values(await treeOf(results));
        expect(there.length).toBeGreaterThan(25);
        expect(there.every((content) => content.length === 32_768)).toBe(true);
        execFileSync('mount', ['-o', 'remount,size=16m', disk.path]);
        const all = await fetchPaths();
        expect(all).toEqual([]);
        expect(Object.keys(await treeOf(results))).toHaveLength(names.length);
      } finally {
        await disk.remove();
      }
    },
  );

  test(
    'moves nothing into a disk mounted in the folder, and names it',
    needs('the right to mount'),
    async () => {
      const disk = await mountSmallDisk('1m');
      const mounted = join(local, 'sub', 'disk');
      await mkdir(mounted, { recursive: true });
      execFileSync('mount', ['--bind', disk.path, mounted]);
      try {
        await writeFile(join(mounted, 'a'), 'old');
        const entries = [
          { name: 'sub/disk/a', content: '1' },
          { name: 'sub/disk/a/b', content: '2' },
          { name: 'sub/c', content: '3' },
        ];
        const fault = await faultOf(fetchEntries(...entries));
        expect(fault.failure).toBe('storage');
        expect(fault.message).toContain(
          `another disk is mounted at ${mounted}; fetch into that folder; files that were not moved are in `,
        );
        expect(await treeOf(join(local, 'sub'))).toEqual({ c: '3', 'disk/': '', 'disk/a': 'old' });
      } finally {
        execFileSync('umount', [mounted]);
        await disk.remove();
      }
    },
  );
});

describe('the paths of a job', needs('POSIX'), () => {
  test('copies each path that is not here yet, and returns the failures', async () => {
    for (const name of ['a', 'b', 'edited']) await writeFile(join(base, WORK, name), 'there');
    await writeFile(join(local, 'edited'), 'mine');
    const stored: string[] = [];
    const failures = await copyOutEach(
      [
        { remote: 'a', local: join(local, 'a') },
        { remote: 'edited', local: join(local, 'edited'), fetched_at: '2026-01-01T00:00:00Z' },
        { remote: 'missing', local: join(local, 'missing') },
        { remote: 'b', local: '/dev/stdout' },
        { remote: 'b', local: join(local, 'b') },
      ],
      {
        ...copying(base),
        ...EACH,
        async onFetched({ remote }) {
          stored.push(remote);
          if (remote === 'b') throw new CliError('storage', 'The record is on a full disk.');
        },
      },
    );
    expect(failures.map(failedOf)).toEqual(['missing', 'here', 'here']);
    expect(worstOf(failures)?.message).toContain('/dev/stdout is not a regular file');
    expect(worstOf(failures.slice(0, 1))?.failure).toBe('notFound');
    expect(worstOf([])).toBeUndefined();
    expect(stored).toEqual(['a', 'b']);
    expect(await treeOf(local)).toEqual({ a: 'there', b: 'there', edited: 'mine' });
  });

  test('never moves received files into the home folder in a later attempt', async () => {
    await writeFile(join(base, WORK, 'results', '.bashrc'), 'foreign');
    const one = { remote: 'results', local };
    const left: Unplaced[] = [];
    const options = {
      ...copying(local),
      ...EACH,
      async onUnplaced(_one: object, unplaced: Unplaced) {
        left.push(unplaced);
      },
    };
    const [first] = await copyOutEach([one], options);
    const [unplaced] = left;
    expect(unplaced).toMatchObject({ isWhole: true });
    const [second] = await copyOutEach([{ ...one, unplaced }], options);
    for (const result of [first, second]) {
      expect(result?.failure).toBe('storage');
      expect(result?.message).toContain('which contains your home folder');
    }
    expect(left).toHaveLength(1);
    expect(await readdir(local)).not.toContain('.bashrc');
  });

  test('reports a path as cut after the last attempt', async () => {
    await writeFile(join(base, WORK, 'a'), 'x');
    await writeFile(join(base, 'bin', 'cat'), '#!/bin/sh\nexit 255\n', { mode: 0o755 });
    const attempts: string[] = [];
    const clock = manualClock();
    const [result] = await copyOutEach([{ remote: 'a', local: join(local, 'a') }], {
      ...copying(base),
      ...EACH,
      clock,
      async onCut({ message }) {
        attempts.push(message);
        if (attempts.length === 2) throw new CliError('otherEnd', 'over');
      },
    });
    expect(result && failedOf(result)).toBe('cut');
    expect(result?.message).toBe('over');
  });
});
