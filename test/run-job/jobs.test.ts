import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { NEW } from '../support/renting-service.ts';
import { until } from '../support/ssh-world.ts';
import { pause } from '../support/terminal.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

async function reap() {
  const { code, stdout, stderr } = await world.gpucloud(['instances', 'reap', '--json']);
  return { code, rows: JSON.parse(stdout || 'null'), stderr };
}

async function shown() {
  const { code, stdout, stderr } = await world.gpucloud(['jobs', 'get', 'job', '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

describe('an instance that --keep-on-failure keeps', () => {
  test('has a report, and reap leaves it alone', async () => {
    const { code, stderr } = await world.run('exit 3', ['--keep-on-failure', '30m']);
    expect(code, stderr).toBe(3);
    expect(await reap()).toMatchObject({ code: 0, rows: [] });
    expect(world.status()).toBe('ACTIVE');
    expect(await shown()).toMatchObject({ exit_code: 3, report: { terminated: false } });
  });

  test('is terminated by jobs stop, which lets the command clean up', async () => {
    const command = 'trap "echo bye; exit 5" INT; echo up; while :; do sleep 0.1; done';
    await world.detach(command, '--keep-on-failure', '30m');
    const { code, stderr } = await world.gpucloud(['jobs', 'stop', 'job']);
    expect(code, stderr).toBe(0);
    expect(world.status()).toBe('TERMINATING');
    expect(await shown()).toMatchObject({ status: 'EXITED', exit_code: 5 });
    const logs = (...flags: string[]) => world.gpucloud(['jobs', 'logs', 'job', ...flags]);
    expect(await logs()).toMatchObject({ code: 0, stdout: 'up\nbye\n' });
    expect(await logs('--tail', '1')).toMatchObject({ code: 0, stdout: 'bye\n' });
    expect(await world.gpucloud(['jobs', 'attach', 'job'])).toMatchObject({ code: 5 });
  });
});

test('a lost job is reported once', async () => {
  await world.detach('sleep 60');
  process.kill(-Number(readFileSync(join(world.job, 'pid'), 'utf8')), 'SIGKILL');
  expect((await reap()).rows).toMatchObject([{ name: 'job', outcome: 'lost', exit_code: null }]);
  expect(await reap()).toMatchObject({ code: 0, rows: [] });
  const { stderr } = await world.gpucloud(['jobs', 'logs', 'job']);
  expect(stderr).toContain('gone without an exit code');
});

test('reap gives up for a missing result only once it has copied the others', async () => {
  const local = join(world.job, '..', 'local');
  writeFileSync(local, 'in the way');
  await world.detach('mkdir out; echo x >out/a', '--fetch', 'missing', '--fetch', `out:${local}`);
  await until(() => existsSync(join(world.job, 'exit')));
  expect((await reap()).rows).toMatchObject([{ outcome: 'refused' }]);
  rmSync(local);
  expect((await reap()).rows).toMatchObject([{ outcome: 'kept' }]);
  expect(readFileSync(join(local, 'a'), 'utf8')).toBe('x\n');
});

test("another account's jobs are not listed", async () => {
  await world.detach('true');
  world.renting.me = 'user-2';
  const env = { GPUCLOUD_API_KEY: 'svc_sk_test_of_another_account' };
  await world.gpucloud(['instances', 'list'], { env });
  const { stdout } = await world.gpucloud(['jobs', 'list', '--json'], { env });
  expect(JSON.parse(stdout)).toEqual([]);
});

test('a job stays open while its termination is in doubt', async () => {
  world.renting.failing.add(`/instances/${NEW}/terminate`);
  const { code, stderr } = await world.run('true', [], { speed: 100 });
  expect(code, stderr).toBe(7);
  expect(await shown()).toMatchObject({ ended_at: null });
});

test('a job ends with its terminal if nothing enforces its deadline', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const interrupts = { first: first.signal, second: second.signal };
  const ended = world.run('touch up; exec sleep 60', [], { interrupts });
  while (!existsSync(join(world.job, 'work', 'up'))) await pause(20);
  // The run has to notice that its command runs.
  await pause(300);
  first.abort(new CliError('hungUp', 'The terminal hung up.'));
  expect(await ended).toMatchObject({ code: 129 });
  expect(world.status()).toBe('TERMINATING');
});
