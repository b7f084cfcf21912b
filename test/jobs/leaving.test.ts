import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { NEW } from '../support/renting-service.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { exited, heard, LASTS, notifying, reap, reapNearDeadline, started } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});

const report = () => JSON.parse(readFileSync(world.local('report.json'), 'utf8'));
const reporting = () => ['--report', world.local('report.json')];

describe("a job's report", () => {
  test("writes the exit code, the termination and the cost to a job's report", async () => {
    // gpucloud itself exits with 7 if an instance may still bill.
    await world.run('exit 7', reporting());
    expect(report()).toMatchObject({
      stage: 'done',
      command_exit_code: 7,
      exit_code: 7,
      terminated: true,
      cost_at_most: '89.90',
      error: null,
    });
  });

  test.each([['--json'], ['-o', 'jsonl']])(
    "prints a job's report as the last line of stderr with %s %s",
    async (...how) => {
      // What the command prints to stderr stays as it is.
      const command = 'echo out; echo "raw {" >&2; exit 3';
      const { stdout, stderr } = await world.run(command, how);
      expect(stdout).toBe('out\n');
      const last = stderr.trim().split('\n').at(-1) ?? '';
      expect(JSON.parse(last)).toMatchObject({
        run: { command_exit_code: 3, terminated: true, exit_code: 3 },
      });
    },
  );

  test("writes exit code 125 to a job's report if a result is missing", async () => {
    const flags = ['--fetch', `missing:${world.local('x')}`, '--keep-on-failure', '0s'];
    await world.run('true', [...flags, ...reporting()]);
    expect(report()).toMatchObject({ stage: 'fetching', command_exit_code: 0, exit_code: 125 });
  });
});

test('reports outcome_unknown to --notify if the response to the create is lost', async () => {
  await notifying(world);
  world.renting.posts = [() => 'hangUp'];
  await world.run('true', []);
  expect(heard(world)).toMatchObject([{ event: 'outcome_unknown', name: 'job', exit_code: null }]);
});

describe('run --detach', () => {
  test("exits with 125 and terminates the instance if run --detach can't start the command", async () => {
    world.ssh.refuse = (script) =>
      script.includes('eval') ? 'Host key verification failed.' : undefined;
    const { code, stdout } = await world.run('true', ['--detach', '--unenforced']);
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
    expect(world.status()).toBe('TERMINATING');
  });

  test('prints that the instance keeps billing and how to attach', async () => {
    const { stdout } = await world.run('true', ['--detach', '--unenforced', '--json']);
    expect(JSON.parse(stdout)).toEqual({ id: NEW, name: 'job' });
  });

  test('says once that a loop enforces deadlines', async () => {
    await reap(world, '--every', '5m');
    const folder = world.local('state/reap');
    const path = join(folder, readdirSync(folder)[0] ?? '');
    const run = { pid: 813, parent: 812, proves: 'loop', host: hostname() };
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), run }));
    const { stderr } = await world.run('true', ['--detach']);
    expect(stderr.match(/^Deadlines are enforced only by the loop of process 812/gm)).toHaveLength(
      1,
    );
  });
});

describe('reap', () => {
  test('fetches results and exits with 125 if the command ignores the interrupt', async () => {
    const flags = ['--grace', '10m', '--fetch', `up:${world.local('up')}`];
    await world.detach(`trap '' INT; ${LASTS}`, ...flags);
    await started(world);
    const { ended } = await reapNearDeadline(world);
    world.advance(9.5 * 60_000);
    const { code, rows, stderr } = await ended;
    expect({ code, rows }, stderr).toMatchObject({
      code: 125,
      rows: [{ outcome: 'terminated', exit_code: null }],
    });
    expect(existsSync(world.local('up'))).toBe(true);
    expect(world.status()).toBe('TERMINATING');
  });

  test('checks an interrupted command every two seconds', async () => {
    await world.detach(`trap '' INT; ${LASTS}`, '--grace', '10m');
    await started(world);
    world.advance(51 * 60_000);
    const checks: string[] = [];
    let isPaused = false;
    const { clock } = world;
    const sleep: typeof clock.sleep = async (milliseconds, signal) => {
      if (milliseconds !== 2_000) return clock.sleep(milliseconds, signal);
      isPaused = true;
      // Reaches the deadline after three pauses.
      if (checks.length > 2) world.advance(5 * 60_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      isPaused = false;
    };
    world.ssh.refuse = (script) => {
      if (script.includes('gpucloud-run ready')) checks.push(isPaused ? 'early' : 'in time');
      return undefined;
    };
    const argv = ['instances', 'reap', '--json', '--every', '5m'];
    await world.gpucloud(argv, { clock: { ...clock, sleep } });
    expect(checks.length).toBeGreaterThan(2);
    expect(checks).not.toContain('early');
    expect(world.status()).toBe('TERMINATING');
  });

  test('closes the record of a job whose instance was terminated', async () => {
    await world.detach('true');
    world.renting.rent(NEW, 'job', { status: 'TERMINATED' });
    const rows = [{ outcome: 'already_ended', exit_code: null }];
    expect(await reap(world)).toMatchObject({ code: 0, rows });
    expect(world.record()).toMatchObject({ reason: 'job is TERMINATED, so its job has ended.' });
    await world.gpucloud(['jobs', 'attach', 'job']);
  });

  test('prints one row for a job past its deadline with --rescue whose instance has ended', async () => {
    await world.detach('true', '--rescue', `out:${world.local('got')}`);
    world.renting.rent(NEW, 'job', { status: 'TERMINATED' });
    world.advance(70 * 60_000);
    const { code, rows } = await reap(world);
    expect({ code, rows }).toMatchObject({ code: 0, rows: [{ outcome: 'already_ended' }] });
  });

  test('records the starting folder for a relative --fetch path', async () => {
    await world.detach('true', '--fetch', 'out');
    expect(world.record().fetch).toEqual([
      { remote: 'out', local: resolve('out'), fetched_at: null },
    ]);
  });
});

describe('run --on', () => {
  beforeEach(() => {
    world.renting.rent(NEW, 'dev');
  });

  test('keeps the job open until the results can be stored', async () => {
    const local = world.local('out');
    writeFileSync(local, 'in the way');
    const ran = await world.runOn('mkdir out; echo x >out/r', '--fetch', `out:${local}/`);
    expect(ran, ran.stderr).toMatchObject({ code: 2 });
    rmSync(local);
    const detached = await world.runOn(
      'mkdir out; echo x >out/r',
      '--detach',
      '--fetch',
      `out:${local}`,
    );
    expect(detached, detached.stderr).toMatchObject({ code: 0 });
    await exited(world);
    writeFileSync(local, 'in the way');
    expect((await reap(world)).rows).toMatchObject([{ outcome: 'kept' }]);
    expect(world.record().ended_at).toBeNull();
    const attached = await world.gpucloud(['jobs', 'attach', 'dev']);
    expect(attached, attached.stderr).toMatchObject({ code: 125 });
    expect(world.record().ended_at).toBeNull();
    await world.runOn('true');
    rmSync(local);
    await world.gpucloud(['jobs', 'attach', 'dev', ...reporting()]);
    expect(readFileSync(`${local}/r`, 'utf8')).toBe('x\n');
    expect(report()).toMatchObject({ stage: 'done', fetched: [local], exit_code: 0 });
  });

  test('never shows output of the previous job', async () => {
    expect(await world.runOn('echo first')).toMatchObject({ code: 0, stdout: 'first\n' });
    const logs = () => world.gpucloud(['jobs', 'logs', 'dev']);
    expect(await logs()).toMatchObject({ code: 0, stdout: 'first\n' });
    expect(await world.runOn(LASTS, '--detach')).toMatchObject({ code: 0 });
    world.renting.rent(NEW, 'dev', { status: 'TERMINATED' });
    await reap(world);
    const { code, stdout, stderr } = await logs();
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: '',
      stderr: 'error: The output of the job on dev was not kept.\n',
    });
  });
});
