import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { until } from '../support/ssh-world.ts';
import { withoutTranscript } from '../support/transcript.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { ctrlC, reap } from './stories.ts';

let world: LoopbackWorld;

beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

const HOUR = 60 * 60_000;
const LASTS = 'echo up; while :; do sleep 0.1; done';
const given = (setup: string) => ['--setup', setup, '--fetch', `out:${world.local('out')}`];
const isUp = () => until(() => existsSync(join(world.job, 'err')) && errText() === 'up\n');
const errText = () => readFileSync(join(world.job, 'err'), 'utf8');
const ranCommand = () => existsSync(join(world.job, 'work', 'ran'));

describe('the end of a setup', needs('POSIX'), () => {
  test.each([
    ['obeys SIGINT', LASTS, 130],
    ['ignores SIGINT', `trap '' INT TERM; ${LASTS}`, 137],
  ])('says that the deadline stopped a setup that %s', async (_what, setup, code) => {
    withoutTranscript();
    const grace = ['--grace', '10m'];
    const ended = world.run('touch ran', [...given(setup), ...grace]);
    await isUp();
    // Half of the grace period is left to kill a setup that goes on.
    world.advance(HOUR - (code === 130 ? 9 : 4) * 60_000);
    const { code: exit, stdout, stderr } = await ended;
    expect({ exit, stdout }, stderr).toEqual({ exit: 125, stdout: '' });
    expect(stderr).toContain(
      "error: The setup was stopped near job's deadline, so the command was not started.\n" +
        'hint: see its output: gpucloud jobs logs job --tail 10; to give it more time, use a longer --terminate-after\n',
    );
    expect(world.record()).toMatchObject({ exit_code: 125, setup_exit_code: code });
    expect(world.status()).toBe('TERMINATING');
    expect(ranCommand()).toBe(false);
  });

  test('never kills a command that goes on after its setup', async () => {
    const command = `trap '' INT; touch ran; while :; do sleep 0.1; done`;
    const ended = world.run(command, [...given('true'), '--grace', '10m']);
    await until(ranCommand);
    world.advance(HOUR - 4 * 60_000);
    expect(await ended).toMatchObject({ code: 125 });
    expect(world.record()).toMatchObject({ exit_code: null, setup_exit_code: null });
  });

  test('says that reap stopped a setup near the deadline', async () => {
    await world.detach('touch ran', ...given(LASTS), '--grace', '10m');
    await isUp();
    world.advance(HOUR - 9 * 60_000);
    expect((await reap(world, '--every', '5m')).rows).toMatchObject([
      { outcome: 'terminated', exit_code: null },
    ]);
    expect(world.record().report).toMatchObject({
      stage: 'setup',
      error: "The setup was stopped near job's deadline, so the command was not started.",
    });
    expect(ranCommand()).toBe(false);
  });

  test('prints the last lines of a setup whose failure reap finds', async () => {
    const lines = Array.from({ length: 12 }, (_, at) => `line ${at + 1}\n`);
    await world.detach('touch ran', ...given('seq -f "line %g" 12; exit 3'));
    await until(() => existsSync(join(world.job, 'exit')));
    const { code, stdout, stderr } = await world.gpucloud(['instances', 'reap']);
    expect({ code, rows: stdout.includes('terminated') }, stderr).toEqual({
      code: 125,
      rows: true,
    });
    expect(stderr).toContain(
      `Last lines of the setup on job:\n${lines.slice(2).join('')}error: job: The setup failed with exit code 3, so the command was not started.\n`,
    );
    expect(ranCommand()).toBe(false);
    const shown = (await world.gpucloud(['jobs', 'get', 'job'])).stdout;
    const last = shown.slice(shown.indexOf('last lines of setup:'));
    const names = shown.match(/^[a-z ]+(?=:)/gm);
    // Phases of less than a second are not shown.
    expect(names?.filter((name) => name !== 'phases')).toEqual([
      ...['name', 'id', 'status', 'exit code', 'phase', 'command', 'started', 'ended', 'seconds'],
      ...['cost at most', 'error', 'last lines of setup'],
    ]);
    expect(last.split('\n').map((line) => line.slice(-7).trim())).toEqual([
      ...lines.slice(2).map((line) => line.trim()),
      '',
    ]);
  });

  test('shows the failed setup of a kept instance, also after jobs stop', async () => {
    await reap(world, '--every', '5m');
    await world.run('touch ran', [...given('exit 3'), '--keep-on-failure', '30m']);
    const phase = async () =>
      JSON.parse((await world.gpucloud(['jobs', 'get', 'job', '--json'])).stdout).phase;
    expect(await phase()).toBe('setup');
    await world.gpucloud(['jobs', 'stop', 'job']);
    expect(await phase()).toBe('setup');
    expect(world.record().report).toMatchObject({
      stage: 'setup',
      command_exit_code: null,
      exit_code: 125,
      error: 'The setup failed with exit code 3, so the command was not started.',
    });
  });

  test('explains the exit code of a run whose kept instance jobs stop terminates', async () => {
    const ended = world.run('touch ran', [...given('exit 3'), '--keep-on-failure', '30m']);
    await until(() => existsSync(world.job) && world.record().kept !== null);
    const stopped = await world.gpucloud(['jobs', 'stop', 'job']);
    expect(stopped.code, stopped.stderr).toBe(0);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(125);
    expect(stderr).toMatch(
      /\nerror: The setup failed with exit code 3, so the command was not started\.\n$/,
    );
  });

  test('says that jobs stop stopped a setup that no process follows', async () => {
    await world.detach('touch ran', ...given(LASTS));
    await isUp();
    const list = await world.gpucloud(['jobs', 'list', '--columns', 'phase']);
    expect(list.stdout).toBe('PHASE\nsetup\n');
    await world.gpucloud(['jobs', 'stop', 'job']);
    expect(world.record().report).toMatchObject({
      exit_code: 125,
      error: 'gpucloud jobs stop stopped the setup, so the command was not started.',
    });
    expect(ranCommand()).toBe(false);
  });

  test('has one exit code after Ctrl-C: in run, its report, jobs list and jobs get', async () => {
    withoutTranscript();
    const { interrupts, press } = ctrlC();
    const ended = world.run('touch ran', given(LASTS), { interrupts });
    await isUp();
    press();
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(130);
    expect(world.record().report).toMatchObject({ stage: 'setup', exit_code: 130 });
    const [row] = JSON.parse((await world.gpucloud(['jobs', 'list', '--json'])).stdout);
    expect(row).toMatchObject({ status: 'EXITED', exit_code: 130, phase: 'setup' });
    const get = async () =>
      JSON.parse((await world.gpucloud(['jobs', 'get', 'job', '--json'])).stdout);
    const report = { exit_code: 130 };
    expect(await get()).toMatchObject({ exit_code: 130, setup_output: 'up\n', report });
    for (const from of ['out.0', 'err.0']) rmSync(world.jobFile(from));
    expect(await get()).toMatchObject({ exit_code: 130, setup_output: null, report });
  });

  test('says that jobs stop stopped a setup', async () => {
    const file = world.local('report.json');
    const ended = world.run('touch ran', [...given(LASTS), '--report', file]);
    await isUp();
    const stopped = await world.gpucloud(['jobs', 'stop', 'job']);
    expect(stopped.code, stopped.stderr).toBe(0);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(125);
    expect(stderr).toContain(
      'error: gpucloud jobs stop stopped the setup, so the command was not started.\n' +
        'hint: see its output: gpucloud jobs logs job --tail 10\n',
    );
    const error = 'gpucloud jobs stop stopped the setup, so the command was not started.';
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ error });
    expect(world.record().report).toMatchObject({ error });
    expect(world.status()).toBe('TERMINATING');
    expect(ranCommand()).toBe(false);
  });
});
