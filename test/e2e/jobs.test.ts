import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { SOAK } from '../faults/tools.ts';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';

let world: JobWorld;

const timeLimit = SOAK ? 600_000 : 90_000;

/** Prints to stdout and stderr, waits for a file and exits with 3. */
const WAITS =
  'echo one; echo two; echo err >&2; while [ ! -f go ]; do sleep 0.1; done; echo end; echo x >result; exit 3';
const go = () => writeFile(join(world.there, 'gpucloud-run', 'work', 'go'), '');

function gpucloud(...argv: string[]) {
  return world.computer.gpucloud(argv, { env: world.env });
}

async function detached(command: string, ...more: string[]): Promise<void> {
  const words = ['--detach', '--unenforced', '--fetch', 'result', ...more];
  const { code, stderr } = await world.run(words, ['sh', '-c', command]);
  expect(code, stderr).toBe(0);
}

function start(...argv: string[]) {
  const child = world.computer.start(argv, { env: world.env });
  return { child, ended: once(child, 'close') };
}

const list = async () => JSON.parse((await gpucloud('jobs', 'list', '--json')).stdout);

describe('gpucloud jobs', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });

  test('lists, shows, prints and attaches to a detached job, and keeps its record', async () => {
    await detached(WAITS);
    const [row, ...others] = await list();
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      name: 'job',
      id: NEW,
      status: 'RUNNING',
      exit_code: null,
      command: ['sh', '-c', WAITS],
      ended_at: null,
      cost_at_most: '89.90',
      fetched: [],
      on: false,
    });
    expect(Date.parse(row.ends_at)).toBeGreaterThan(Date.now());
    const printed = { code: 0, stdout: 'one\ntwo\n', stderr: 'err\n' };
    expect(await gpucloud('jobs', 'logs', 'job')).toEqual(printed);
    expect(await gpucloud('jobs', 'logs', 'job', '--tail', '1')).toEqual({
      ...printed,
      stdout: 'two\n',
    });
    const following = start('jobs', 'logs', 'job', '-f');
    await heard(following.child, 'stdout', /two/);
    const all = heard(following.child, 'stdout', /end/);
    await go();
    expect(await all).toContain('end');
    expect(await following.ended).toEqual([0, null]);
    expect(await list()).toMatchObject([{ status: 'EXITED', exit_code: 3, ended_at: null }]);

    expect(await gpucloud('jobs', 'attach', 'job')).toMatchObject({ code: 3 });
    expect(world.status()).toBe('TERMINATING');
    expect(await readFile(join(world.computer.home, 'result'), 'utf8')).toBe('x\n');
    const { stdout } = await gpucloud('jobs', 'get', 'job', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'EXITED',
      exit_code: 3,
      cost_at_most: '89.90',
      ends_at: null,
      fetched: [join(world.computer.home, 'result')],
      report: { command_exit_code: 3, terminated: true },
    });
    const whole = { code: 0, stdout: 'one\ntwo\nend\n', stderr: 'err\n' };
    await rm(join(world.there, 'gpucloud-run'), { recursive: true });
    expect(await gpucloud('jobs', 'logs', 'job')).toEqual(whole);
    expect(await gpucloud('jobs', 'logs', 'job', '--tail', '2')).toEqual({
      ...whole,
      stdout: 'two\nend\n',
    });
    const again = await gpucloud('jobs', 'attach', 'job');
    expect(again).toMatchObject({ code: 5 });
    expect(again.stderr).toContain('gpucloud jobs logs job');
  });

  test(
    'leaves the job running after any exit of logs -f and attach',
    async () => {
      await detached(WAITS);
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE', 'SIGKILL'] as const;
      const both = [
        ['attach', 'job'],
        ['logs', 'job', '-f'],
      ];
      for (const [at, signal] of Array.from({ length: SOAK ? 10 : 1 }, () => signals)
        .flat()
        .entries()) {
        for (const argv of SOAK ? both : both.slice(at % 2, (at % 2) + 1)) {
          const { child, ended } = start('jobs', ...argv);
          if (argv[0] === 'logs') await heard(child, 'stdout', /two/);
          else await heard(child, 'stderr', /Running/);
          if (signal === 'SIGPIPE') child.stdout.destroy();
          else child.kill(signal);
          // attach continues after stdout closes, and logs notices that at the next write.
          if (signal === 'SIGPIPE') child.kill('SIGTERM');
          await ended;
          expect(world.status()).toBe('ACTIVE');
        }
      }
      expect(await list()).toMatchObject([{ status: 'RUNNING' }]);
      await go();
      const attached = await gpucloud('jobs', 'attach', 'job');
      expect(attached, attached.stderr).toMatchObject({ code: 3 });
      expect(await gpucloud('jobs', 'logs', 'job')).toEqual({
        code: 0,
        stdout: 'one\ntwo\nend\n',
        stderr: 'err\n',
      });
    },
    timeLimit,
  );
});
