import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { runFast } from '../jobs/fast-run.ts';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/ssh-world.ts';

let world: JobWorld;

/** Names that a shell, rsync or tar could misread. */
const ODD = ['-rf', 'two words', `it's "odd"`, 'line\nbreak', '$HOME', 'a:b', '*', 'ü'];

describe('gpucloud run with copies', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });

  const job = (words: readonly string[], command: string, env = {}) =>
    runFast(world, [...world.words(...words), '--', 'sh', '-c', command], { env });

  test.each(['rsync', 'tar'])(
    'copies 1000 files and unusual names with %s',
    async (way) => {
      if (way === 'tar') await world.removeThere('rsync');
      const { home } = world.computer;
      const source = join(home, `-my 'odd\nproject"`);
      const odd = join(source, '-odd dir');
      await mkdir(odd, { recursive: true });
      execFileSync('sh', ['-c', `mkdir many && seq 1000 | split -l 1 -a 3 - many/`], {
        cwd: source,
      });
      for (const name of ODD) await writeFile(join(odd, name), name);
      const back = join(home, '-back $1');
      // rsync splits the ssh command line itself, so paths need quotes.
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
      expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\s*1000\n$/) });
      for (const folder of [back, join(home, 'plain')]) {
        expect((await readdir(folder)).sort()).toEqual([...ODD].sort());
        for (const name of ODD) expect(await readFile(join(folder, name), 'utf8')).toBe(name);
      }
    },
    120_000,
  );

  test.each(['', ' --ssh-option=ForwardAgent=yes'])(
    'forwards the SSH agent to the instance only with a flag:%s',
    async (flag) => {
      const { home } = world.computer;
      const config = join(home, 'ssh_config');
      await writeFile(config, 'ForwardAgent yes\nForwardX11 yes\n');
      const socket = join(home, 'agent');
      const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
      try {
        await until(() => existsSync(socket));
        const words = [`--ssh-arg=-F${config}`, ...flag.trim().split(' ').filter(Boolean)];
        const done = await job(words, 'echo "agent:$SSH_AUTH_SOCK"', { SSH_AUTH_SOCK: socket });
        expect(done).toMatchObject({
          code: 0,
          stdout: flag === '' ? 'agent:\n' : expect.stringMatching(/^agent:.+\n$/),
        });
      } finally {
        agent.kill();
      }
    },
  );

  test.each([
    ['a file', 'results/big'],
    ['a folder', 'results'],
  ])(
    'reports the file if the disk fills up during the fetch of %s, and removes the partial file',
    needs('the right to mount'),
    async (_what, remote) => {
      await world.arm();
      const disk = await mountSmallDisk('64k');
      try {
        const done = await job(
          [`--fetch=${remote}:${disk.path}/back`],
          'mkdir results; head -c 300000 /dev/zero >results/big; echo 1 >results/small; exit 3',
        );
        expect(done.code).toBe(125);
        expect(done.stderr).toMatch(
          /Could not copy files out: .*(back|big) can't be written \(ENOSPC/,
        );
        expect(readdirSync(disk.path, { recursive: true })).toEqual(
          remote === 'results' ? ['back', join('back', 'small')] : [],
        );
        expect(done.stderr).toContain('Kept job with its results');
        expect(world.status()).toBe('ACTIVE');
      } finally {
        await disk.remove();
      }
    },
  );
});
