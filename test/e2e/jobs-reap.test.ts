import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { SOAK } from '../faults/tools.ts';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';
import { until } from '../support/ssh-world.ts';
import { makeKey } from '../support/sshd.ts';
import { pause } from '../support/terminal.ts';

let world: JobWorld;
const timeLimit = SOAK ? 600_000 : 90_000;

function gpucloud(...argv: string[]) {
  return world.computer.gpucloud(argv, { env: world.env });
}

async function reap(...more: string[]) {
  const { code, stdout, stderr } = await gpucloud('instances', 'reap', '--json', ...more);
  return { code, rows: JSON.parse(stdout || 'null'), stderr };
}

async function detached(command: string, ...more: string[]): Promise<void> {
  const words = ['--detach', '--unenforced', ...more];
  const { code, stderr } = await world.run(words, ['sh', '-c', command]);
  expect(code, stderr).toBe(0);
}

const hasExited = () => until(() => existsSync(join(world.there, 'gpucloud-run', 'exit')));
const at = (...path: string[]) => join(world.computer.home, ...path);
const list = async () => JSON.parse((await gpucloud('jobs', 'list', '--json')).stdout);
const attention = async () =>
  JSON.parse((await gpucloud('status', '--json')).stdout).attention.filter(
    ({ code }: { code: string }) => code.startsWith('job_'),
  );
const terminations = () =>
  world.service.requests.filter(({ path }) => path.endsWith('/terminate')).length;

describe('reap with jobs', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });

  test('fetches the results of an ended job, and terminates its instance once', async () => {
    const files = ['--fetch', 'result', '--report', 'report.json'];
    await gpucloud('profiles', 'add', 'work', '--base-url', world.service.url);
    await gpucloud('profiles', 'use', 'work');
    const words = `sh -c "cat >>${at('events')}"`;
    expect(await gpucloud('profiles', 'set', 'work', '--notify', words)).toMatchObject({ code: 0 });
    await detached(
      'echo out; echo err >&2; while [ ! -f go ]; do sleep 0.1; done; echo x >result; exit 3',
      ...files,
    );
    expect(await reap()).toMatchObject({ code: 0, rows: [] });
    expect(world.status()).toBe('ACTIVE');
    await writeFile(join(world.there, 'gpucloud-run', 'work', 'go'), '');
    await hasExited();
    const passes = await Promise.all([reap(), reap(), reap()]);
    const rows = passes.flatMap((pass) => pass.rows);
    expect(rows).toEqual([
      {
        id: NEW,
        name: 'job',
        deadline: expect.any(String),
        overdue_seconds: 0,
        outcome: 'terminated',
        reason: 'job',
        exit_code: 3,
      },
    ]);
    expect(passes.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect({ terminations: terminations(), status: world.status() }).toEqual({
      terminations: 1,
      status: 'TERMINATING',
    });
    expect(await readFile(at('result'), 'utf8')).toBe('x\n');
    expect(JSON.parse(await readFile(at('report.json'), 'utf8'))).toMatchObject({
      command_exit_code: 3,
      terminated: true,
    });
    expect(JSON.parse(await readFile(at('events'), 'utf8'))).toMatchObject({
      event: 'job_ended',
      id: NEW,
      exit_code: 3,
      message: 'The command on job exited with 3. Terminated job.',
    });
    expect(await list()).toMatchObject([{ status: 'EXITED', exit_code: 3 }]);
    expect(await gpucloud('jobs', 'logs', 'job')).toEqual({
      code: 0,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect(await reap()).toMatchObject({ code: 0, rows: [] });
  });

  test('terminates at the deadline if the results of a job still cannot be copied', async () => {
    await detached('echo x >result', '--fetch', 'result:results/');
    await hasExited();
    await writeFile(at('results'), 'in the way');
    world.advance(2 * 3_600_000);
    expect(await reap()).toMatchObject({ code: 125 });
    expect(world.status()).toBe('TERMINATING');
  });

  test('reports a refused sign-in at each pass', async () => {
    await detached('echo x >result', '--fetch', 'result');
    await hasExited();
    await world.sshd.stop();
    const folder = await mkdtemp(join(tmpdir(), 'gpucloud-keys-'));
    await world.startSshd({ clientKey: `${makeKey(folder, 'other')}.pub` });
    for (let pass = 0; pass < 2; pass += 1) {
      const refused = await reap();
      expect(refused).toMatchObject({ code: 125, rows: [{ outcome: 'refused', reason: 'job' }] });
      expect(refused.stderr).toContain('Permission denied');
      expect(refused.stderr).toContain('gpucloud jobs attach job');
    }
    const command = 'gpucloud jobs attach job';
    expect(await attention()).toMatchObject([{ code: 'job_sign_in', command }]);
    await world.startSshd();
    expect(await reap()).toMatchObject({ code: 0, rows: [{ outcome: 'terminated' }] });
    expect(await attention()).toEqual([]);
    await rm(folder, { recursive: true });
  });

  test(
    'finishes a job after kill -9 of earlier reaps, with complete results',
    async () => {
      const fill = 'mkdir out; for i in 1 2 3; do head -c 3000000 /dev/zero >out/$i; done';
      await detached(`${fill}; echo done`, '--fetch', 'out');
      await hasExited();
      const step = SOAK ? 40 : 300;
      for (let delay = 200; terminations() === 0 && delay < 3_000; delay += step) {
        const child = world.computer.start(['instances', 'reap'], { env: world.env });
        const ended = once(child, 'close');
        await pause(delay);
        child.kill('SIGKILL');
        await ended;
        // Expires the lock, since the next scheduled `reap` runs a minute later.
        const locks = (await readdir(at('state', 'jobs'))).filter((name) => name.endsWith('.lock'));
        for (const lock of locks) await utimes(at('state', 'jobs', lock), 0, 0);
      }
      const { rows } = await reap();
      expect(rows.length).toBeLessThan(2);
      expect(world.status()).toBe('TERMINATING');
      expect(await list()).toMatchObject([{ status: 'EXITED', exit_code: 0 }]);
      const whole = await Promise.all(
        ['1', '2', '3'].map(async (name) => (await readFile(at('out', name))).length),
      );
      expect(whole).toEqual([3_000_000, 3_000_000, 3_000_000]);
      expect((await readdir(at('out'))).filter((name) => /^\d$/.test(name))).toHaveLength(3);
      expect(await gpucloud('jobs', 'logs', 'job')).toMatchObject({ stdout: 'done\n' });
    },
    timeLimit,
  );

  test('finishes the job of a run whose terminal closed, if reap is scheduled', async () => {
    expect(await reap('--every', '5m')).toMatchObject({ code: 0 });
    const child = world.computer.start(
      [...world.words('--fetch', 'result'), '--', 'sh', '-c', 'echo up; sleep 2; echo x >result'],
      { env: world.env },
    );
    const ended = once(child, 'close');
    await heard(child, 'stdout', /up/);
    child.kill('SIGHUP');
    expect(await ended).toEqual([129, null]);
    expect(world.status()).toBe('ACTIVE');
    await hasExited();
    expect(await reap()).toMatchObject({ rows: [{ outcome: 'terminated', reason: 'job' }] });
    expect(await readFile(at('result'), 'utf8')).toBe('x\n');
  });
});
