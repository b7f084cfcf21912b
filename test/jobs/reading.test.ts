import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NEW } from '../support/renting-service.ts';
import { until } from '../support/ssh-world.ts';
import { withoutTranscript } from '../support/transcript.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { ODD } from './odd-name.ts';
import { withoutPauses } from './passing-clock.ts';
import {
  ctrlC,
  exited,
  followed,
  hanging,
  heard,
  killSupervisor,
  LASTS,
  notifying,
  reap,
  started,
} from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

const HOST_KEY = 'Host key verification failed.';
const REFUSED = 'ssh: connect to host 127.0.0.1 port 22: Connection refused';

const jobs = (...words: string[]) => world.gpucloud(['jobs', ...words]);
/** Changes fields of the stored job record. */
function store(change: object): void {
  const path = world.jobFile('json');
  writeFileSync(path, JSON.stringify({ ...world.record(), ...change }));
}

describe('jobs logs of an open job', () => {
  beforeEach(async () => {
    await world.detach(`echo one; echo two; echo three >&2; ${LASTS}`);
    await started(world);
  });

  test('prints all output so far, or only the last lines with --tail', async () => {
    await jobs('logs', 'job');
    const last = await jobs('logs', 'job', '--tail', '1');
    expect(last).toEqual({ code: 0, stdout: 'two\n', stderr: 'three\n' });
  });

  test('prints in jobs logs that the command was not started yet', async () => {
    const away = join(world.job, 'started');
    rmSync(away, { recursive: true });
    const shown = async () => (await jobs('logs', 'job')).stderr;
    expect(await shown()).toBe('warning: The command on job disappeared without an exit code.\n');
    store({ shown_at: null });
    expect(await shown()).toBe('The command on job has not started yet.\n');
  });

  test("exits with 3 if a terminated instance's output was not kept", async () => {
    world.renting.rent(NEW, 'job', { status: 'TERMINATED' });
    const none = await jobs('logs', 'job');
    expect(none).toMatchObject({ code: 3, stdout: '' });
    expect(world.ssh.scripts.filter((script) => script.includes('idle=0'))).toEqual([]);
  });

  test('reports a stopped instance, a new host key and a refused connection', async () => {
    world.renting.rent(NEW, 'job', { status: 'STOPPED' });
    expect(await jobs('logs', 'job')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('job is STOPPED.'),
    });
    world.renting.rent(NEW, 'job');
    world.ssh.refuse = () => HOST_KEY;
    expect(await jobs('logs', 'job')).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('job has a new host key'),
    });
    world.ssh.refuse = () => REFUSED;
    expect(await jobs('logs', 'job')).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining(`Could not connect to job: ${REFUSED}`),
    });
  });

  test('fails if the instance does not respond within 30 seconds', async () => {
    const startPiped: typeof world.ssh.startPiped = async () => {
      return hanging();
    };
    const programs = { start: world.ssh.start, startPiped };
    const logs = await world.gpucloud(['jobs', 'logs', 'job'], {
      programs,
      clock: withoutPauses(30_000),
    });
    expect(logs.stderr).toContain('job did not respond within 30 s.');
  });

  test('prints a warning for each lost connection and a message after reconnecting', async () => {
    const ended = jobs('logs', 'job', '--follow');
    await followed(world);
    await until(() => world.ssh.scripts.length > 3);
    let tries = 0;
    world.ssh.refuse = () => (tries++ < 2 ? REFUSED : undefined);
    world.ssh.cut();
    await until(() => tries > 2);
    await killSupervisor(world);
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'one\ntwo\n' });
  });

  test('fails if the instance has a new host key after a lost connection', async () => {
    withoutTranscript();
    const ended = jobs('logs', 'job', '--follow');
    await followed(world);
    world.ssh.refuse = () => HOST_KEY;
    world.ssh.cut();
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(6);
    expect(stderr).toMatch(/^error: job has a new host key/m);
  });

  test('fails if it cannot write its output', async () => {
    const stdout = new Writable({
      write: (_chunk, _encoding, done) =>
        done(Object.assign(new Error('ENOSPC: full'), { code: 'ENOSPC' })),
    });
    await world.gpucloud(['jobs', 'logs', 'job'], { stdout });
  });
});

test.each([
  ['jobs', 'list'],
  ['instances', 'reap'],
])('gpucloud %s %s exits with 130 on Ctrl-C while connecting', async (...argv) => {
  await world.detach(LASTS);
  const { interrupts, press } = ctrlC();
  world.ssh.refuse = () => {
    press();
    return REFUSED;
  };
  await world.gpucloud(argv, { interrupts });
});

describe('the status in jobs get', () => {
  const state = async () => {
    const { stdout, stderr } = await jobs('get', 'job', '--json');
    const { status, exit_code, ends_at, seconds } = JSON.parse(stdout);
    return { status, exit_code, hasEnd: ends_at !== null, seconds, stderr };
  };

  test('shows RUNNING, UNREACHABLE or LOST in jobs get before the job ends', async () => {
    await world.detach(LASTS);
    await started(world);
    world.advance(60_000);
    const running = await state();
    expect(running).toMatchObject({ status: 'RUNNING', exit_code: null, hasEnd: true, stderr: '' });
    expect(running.seconds).toBeGreaterThanOrEqual(60);
    expect(running.seconds).toBeLessThan(90);
    world.ssh.refuse = () => REFUSED;
    expect(await state()).toMatchObject({
      status: 'UNREACHABLE',
      exit_code: null,
      hasEnd: true,
      stderr: expect.stringContaining(`Could not connect to job: ${REFUSED}`),
    });
    world.ssh.refuse = () => undefined;
    await killSupervisor(world);
    expect(await state()).toMatchObject({ status: 'LOST', exit_code: null });
    world.renting.rent(NEW, 'job', { status: 'TERMINATED' });
    const gone = { exit_code: null, hasEnd: false };
    expect(await state()).toMatchObject({ status: 'TERMINATED', ...gone });
    store({ lost_at: '2026-01-15T12:30:00.000Z' });
    expect(await state()).toMatchObject({ status: 'LOST', ...gone });
  });

  test('shows EXITED in jobs get with the stored exit code and duration after the command exits', async () => {
    await world.detach('exit 4');
    await exited(world);
    expect(await state()).toMatchObject({ status: 'EXITED', exit_code: 4, hasEnd: true });
    const start = Date.parse(world.record().started_at);
    store({ exited_at: new Date(start + 45_000).toISOString(), exit_code: 4 });
    world.advance(600_000);
    expect(await state()).toMatchObject({ status: 'EXITED', hasEnd: true, seconds: 45 });
    store({ ended_at: new Date(start + 90_000).toISOString() });
    expect(await state()).toMatchObject({ status: 'EXITED', hasEnd: false, seconds: 90 });
    store({ exit_code: null });
    expect(await state()).toMatchObject({ status: 'TERMINATED', exit_code: null });
  });
});

test('warns in jobs logs about output that was not kept', async () => {
  await world.run('echo whole; echo err >&2', []);
  renameSync(world.jobFile('out.0'), world.jobFile('out.6'));
  await jobs('logs', 'job');
  expect(await jobs('logs', 'job', '--tail', '1')).toMatchObject({ stderr: 'err\n' });
  // A full disk kept the first 3 bytes.
  writeFileSync(world.jobFile('out.0'), 'who');
  rmSync(world.jobFile('out.6'));
  for (const more of [[], ['--tail', '1']]) {
    expect(await jobs('logs', 'job', ...more)).toMatchObject({
      stdout: expect.stringContaining('who'),
      stderr: 'warning: The last 3 bytes of stdout of job were not kept.\nerr\n',
    });
  }
  for (const [record, text] of [
    [
      { reason: 'The terminal was closed.' },
      'The exit code of job is unknown: The terminal was closed.',
    ],
    [{ reason: null }, 'The exit code of job is unknown: it was terminated first.'],
    [
      { lost_at: '2026-01-15T12:00:00.000Z' },
      'The command on job disappeared without an exit code.',
    ],
  ] as const) {
    store({ exit_code: null, ...record });
    expect((await jobs('logs', 'job', '--tail', '1')).stderr).toContain(`warning: ${text}\n`);
  }
});

test('suggests the nearest job in jobs get and accepts a unique ID prefix', async () => {
  await world.detach('true', '--name', 'trainer');
  await exited(world);
  expect(await jobs('get', 'triner')).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/no job was started .*did you mean trainer\? list jobs/s),
  });
  const far = await jobs('get', 'something-else');
  expect(far).toMatchObject({ code: 3 });
  expect(far.stderr).not.toContain('did you mean');
  const { stdout } = await jobs('get', NEW.slice(0, 8), '--json');
  expect(JSON.parse(stdout)).toMatchObject({ name: 'trainer' });
  await jobs('get', 'TRAINER', '--json');
});

test('never stops a job by an ID prefix that is the name of an instance, or with --yes', async () => {
  await world.detach(LASTS);
  const prefix = NEW.slice(0, 8);
  expect(await jobs('stop', prefix, '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes does not accept an ID prefix'),
  });
  const other = '11111111-0000-4000-8000-000000000002';
  world.renting.rent(other, prefix, { status: 'ACTIVE' });
  await world.gpucloud(['instances', 'track', other]);
  expect(await jobs('stop', prefix)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`matches several instances: job ${NEW}, ${prefix} ${other}`),
  });
  expect(world.record().ended_at).toBeNull();
  await jobs('stop', NEW.slice(0, 13));
});

test('warns about an unreadable record and lists the other jobs', async () => {
  withoutTranscript();
  await world.detach('true');
  const first = world.jobFile('json');
  const other = '3f0c5d9e-1111-4222-8333-444455558888';
  world.renting.newId = () => other;
  await world.detach('true', '--name', 'later');
  expect(await jobs('get', NEW.slice(0, 8))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('matches several instances'),
  });
  writeFileSync(first, '{"version": 1}');
  const { code, stdout, stderr } = await jobs('list', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'later' }]);
  expect(stderr).toContain('Could not read the job: ');
  expect(stderr).toContain(basename(first));
});

describe('jobs stop', () => {
  test("leaves the job open if the command can't be stopped", async () => {
    await world.detach(LASTS);
    await started(world);
    const isStop = (script: string) => script.includes('send INT');
    world.ssh.refuse = (script) => (isStop(script) ? HOST_KEY : undefined);
    const { code } = await jobs('stop', 'job');
    expect(code).not.toBe(0);
    expect(world.ssh.scripts.filter(isStop)).toHaveLength(1);
    const { stderr: error } = await jobs('stop', 'job', '--json');
    expect(error).toContain('"may_be_billing":true');
    expect(world.terminations()).toBe(0);
  });

  test('retries jobs stop after a refused connection', async () => {
    await world.detach(LASTS);
    await started(world);
    let tries = 0;
    world.ssh.refuse = (script) =>
      script.includes('send INT') && tries++ === 0 ? REFUSED : undefined;
    await world.gpucloud(['jobs', 'stop', 'job'], {
      clock: withoutPauses(3_000),
    });
    expect({ tries, status: world.status() }).toEqual({ tries: 2, status: 'TERMINATING' });
  });
});

describe('jobs attach', () => {
  test('exits with 125 if a command that never started needs unstored variables', async () => {
    await world.detach('true');
    await exited(world);
    rmSync(world.job, { recursive: true });
    store({ variables: ['HF_TOKEN'], command_started_at: null });
    await jobs('attach', 'job');
    expect(world.status()).toBe('TERMINATING');
  });

  test('starts a command that was never started', async () => {
    await world.detach('echo ran; exit 3');
    await exited(world);
    rmSync(world.job, { recursive: true });
    store({ command_started_at: null });
    expect(await jobs('attach', 'job')).toMatchObject({ code: 3, stdout: 'ran\n' });
  });

  test('never starts a command twice, even if its folder is empty', async () => {
    await world.gpucloud(['instances', 'reap', '--every', '5m']);
    await world.detach('echo ran');
    await exited(world);
    rmSync(world.job, { recursive: true });
    await jobs('attach', 'job');
    expect(existsSync(world.job)).toBe(false);
  });

  test("keeps the instance if its results can't be stored", async () => {
    await world.gpucloud(['instances', 'reap', '--every', '5m']);
    const local = world.local('out');
    await world.detach('mkdir out; echo x >out/a; exit 4', '--fetch', `out:${local}`);
    await exited(world);
    writeFileSync(local, 'in the way');
    await jobs('attach', 'job');
    expect(world.status()).toBe('ACTIVE');
    expect(world.record()).toMatchObject({ kept: 'results', exit_code: 4 });
  });

  test("reuses the run's SSH flags in jobs logs unless they are overridden", async () => {
    await world.detach('exit 3', '--ssh-option', 'Compression=yes', '--ssh-arg=-4', '--user', 'me');
    await exited(world);
    const seen: string[][] = [];
    const programs = {
      start: world.ssh.start,
      startPiped: (...given: Parameters<typeof world.ssh.startPiped>) => {
        seen.push([...given[0].args]);
        return world.ssh.startPiped(...given);
      },
    };
    await world.gpucloud(['jobs', 'logs', 'job'], { programs });
    expect(seen[0]).toEqual(expect.arrayContaining(['Compression=yes', '-4', 'me@127.0.0.1']));
    seen.length = 0;
    const flags = ['--ssh-option', 'Compression=no', '--ssh-arg=-6', '--user', 'you'];
    await world.gpucloud(['jobs', 'logs', 'job', ...flags], { programs });
    expect(seen[0]).toEqual(expect.arrayContaining(['Compression=no', '-6', 'you@127.0.0.1']));
    expect(seen[0]).not.toEqual(expect.arrayContaining(['Compression=yes']));
    expect(seen[0]).not.toEqual(expect.arrayContaining(['-4']));
  });
});

describe('reap', () => {
  test('does not interrupt the command with --grace 0s', async () => {
    await world.detach(LASTS, '--grace', '0s');
    await started(world);
    world.advance(59.5 * 60_000);
    expect(await reap(world, '--every', '5m')).toMatchObject({ code: 0, rows: [] });
    expect(existsSync(join(world.job, 'exit'))).toBe(false);
    expect(world.record()).toMatchObject({ ended_at: null, lost_at: null });
  });

  test('reports a lost --on job and how to fetch its results', async () => {
    await notifying(world);
    world.renting.rent(NEW, ODD);
    await world.runOn(LASTS, '--detach');
    await started(world);
    await killSupervisor(world);
    const { rows } = await reap(world);
    expect(rows).toMatchObject([{ name: ODD, outcome: 'lost' }]);
    expect(heard(world)).toMatchObject([{ event: 'job_ended', name: ODD, exit_code: null }]);
  });

  test('remembers a refused sign-in while the instance does not respond', async () => {
    await world.detach('true');
    for (const refusal of ['Permission denied (publickey).', REFUSED]) {
      world.ssh.refuse = () => refusal;
      await reap(world);
    }
    expect(world.record().sign_in_refused).toContain('Permission denied');
  });

  test('prints the reason for a skipped instance with --debug', async () => {
    withoutTranscript();
    await world.detach('true');
    world.ssh.refuse = () => REFUSED;
    expect((await reap(world, '--debug')).stderr).toContain(`Could not connect to job: ${REFUSED}`);
    expect((await reap(world)).stderr).not.toContain('Could not connect');
  });

  test('refuses to fetch to stdout, which an earlier version recorded', async () => {
    await world.detach('echo x >r', '--fetch', `r:${world.local('r')}`);
    await exited(world);
    store({ fetch: [{ remote: 'r', local: '/dev/stdout', fetched_at: null }] });
    const { rows } = await reap(world);
    expect(rows).toMatchObject([{ outcome: 'refused' }]);
  });
});

test('prints only the ID with run --detach -q', async () => {
  const { code, stdout } = await world.run('true', ['--detach', '--unenforced', '-q']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${NEW}\n` });
});
