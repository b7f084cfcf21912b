import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runFast } from '../run-job/fast-run.ts';
import { createJobWorld, type JobWorld } from '../run-job/job-world.ts';
import { needs } from '../support/needs.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

let world: JobWorld;

/** Names that a shell, rsync or tar could take for something else. */
const ODD = ['-rf', 'two words', `it's "odd"`, 'line\nbreak', '$HOME', 'a:b', '*', 'ü'];

describe('the copies of gpucloud run', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });
  afterEach(() => world.close());

  const job = (words: readonly string[], command: string, env = {}) =>
    runFast(world, [...world.words(...words), '--', 'sh', '-c', command], { env });

  // rsync is known to copy many files.
  test.each([
    ['1000', 'rsync'],
    ['10000', 'tar'],
  ])(
    'copies %s files and odd names with %s',
    async (count, way) => {
      if (way === 'tar') await world.removeThere('rsync');
      const { home } = world.computer;
      const source = join(home, `-my 'odd\nproject"`);
      const odd = join(source, '-odd dir');
      await mkdir(odd, { recursive: true });
      execFileSync('sh', ['-c', `mkdir many && seq ${count} | split -l 1 -a 3 - many/`], {
        cwd: source,
      });
      for (const name of ODD) await writeFile(join(odd, name), name);
      const back = join(home, '-back $1');
      // rsync splits the command line of ssh itself.
      const [key, state] = [join(home, `my "key's"`), join(home, 'my state')];
      await copyFile(world.clientKey, key);
      const signIn = ['--identity', key];
      const words = [
        ...signIn,
        `--sync=${source}`,
        `--fetch=-odd dir:${back}`,
        `--fetch=plain:${home}/plain`,
      ];
      const command = 'cat many/* | sort -n | uniq | wc -l; cp -R ./-odd* plain';
      const done = await job(words, command, { GPUCLOUD_STATE_DIR: state });
      expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(`^\\s*${count}\n$`) });
      for (const folder of [back, join(home, 'plain')]) {
        expect((await readdir(folder)).sort()).toEqual([...ODD].sort());
        for (const name of ODD) expect(await readFile(join(folder, name), 'utf8')).toBe(name);
      }
    },
    120_000,
  );

  test('refuses to begin without rsync and tar on the instance', async () => {
    await world.removeThere('rsync', 'tar');
    const done = await job([`--fetch=results:${world.computer.home}`], 'echo ran');
    expect(done).toMatchObject({ code: 125, stdout: '' });
    expect(done.stderr).toContain('job has no tar, and rsync is not on both sides');
    expect(world.status()).toBe('TERMINATING');
  });

  test.each([
    ['a file', 'rsync', 'results/big'],
    ['a folder', 'rsync', 'results'],
    ['a folder', 'tar', 'results'],
  ])(
    'names the file if the disk is full while it fetches %s with %s',
    needs('the right to mount'),
    async (_what, way, remote) => {
      if (way === 'tar') await world.removeThere('rsync');
      const disk = await mountSmallDisk('64k');
      try {
        const done = await job(
          [`--fetch=${remote}:${disk.path}/back`],
          'mkdir results; head -c 300000 /dev/zero >results/big; exit 3',
        );
        expect(done.code).toBe(125);
        expect(done.stderr).toMatch(
          /Could not copy files out: .*(back|big).*(ENOSPC|No space left|Wrote only)/,
        );
        expect(world.status()).toBe('TERMINATING');
      } finally {
        await disk.remove();
      }
    },
  );
});
