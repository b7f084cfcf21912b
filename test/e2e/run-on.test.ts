import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runFast } from '../jobs/fast-run.ts';
import { createJobWorld, type JobWorld, pathWithout } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';
import { until } from '../support/ssh-world.ts';

let world: JobWorld;
let project: string;

/** Uses normal speed, since the check of an instance has a time limit. */
function gpucloud(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return runFast(world, argv, { env, speed: 1 });
}

const signIn = () => ['--identity', world.clientKey, '--ssh-arg=-F/dev/null'];
const words = (...more: string[]) => ['run', '--on', NEW, ...signIn(), ...more];
const runOn = (more: readonly string[], ...command: string[]) =>
  gpucloud([...words(...more), '--', ...command]);
const jobs = async () => JSON.parse((await gpucloud(['jobs', 'list', '--json'])).stdout);
const there = (name: string) => join(world.there, 'gpucloud-run', 'work', name);
/** Returns a --fetch value for the home folder. */
const here = (name: string) => `${name}:${join(world.computer.home, name)}`;
/** Returns the time of the last write on the instance. */
const writtenAt = async (name: string) => (await stat(there(name))).ctimeMs;
const terminations = () =>
  world.service.requests.filter(({ path }) => path.endsWith('/terminate')).length;

describe('gpucloud run --on', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
    world.renting.rent(NEW, 'dev');
    project = join(world.computer.home, 'project');
    await mkdir(project);
  });
  afterEach(async () => {
    expect({ terminations: terminations(), status: world.status() }).toEqual({
      terminations: 0,
      status: 'ACTIVE',
    });
  });

  test.each(['rsync', 'tar'])('sends only changed files each time, with %s', async (way) => {
    const PATH =
      way === 'tar' ? await pathWithout(world.computer.home, ['rsync']) : process.env.PATH;
    const env = { PATH: PATH ?? '' };
    for (const name of ['main.sh', 'same', "it's"]) {
      await writeFile(join(project, name), 'first\n');
      // Archives store whole seconds.
      await utimes(join(project, name), 1_700_000_000, 1_700_000_000);
    }
    let before: number | undefined;
    for (const code of [3, 7]) {
      await writeFile(join(project, 'main.sh'), `echo ${code}; echo ${code} >>all; exit ${code}\n`);
      const more = ['--sync', project, '--fetch', here('all')];
      const done = await gpucloud([...words(...more), '--', 'sh', 'main.sh'], env);
      expect(done, done.stderr).toMatchObject({ code, stdout: `${code}\n` });
      const same = await writtenAt('same');
      expect(same).toBe(before ?? same);
      before = same;
    }
    expect(await readFile(join(world.computer.home, 'all'), 'utf8')).toBe('3\n7\n');
    const rows = await jobs();
    expect(rows).toMatchObject([
      { id: NEW, name: 'dev', status: 'EXITED', exit_code: 7, on: true, cost_at_most: null },
      { id: NEW, exit_code: 3 },
    ]);
    expect(rows[0].ended_at).not.toBeNull();
    const logs = await gpucloud(['jobs', 'logs', 'dev']);
    expect(logs).toEqual({ code: 0, stdout: '7\n', stderr: '' });
  });

  test('finishes and fetches a detached job with jobs attach or reap', async () => {
    const command = ['sh', '-c', 'echo out; echo x >result; exit 4'];
    const more = ['--detach', '--fetch', here('result')];
    for (const argv of [
      ['jobs', 'attach', 'dev'],
      ['instances', 'reap'],
    ]) {
      expect(await runOn(more, ...command)).toMatchObject({ code: 0 });
      await until(() => existsSync(join(world.there, 'gpucloud-run', 'exit')));
      const done = await gpucloud(argv);
      expect(done.code, done.stderr).toBe(argv[0] === 'jobs' ? 4 : 0);
      const [job] = await jobs();
      expect(job).toMatchObject({ status: 'EXITED', exit_code: 4 });
      expect(job.ended_at).not.toBeNull();
      expect(existsSync(join(world.computer.home, 'result'))).toBe(true);
      const logs = await gpucloud(['jobs', 'logs', 'dev']);
      expect(logs).toMatchObject({ code: 0, stdout: 'out\n' });
    }
  });

  test('leaves the command running and exits with 143 on SIGTERM', async () => {
    const argv = [...words(), '--', 'sh', '-c', 'echo up; sleep 60'];
    const child = world.computer.start(argv, { env: world.env });
    const ended = once(child, 'close');
    await heard(child, 'stdout', /up/);
    const said = heard(child, 'stderr', /jobs attach dev/);
    child.kill('SIGTERM');
    expect(await said).toContain('Stopped following dev. Its command may still run.');
    expect(await ended).toEqual([143, null]);
    expect(await jobs()).toMatchObject([{ status: 'RUNNING', ended_at: null }]);
    expect(await gpucloud(['jobs', 'stop', 'dev'])).toMatchObject({ code: 0 });
  });
});
