import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { NEW } from '../support/renting-service.ts';
import { until } from '../support/ssh-world.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { ODD } from './odd-name.ts';
import { exited, followed, killSupervisor, reap } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

async function shown() {
  const { code, stdout, stderr } = await world.gpucloud(['jobs', 'get', 'job', '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

describe('--keep-on-failure', () => {
  test('stores a report with --keep-on-failure and protects the instance from reap', async () => {
    await world.gpucloud(['instances', 'reap', '--every', '5m']);
    await world.run('exit 3', ['--keep-on-failure', '30m']);
    expect(await reap(world)).toMatchObject({ code: 0, rows: [] });
    expect(world.status()).toBe('ACTIVE');
    expect(await shown()).toMatchObject({ exit_code: 3, report: { terminated: false } });
  });

  test('stays beside the instance and terminates it if nothing else would', async () => {
    const ended = world.run('exit 3', ['--keep-on-failure', '10m']);
    await until(() => existsSync(world.job) && world.record().kept === 'command');
    world.advance(5 * 60_000);
    expect(world.status()).toBe('ACTIVE');
    world.advance(6 * 60_000);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(3);
    expect(world.status()).toBe('TERMINATING');
  });

  test('terminates the instance after a successful command with --keep-on-failure', async () => {
    await world.run('true', ['--keep-on-failure', '30m']);
    expect(world.status()).toBe('TERMINATING');
  });

  test("lets jobs stop run the command's SIGINT trap before terminating the instance", async () => {
    const command = 'trap "echo bye; exit 5" INT; echo up; while :; do sleep 0.1; done';
    await world.detach(command, '--keep-on-failure', '30m');
    await until(() => readFileSync(join(world.job, 'out'), 'utf8') === 'up\n');
    await world.gpucloud(['jobs', 'stop', 'job']);
    expect(world.status()).toBe('TERMINATING');
    expect(await shown()).toMatchObject({ status: 'EXITED', exit_code: 5 });
    const logs = (...flags: string[]) => world.gpucloud(['jobs', 'logs', 'job', ...flags]);
    expect(await logs()).toMatchObject({ code: 0, stdout: 'up\nbye\n' });
    expect(await logs('--tail', '1')).toMatchObject({ code: 0, stdout: 'bye\n' });
    await world.gpucloud(['jobs', 'attach', 'job']);
  });
});

test('reports a lost job only in the first reap', async () => {
  await world.detach('sleep 60');
  await killSupervisor(world);
  const rows = [{ name: 'job', outcome: 'lost', exit_code: null }];
  expect(await reap(world)).toMatchObject({ code: 125, rows });
  expect(await reap(world)).toMatchObject({ code: 0, rows: [] });
  await world.gpucloud(['jobs', 'logs', 'job']);
  world.ssh.refuse = () => 'Connection refused';
  await world.gpucloud(['jobs', 'list']);
});

test('fetches a result in the next reap once its local path is free, even if others are missing', async () => {
  const local = world.local('out');
  writeFileSync(local, 'in the way');
  const fetch = [`out:${world.local('free')}`, 'missing', `out:${local}`, 'gone'].flatMap(
    (path) => ['--fetch', path],
  );
  await world.detach('mkdir out; echo x >out/a', ...fetch);
  await until(() => existsSync(join(world.job, 'exit')));
  expect((await reap(world)).rows).toMatchObject([{ outcome: 'refused' }]);
  rmSync(local);
  expect((await reap(world)).rows).toMatchObject([{ outcome: 'kept' }]);
  expect(readFileSync(join(local, 'a'), 'utf8')).toBe('x\n');
});

test('warns that jobs list lacks jobs that are no longer stored', async () => {
  expect((await world.run('true', [])).code).toBe(0);
  const ended = world.record();
  const add = (count: number, more: object) => {
    for (let at = 0; at < count; at += 1) {
      const uid = randomUUID();
      const file = join(dirname(world.jobFile('json')), `${uid}.json`);
      writeFileSync(file, JSON.stringify({ ...ended, uid, ...more }));
    }
  };
  add(98, {});
  const list = async (...flags: string[]) =>
    (await world.gpucloud(['jobs', 'list', '--json', ...flags])).stderr;
  const message = 'The list may lack older jobs: only the last 100 finished jobs are stored.';
  const isShown = async (...flags: string[]) => (await list(...flags)).includes(message);
  expect(await isShown()).toBe(false);
  add(1, { ended_at: new Date(world.clock.now() - 3_600_000).toISOString() });
  expect(await isShown()).toBe(true);
  expect(await isShown('--since', '30m')).toBe(false);
});

test('keeps a job open while its termination is unconfirmed', async () => {
  world.renting.failing.add(`/instances/${NEW}/terminate`);
  await world.run('true', [], { speed: 100 });
  // The exit code is stored, so the instance need not respond.
  world.ssh.refuse = () => 'Connection refused';
  expect(await shown()).toMatchObject({ ended_at: null, status: 'EXITED', exit_code: 0 });
});

test('terminates the instance if the terminal closes and nothing enforces the deadline', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const interrupts = { first: first.signal, second: second.signal };
  const ended = world.run('touch up; exec sleep 60', [], { interrupts });
  await until(() => existsSync(join(world.job, 'work', 'up')));
  await followed(world);
  first.abort(new CliError('hungUp', 'The terminal closed.'));
  expect(await ended).toMatchObject({ code: 129 });
  expect(world.status()).toBe('TERMINATING');
});

const readReport = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const local = (name: string) => world.local(name);

test("keeps a job's output even if a result is missing", async () => {
  await world.detach('echo Traceback >&2; exit 1', '--fetch', `results:${local('results')}`);
  await until(() => existsSync(join(world.job, 'exit')));
  const reaped = await reap(world);
  expect(reaped, reaped.stderr).toMatchObject({ code: 125, rows: [{ exit_code: 1 }] });
  await world.gpucloud(['jobs', 'stop', 'job', '--no-fetch']);
  expect(world.status()).toBe('TERMINATING');
  expect(await world.gpucloud(['jobs', 'logs', 'job'])).toMatchObject({ stderr: 'Traceback\n' });
});

test("keeps a job open while its output can't be stored", async () => {
  await world.detach('echo Traceback >&2', '--fetch', `missing:${local('x')}`);
  await until(() => existsSync(join(world.job, 'exit')));
  const inTheWay = world.jobFile('err.0');
  mkdirSync(inTheWay);
  expect((await reap(world)).rows).toMatchObject([{ outcome: 'refused' }]);
  rmdirSync(inTheWay);
  expect((await reap(world)).rows).toMatchObject([{ outcome: 'kept' }]);
  await world.gpucloud(['jobs', 'logs', 'job']);
});

test("keeps the command's exit code in jobs stop --no-fetch", async () => {
  const report = local('report.json');
  await world.detach('exit 5', '--report', report, '--fetch', `missing:${local('x')}`);
  await until(() => existsSync(join(world.job, 'exit')));
  await world.gpucloud(['jobs', 'stop', 'job', '--no-fetch']);
  // Nothing is missing.
  expect(await shown()).toMatchObject({ status: 'EXITED', exit_code: 5, phase: 'done' });
  expect(readReport(report)).toMatchObject({ command_exit_code: 5, exit_code: 5 });
});

test('reap keeps only the output that was not printed', async () => {
  await world.detach('echo one; echo two >&2');
  await exited(world);
  const record = { ...world.record(), printed: { out: 2, err: 1 } };
  writeFileSync(world.jobFile('json'), JSON.stringify(record));
  await reap(world);
  const { stdout, stderr } = await world.gpucloud(['jobs', 'logs', 'job']);
  expect({ stdout, stderr: stderr.replace(/^warning.*\n/gm, '') }).toEqual({
    stdout: 'e\n',
    stderr: 'wo\n',
  });
});

test('reap says that a command ran until the deadline, and its job is not lost', async () => {
  await world.detach('sleep 60');
  world.advance(5 * 3_600_000);
  const { rows } = await reap(world);
  expect(rows).toMatchObject([{ outcome: 'terminated', reason: 'job', exit_code: null }]);
  expect(await shown()).toMatchObject({ status: 'TERMINATED', exit_code: null });
});

test('keeps an end that another process recorded, and terminates nothing', async () => {
  const report = local('report.json');
  const ended = world.run('echo up; touch up; until [ -e go ]; do sleep 0.1; done; exit 3', [
    '--report',
    report,
  ]);
  await until(() => existsSync(join(world.job, 'work', 'up')));
  await followed(world);
  // Simulates a suspended run whose lock another process took over.
  const path = world.jobFile('json');
  const record = JSON.parse(readFileSync(path, 'utf8'));
  const own = { command_exit_code: 0, stage: 'done', instance: { id: NEW, name: 'job' } };
  const rest = { terminated: true, fetched: ['/r'], seconds: 9, cost: null, cost_at_most: null };
  const end = { ...own, ...rest, phases: null, gpu: null, exit_code: 0, error: null };
  writeFileSync(path, JSON.stringify({ ...record, ended_at: record.started_at, report: end }));
  writeFileSync(join(world.job, 'work', 'go'), '');
  expect(await ended).toMatchObject({ code: 0 });
  expect(world.service.requests.filter((one) => one.path.endsWith('/terminate'))).toEqual([]);
  expect(await shown()).toMatchObject({ exit_code: null, fetched: ['/r'] });
  expect(existsSync(report)).toBe(false);
});

test('leaves the fetch to a scheduled reap if the terminal closes', async () => {
  await world.gpucloud(['instances', 'reap', '--every', '5m']);
  const begun = local('begun');
  writeFileSync(
    world.local('../bin/tar'),
    `#!/bin/sh\n[ -e ${begun} ] || { touch ${begun}; sleep 5; }\nexec /usr/bin/tar "$@"\n`,
    { mode: 0o755 },
  );
  const [first, second] = [new AbortController(), new AbortController()];
  const interrupts = { first: first.signal, second: second.signal };
  const flags = ['--fetch', `out:${local('out')}`];
  const ended = world.run('mkdir out; echo x >out/r', flags, { interrupts });
  await until(() => existsSync(begun));
  first.abort(new CliError('hungUp', 'The terminal closed.'));
  expect(await ended).toMatchObject({ code: 129 });
  expect(world.status()).toBe('ACTIVE');
  expect((await reap(world)).rows).toMatchObject([{ outcome: 'terminated', exit_code: 0 }]);
  expect(readFileSync(join(local('out'), 'r'), 'utf8')).toBe('x\n');
});

describe('run --on after a job whose results were not fetched', () => {
  let local: string;
  const exited = () => until(() => existsSync(join(world.job, 'exit')));
  beforeEach(async () => {
    local = world.local('result');
    world.renting.rent(NEW, ODD);
    const fetch = ['--detach', '--fetch', `result:${local}`];
    const { code, stderr } = await world.runOn('echo first >result', ...fetch);
    expect(code, stderr).toBe(0);
    await exited();
  });

  test('exits with 5 until jobs attach fetches the results', async () => {
    await world.runOn('echo second >result');
    await world.gpucloud(['jobs', 'attach', NEW]);
    expect(readFileSync(local, 'utf8')).toBe('first\n');
    expect(await world.runOn('cat result')).toMatchObject({ code: 0, stdout: 'first\n' });
  });

  test('exits with 5 until jobs stop discards the results', async () => {
    await world.runOn('true');
    const stopped = await world.gpucloud(['jobs', 'stop', NEW, '--no-fetch']);
    expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
    expect(existsSync(local)).toBe(false);
    await world.runOn('true');
  });

  test('runs on the instance if the earlier job left no results or never started', async () => {
    rmSync(join(world.job, 'work', 'result'));
    await world.gpucloud(['jobs', 'attach', NEW]);
    const again = await world.runOn('echo x >result', '--detach', '--fetch', `result:${local}`);
    expect(again, again.stderr).toMatchObject({ code: 0 });
    await exited();
    rmSync(world.job, { recursive: true });
    await world.runOn('true');
  });
});

test('run --on runs on an instance whose last setup failed, since that job has no results', async () => {
  world.renting.rent(NEW, 'dev');
  const fetch = ['--fetch', `result:${world.local('result')}`];
  const failing = await world.runOn('true', '--detach', '--setup', 'exit 3', ...fetch);
  expect(failing, failing.stderr).toMatchObject({ code: 0 });
  await until(() => existsSync(join(world.job, 'exit')));
  const next = await world.runOn('echo next');
  expect(next, next.stderr).toMatchObject({ code: 0, stdout: 'next\n' });
});
