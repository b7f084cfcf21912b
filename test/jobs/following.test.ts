import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { probe } from '../../src/jobs/remote/probe.ts';
import type { RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import { NEW } from '../support/renting-service.ts';
import { until } from '../support/ssh-world.ts';
import { withoutTranscript } from '../support/transcript.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { ctrlC, exited, followed, hanging, heard, LASTS, notifying, started } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});

const HOST_KEY = 'Host key verification failed.';

/** Waits for the file `go` in the command's working folder. */
const UNTIL_GO = 'touch up; until [ -e go ]; do sleep 0.1; done';
const go = () => writeFileSync(join(world.job, 'work', 'go'), '');

const shown = async (...words: string[]) => {
  const { stdout, stderr } = await world.gpucloud(['jobs', ...words, '--json']);
  return JSON.parse(stdout || stderr);
};

describe('a cut connection', () => {
  test('prints each byte once after a cut connection, and keeps the exit code', async () => {
    const ended = world.run(`printf one; printf err >&2; ${UNTIL_GO}; echo two; exit 3`, []);
    await followed(world);
    await until(() => world.record().printed.out === 3);
    let tries = 0;
    world.ssh.refuse = () => (tries++ < 2 ? 'Connection to 127.0.0.1 refused.' : undefined);
    world.ssh.cut();
    await until(() => tries > 2);
    go();
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: 'onetwo\n' });
  });

  test("prints a command's long output in order", async () => {
    const lines = 'head -c 60000 /dev/zero | tr "\\0"';
    const ended = world.run(`${lines} a; ${UNTIL_GO}; ${lines} b; ${lines} c; exit 3`, []);
    await followed(world);
    await until(() => world.record().printed.out === 60_000);
    world.ssh.cut();
    go();
    const { code, stdout, stderr } = await ended;
    expect(code, stderr).toBe(3);
    expect(stdout).toBe(['a', 'b', 'c'].map((letter) => letter.repeat(60_000)).join(''));
  });

  test('exits with 125 and terminates the instance if its host key changed', async () => {
    const ended = world.run(LASTS, []);
    await followed(world);
    world.ssh.refuse = () => HOST_KEY;
    world.ssh.cut();
    const { code } = await ended;
    expect({ code, status: world.status() }).toEqual({ code: 125, status: 'TERMINATING' });
  });

  test('runs the command once if its first start is cut off', async () => {
    let starts = 0;
    world.ssh.refuse = (script) =>
      script.includes('eval') && starts++ === 0 ? 'Connection reset by peer' : undefined;
    const { code, stdout } = await world.run('echo ran', []);
    expect({ code, stdout, starts }).toEqual({ code: 0, stdout: 'ran\n', starts: 2 });
  });

  test('follows a command after an unconfirmed start', async () => {
    let isCut = false;
    const programs: typeof world.ssh = {
      ...world.ssh,
      async startPiped(program, platform) {
        const running = await world.ssh.startPiped(program, platform);
        if (isCut || !program.args.at(-1)?.includes('eval')) return running;
        isCut = true;
        // The supervisor reads stdin next, and starts the command.
        return {
          ...running,
          stdout: new PassThrough().end(),
          ended: exited(world).then(() => 255),
        };
      },
    };
    await world.run('echo ran; exit 3', [], { programs });
  });

  test('exits with 125 and runs nothing if another job has just started on the instance', async () => {
    world.ssh.refuse = (script) => {
      if (script.includes('eval')) mkdirSync(join(world.job, 'started/other'), { recursive: true });
      return undefined;
    };
    await world.run('echo ran', []);
  });
});

test('passes --pass-env variables to the command and shows their values nowhere else', async () => {
  const flags = ['--pass-env', 'TOKEN', '--pass-env', 'COUNT'];
  const env = { TOKEN: "it's secret", COUNT: '2' };
  const { code, stdout, stderr } = await world.run('echo "$TOKEN, $COUNT"', flags, { env });
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "it's secret, 2\n" });
  const shown = JSON.stringify([stderr, world.ssh.scripts, world.record()]);
  expect(shown).not.toContain('secret');
});

describe('signing in', () => {
  test('retries signing in until the instance accepts the key', async () => {
    let tries = 0;
    world.ssh.refuse = () =>
      tries++ < 2 ? 'root@127.0.0.1: Permission denied (publickey).' : undefined;
    await world.run('exit 3', []);
  });
});

describe('jobs attach', () => {
  test('exits with 130 on Ctrl-C and leaves the job running', async () => {
    await world.detach(LASTS);
    await started(world);
    const { interrupts, press } = ctrlC();
    const report = world.local('report.json');
    const argv = ['jobs', 'attach', 'job', '--report', report];
    const attached = world.gpucloud(argv, { interrupts });
    await followed(world);
    press();
    const { code, stderr } = await attached;
    expect(code, stderr).toBe(130);
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({
      stage: 'running',
      command_exit_code: null,
      terminated: 'unknown',
      exit_code: 130,
    });
    expect(world.terminations()).toBe(0);
    expect(await shown('get', 'job')).toMatchObject({
      status: 'RUNNING',
      ended_at: null,
      report: null,
      ends_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  test.each([
    ['attach', 7, 'job is STOPPED, so its command no longer runs. It may still be billing.'],
    ['stop', 5, 'job is STOPPED.'],
  ])('jobs %s says how to get the results of a stopped instance', async (verb, exit, message) => {
    await world.detach(LASTS);
    world.renting.rent(NEW, 'job', { status: 'STOPPED' });
    const { code, stderr } = await world.gpucloud(['jobs', verb, 'job']);
    expect(code, stderr).toBe(exit);
    expect(stderr).toBe(
      `Connecting to job\nerror: ${message}\nhint: reach the output (this bills): gpucloud instances start job --wait=ssh; give the output up: gpucloud instances terminate job\n`,
    );
    expect(world.terminations()).toBe(0);
  });

  test('status and reap of a stopped instance promise no results', async () => {
    await world.detach(LASTS, '--fetch', `up:${world.local('up')}`);
    world.renting.rent(NEW, 'job', { status: 'STOPPED' });
    const { next } = JSON.parse((await world.gpucloud(['status', '--json'])).stdout);
    expect(next.slice(0, 2)).toEqual([
      { command: 'gpucloud instances start job --wait=ssh', purpose: 'reach the results' },
      { command: 'gpucloud instances terminate job', purpose: 'give the results up' },
    ]);
    world.advance(61 * 60_000);
    const { code, stderr } = await world.gpucloud(['instances', 'reap']);
    expect({ code, status: world.status() }, stderr).toEqual({ code: 125, status: 'TERMINATING' });
    const lost = 'The results of job were not copied. To see why';
    const { attention } = JSON.parse((await world.gpucloud(['status', '--json'])).stdout);
    expect(attention.map(({ message }: { message: string }) => message)).toContain(lost);
    expect((await world.gpucloud(['jobs', 'list'])).stderr).toContain(
      `${lost}: gpucloud jobs get job`,
    );
  });

  test('instances stop warns about an unfinished job', async () => {
    await world.detach(LASTS);
    await world.gpucloud(['instances', 'stop', 'job']);
  });

  test('interrupts the command near its deadline', async () => {
    await world.detach(`trap 'exit 9' INT; ${LASTS}`);
    await started(world);
    world.advance(55 * 60_000);
    await world.gpucloud(['jobs', 'attach', 'job']);
    expect(await shown('get', 'job')).toMatchObject({
      exit_code: 9,
      reason: "The command was interrupted near job's deadline.",
      report: { exit_code: 9, error: null },
    });
  });

  test('prints the output, fetches the results and terminates the instance', async () => {
    await world.detach(
      'echo out; mkdir out; echo x >out/r; exit 4',
      '--fetch',
      `out:${world.local('out')}`,
    );
    await exited(world);
    await world.gpucloud(['jobs', 'attach', 'job']);
    expect(readFileSync(world.local('out/r'), 'utf8')).toBe('x\n');
    expect(world.status()).toBe('TERMINATING');
    expect(await shown('get', 'job')).toMatchObject({
      status: 'EXITED',
      exit_code: 4,
      fetched: [world.local('out')],
      cost_at_most: '89.90',
    });
  });
});

describe('jobs logs', () => {
  test('prints the kept output after another process stopped the job', async () => {
    withoutTranscript();
    await world.detach(`echo one; ${UNTIL_GO}; echo two`);
    await started(world);
    const ended = world.gpucloud(['jobs', 'logs', 'job', '--follow']);
    await followed(world);
    const before = world.ssh.scripts.length;
    world.ssh.refuse = (script) =>
      script.includes('idle=0') && !script.includes('once') ? 'cut' : undefined;
    go();
    await exited(world);
    world.ssh.refuse = () => undefined;
    await world.gpucloud(['jobs', 'stop', 'job']);
    expect(world.ssh.scripts.length).toBeGreaterThan(before);
    world.ssh.refuse = () => 'Connection refused';
    world.ssh.cut();
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'one\ntwo\n' });
  });

  test('exits with 130 on Ctrl-C without a message and leaves the job running', async () => {
    await world.detach(LASTS);
    await started(world);
    const { interrupts, press } = ctrlC();
    const ended = world.gpucloud(['jobs', 'logs', 'job', '-f'], { interrupts });
    await followed(world);
    press();
    expect(await ended).toMatchObject({ code: 130, stderr: '' });
    expect(await shown('get', 'job')).toMatchObject({ status: 'RUNNING' });
  });

  test('exits with 130 on Ctrl-C while the instance does not respond', async () => {
    await world.detach(LASTS);
    const { interrupts, press } = ctrlC();
    const startPiped: typeof world.ssh.startPiped = async () => {
      setImmediate(press);
      return hanging();
    };
    const programs = { start: world.ssh.start, startPiped };
    const logs = await world.gpucloud(['jobs', 'logs', 'job'], { interrupts, programs });
    expect(logs).toMatchObject({ code: 130, stdout: '', stderr: '' });
  });

  test('exits with 0 at the next output once stdout is closed, and leaves the job running', async () => {
    await world.detach(`${UNTIL_GO}; while :; do echo more; sleep 0.1; done`);
    await started(world);
    const closed = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(closed) });
    const ended = world.gpucloud(['jobs', 'logs', 'job', '--follow'], { stdout });
    await followed(world);
    go();
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
    expect(await shown('get', 'job')).toMatchObject({ status: 'RUNNING', ended_at: null });
    expect(world.terminations()).toBe(0);
  });

  test("exits with 9 if kept output can't be written", async () => {
    await world.run('echo one', []);
    const full = Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' });
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(full) });
    await world.gpucloud(['jobs', 'logs', 'job'], { stdout });
  });

  test('prints the last lines of long kept output with --tail', async () => {
    await world.run('i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i; done', []);
    const { code, stdout } = await world.gpucloud(['jobs', 'logs', 'job', '--tail', '2']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '19999\n20000\n' });
    const most = await world.gpucloud(['jobs', 'logs', 'job', '--tail', '15000']);
    expect(most.stdout.split('\n')[0]).toBe('5001');
  });
});

const KEEPS_BILLING =
  'dev keeps running and billing. To terminate it: gpucloud instances terminate dev';

test('jobs stop warns while it cannot reach a command that run follows', async () => {
  const ended = world.run(`trap 'exit 9' INT; ${LASTS}`, []);
  await followed(world);
  let tries = 0;
  world.ssh.refuse = () => (tries++ === 0 ? 'Connection refused' : undefined);
  const { code, stderr } = await world.gpucloud(['jobs', 'stop', 'job']);
  const warning = 'warning: Could not connect to job: Connection refused\n';
  expect({ code, stderr }).toEqual({ code: 0, stderr: warning });
  expect(await ended).toMatchObject({ code: 9 });
});

describe('run --on', () => {
  beforeEach(() => {
    world.renting.rent(NEW, 'dev');
  });

  test('lets jobs stop end a job that is not started yet', async () => {
    world.ssh.refuse = (script) =>
      script.includes('unset script') ? 'Connection refused' : undefined;
    const ended = world.runOn('true');
    await until(() => world.ssh.scripts.some((script) => script.includes('unset script')));
    expect(await world.gpucloud(['jobs', 'stop', 'dev'])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect(await ended).toEqual({
      code: 125,
      stdout: '',
      stderr: `Connecting to dev\nRunning sh -c true\n${KEEPS_BILLING}\nerror: gpucloud jobs stop stopped the job.\n`,
    });
  });

  test('leaves the instance running and sends job_ended after jobs stop', async () => {
    await notifying(world);
    const detached = await world.runOn(LASTS, '--detach');
    expect(detached, detached.stderr).toMatchObject({ code: 0 });
    expect(await shown('get', 'dev')).toMatchObject({ status: 'RUNNING', cost_at_most: null });
    // Stores the grace period, since a deadline may be set later.
    expect(world.record().grace).toBe(2 * 60_000);
    expect(await world.runOn('true')).toMatchObject({ code: 5 });
    await started(world);
    const { interrupts, press } = ctrlC();
    const attached = world.gpucloud(['jobs', 'attach', 'dev'], { interrupts });
    await followed(world);
    press();
    expect(await attached).toMatchObject({ code: 130 });
    expect(heard(world)).toEqual([]);
    const stopped = await world.gpucloud(['jobs', 'stop', 'dev']);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(stopped.stderr).toMatch(new RegExp(`\n${KEEPS_BILLING}\n$`));
    expect(world.terminations()).toBe(0);
    expect(heard(world)).toMatchObject([{ event: 'job_ended', name: 'dev' }]);
  });

  test.each([
    ['run', 'true', 0],
    ['run', 'exit 3', 3],
    ['jobs attach', 'exit 3', 3],
  ])('prints last that the instance keeps billing after %s of %s', async (how, command, code) => {
    const detach = how === 'run' ? [] : ['--detach'];
    let ended = await world.runOn(command, ...detach);
    if (how !== 'run') ended = await world.gpucloud(['jobs', 'attach', 'dev']);
    expect(ended.code, ended.stderr).toBe(code);
    expect(ended.stderr).toMatch(new RegExp(`\n${KEEPS_BILLING}\n$`));
  });

  test('prints no note about billing with --json, or if the instance was terminated', async () => {
    await world.runOn('true', '--json');
    await world.runOn(LASTS, '--detach');
    world.renting.rent(NEW, 'dev', { status: 'TERMINATED' });
    await world.gpucloud(['jobs', 'attach', 'dev']);
  });
});

describe('run --on while another job runs on the instance', () => {
  const fetch = () => ['--fetch', `up:${world.local('up')}`];
  beforeEach(async () => {
    world.renting.rent(NEW, 'dev');
    expect(await world.runOn(LASTS, '--detach', ...fetch())).toMatchObject({ code: 0 });
    await started(world);
  });
  const refused = {
    code: 5,
    stdout: '',
    stderr: expect.stringMatching(
      /error: Another job runs on dev\.\nhint: .*jobs logs dev; .*jobs stop dev\n$/,
    ),
  };

  test('exits with 5 if the other job starts after the first check', async () => {
    // Simulates a job that another computer started.
    rmSync(world.jobFile('json'));
    const away = `${world.job}.away`;
    renameSync(world.job, away);
    world.ssh.refuse = (script) => {
      if (script.includes('rm -rf started')) renameSync(away, world.job);
      return undefined;
    };
    expect(await world.runOn('echo ran')).toMatchObject(refused);
    expect(existsSync(join(world.job, 'started'))).toBe(true);
    expect(existsSync(join(world.job, 'exit'))).toBe(false);
  });
});

test('accepts an instance kept by --keep-on-failure for run --on', async () => {
  await world.gpucloud(['instances', 'reap', '--every', '5m']);
  await world.run('exit 3', ['--keep-on-failure', '30m']);
  await world.runOn('echo again');
  expect(world.status()).toBe('ACTIVE');
});

test('exits with 2 for run --detach if nothing enforces the deadline', async () => {
  await world.run('true', ['--detach']);
  expect(world.renting.instances.size).toBe(0);
});

test('exits with 5 for jobs attach and jobs stop of an ended job', async () => {
  await world.run('exit 3', []);
  for (const verb of ['attach', 'stop']) {
    await world.gpucloud(['jobs', verb, 'job']);
  }
});

test('uses tar instead of rsync if the login shell prints a greeting', async () => {
  const run = async (stdout: string) => ({ code: 0, stdout, stderr: '' });
  const found = (printed: string) =>
    probe({ run: () => run(printed) } as unknown as RemoteShell, new AbortController().signal);
  const own =
    'gpucloud-run none\ngpucloud-run home /root\ngpucloud-run rsync\ngpucloud-run tar\ngpucloud-run ready\n';
  expect(await found(own)).toMatchObject({ state: 'none', hasRsync: true, hasTar: true });
  const lines = ['gpucloud-run running on', 'a gpucloud-run home /a', 'a gpucloud-run gpu 1 1 1 1'];
  const greeting = ['a gpucloud-run set up a', ...lines].join('\n');
  expect(await found(`${greeting}\n${own}`)).toEqual({
    ...{ state: 'none', exitCode: undefined, isSetup: false, setUp: undefined, gpu: null },
    ...{ home: '/root', hasRsync: false, hasTar: true },
  });
});
