import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { graceFor } from '../../src/jobs/stops.ts';
import { NEW } from '../support/renting-service.ts';
import { until } from '../support/ssh-world.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import {
  exited,
  followed,
  killSupervisor,
  LASTS,
  reap,
  reapNearDeadline,
  started,
} from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});

describe('terminating the instance', () => {
  test('stores the exit code before it terminates the instance', async () => {
    let stored: unknown;
    world.renting.terminations = [
      (id) => {
        stored = world.record().exit_code;
        return world.renting.terminate(id);
      },
    ];
    await world.run('exit 3', []);
    expect(stored).toBe(3);
  });

  test('instances terminate warns about an unfinished job', async () => {
    const ended = world.run(LASTS, []);
    await followed(world);
    const { stderr } = await world.gpucloud(['instances', 'terminate', 'job', '--yes']);
    expect(stderr).toContain(
      'warning: The job on job is unfinished: terminating deletes its output. To end the job and copy its output first: gpucloud jobs stop job\n',
    );
    await killSupervisor(world);
    await ended;
    const again = await world.gpucloud(['instances', 'terminate', 'job', '--yes']);
    expect(again.stderr).not.toContain('unfinished');
  });

  test("rents nothing if this computer can't store the job", async () => {
    await mkdir(world.local('state'));
    await writeFile(world.local('state/jobs'), 'in the way');
    await world.run('true', []);
    expect(world.status()).toBeUndefined();
  });

  test('fetches results first if the command was killed', async () => {
    const ended = world.run(LASTS, ['--fetch', `up:${world.local('up')}`]);
    await followed(world);
    await killSupervisor(world);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(125);
    expect(existsSync(world.local('up'))).toBe(true);
    expect(world.status()).toBe('TERMINATING');
  });

  test('follows a killed command even if its PID was reused', async () => {
    const ended = world.run(LASTS, []);
    await followed(world);
    const pidFile = join(world.job, 'pid');
    const killed = -Number(readFileSync(pidFile, 'utf8'));
    const other = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    writeFileSync(pidFile, String(other.pid));
    process.kill(killed, 'SIGKILL');
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(125);
    expect(world.status()).toBe('TERMINATING');
    expect(other.exitCode).toBe(null);
  });

  test('reports an instance that somebody else has terminated', async () => {
    const ended = world.run(LASTS, []);
    await followed(world);
    world.renting.rent(NEW, 'job', { status: 'TERMINATED' });
    world.ssh.refuse = () => 'Connection refused';
    world.ssh.cut();
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(125);
    expect(stderr).toMatch(
      /\nTerminated job after \d+ s\.\nIt cost .*\nerror: job is TERMINATED, so its job has ended\.\n$/,
    );
    expect(stderr).not.toContain('may still be billing');
  });
});

describe('an instance in ERROR', () => {
  const fail = () =>
    world.renting.rent(NEW, 'job', { status: 'ERROR', failure_reason: 'disk failed' } as object);

  test('still gives its results while SSH responds', async () => {
    const command = 'echo x >out; touch up; until [ -e go ]; do sleep 0.1; done; exit 3';
    const ended = world.run(command, ['--fetch', `out:${world.local('out')}`]);
    await followed(world);
    fail();
    world.ssh.cut();
    writeFileSync(join(world.job, 'work', 'go'), '');
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(3);
    expect(readFileSync(world.local('out'), 'utf8')).toBe('x\n');
    expect(world.status()).toBe('TERMINATING');
  });

  test('is terminated with its reason once SSH is gone', async () => {
    const ended = world.run(LASTS, []);
    await followed(world);
    fail();
    world.ssh.refuse = () => 'Connection refused';
    world.ssh.cut();
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(125);
    expect(world.status()).toBe('TERMINATING');
  });
});

describe('--keep-on-failure', () => {
  test('keeps an instance with missing results until jobs attach or stop', async () => {
    await world.gpucloud(['instances', 'reap', '--every', '5m']);
    const flags = ['--fetch', `missing:${world.local('x')}`, '--keep-on-failure', '30m'];
    await world.run('true', flags);
    expect(await reap(world)).toMatchObject({ rows: [{ outcome: 'kept' }] });
    expect(world.status()).toBe('ACTIVE');
  });
});

test("stores a job's kept output with mode 0600", async () => {
  await world.run('echo out; echo err >&2', []);
  for (const kind of ['out.0', 'err.0', 'json']) {
    expect(statSync(world.jobFile(kind)).mode & 0o777).toBe(0o600);
  }
});

test.each([
  [undefined, 2],
  [1, 0.5],
  [10, 2],
  [60, 6],
  [600, 15],
])('interrupts a job of %s minutes %s minutes before its deadline', (time, grace) => {
  const minute = 60_000;
  expect(graceFor(time === undefined ? undefined : time * minute)).toBe(grace * minute);
});

describe('jobs stop', () => {
  test('does not terminate the instance if another process has ended the job', async () => {
    await world.detach('exit 5');
    await exited(world);
    let isFirst = true;
    world.renting.onRead = async () => {
      if (!isFirst) return;
      isFirst = false;
      const path = world.jobFile('json');
      const job = world.record();
      writeFileSync(path, JSON.stringify({ ...job, ended_at: job.started_at, exit_code: 5 }));
    };
    await world.gpucloud(['jobs', 'stop', 'job']);
    expect(world.terminations()).toBe(0);
  });

  test('does not look at an instance on which another process has not started a command', async () => {
    const { rent } = world.renting;
    world.renting.rent = (id, name, more) => rent(id, name, { status: 'PROVISIONING', ...more });
    const ended = world.run('true', []);
    await until(() => world.renting.instances.size > 0 && world.record().id !== null);
    const stopped = await world.gpucloud(['jobs', 'stop', 'job']);
    expect(stopped).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await ended).toMatchObject({ code: 125 });
  });

  test('closes a job whose instance is already terminated', async () => {
    await world.detach(LASTS);
    world.renting.rent(NEW, 'job', { status: 'TERMINATED' });
    await world.gpucloud(['jobs', 'stop', 'job']);
    expect(world.record().ended_at).not.toBeNull();
  });
});

describe('reap', () => {
  test('interrupts a command near its deadline, and fetches its results', async () => {
    const command = `trap 'mkdir out; echo x >out/r; exit 7' INT; ${LASTS}`;
    await world.detach(command, '--grace', '10m', '--fetch', `out:${world.local('out')}`);
    await started(world);
    expect(await reap(world, '--every', '5m')).toMatchObject({ code: 0, rows: [] });
    const { ended } = await reapNearDeadline(world);
    world.advance(5 * 60_000);
    expect((await ended).rows).toMatchObject([{ outcome: 'terminated', exit_code: 7 }]);
    expect(readFileSync(world.local('out/r'), 'utf8')).toBe('x\n');
  });

  test('does not interrupt a command that exits near its deadline', async () => {
    await world.detach('touch up; until [ -e go ]; do sleep 0.1; done; exit 3', '--grace', '10m');
    await started(world);
    const { ended } = await reapNearDeadline(world);
    writeFileSync(join(world.job, 'work', 'go'), '');
    expect((await ended).rows).toMatchObject([{ outcome: 'terminated', exit_code: 3 }]);
    expect(world.record().reason).toBeNull();
  });

  test('terminates an instance on which no command was started', async () => {
    await world.detach('true');
    await exited(world);
    rmSync(world.job, { recursive: true });
    const record = { ...world.record(), command_started_at: null };
    writeFileSync(world.jobFile('json'), JSON.stringify(record));
    const { code, rows } = await reap(world);
    expect({ code, rows }).toMatchObject({ code: 125, rows: [{ outcome: 'terminated' }] });
    expect(world.status()).toBe('TERMINATING');
    const { stdout } = await world.gpucloud(['jobs', 'list', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ status: 'EXITED', exit_code: null }]);
  });
});

describe('the warning about an unenforced deadline', () => {
  test('reports the instance with an unenforced deadline, and suggests reap', async () => {
    await world.run('true', []);
  });

  test('omits the warning about an unenforced deadline with --unenforced', async () => {
    await world.run('true', ['--unenforced']);
  });
});
