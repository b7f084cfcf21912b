import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { createEmulator } from '../output/emulator.ts';
import { programAt } from '../support/needs.ts';
import { NEW } from '../support/renting-service.ts';
import { until } from '../support/ssh-world.ts';
import { withoutTranscript } from '../support/transcript.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { withoutPauses } from './passing-clock.ts';
import { ctrlC, LASTS, started, withoutTimes } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});

const REFUSED = 'ssh: connect to host 127.0.0.1 port 22: Connection refused';
const fetching = (what = 'out') => ['--fetch', `${what}:${world.local('got')}`];
const got = (name: string) => readFileSync(join(world.local('got'), name), 'utf8');

/** Replaces a program on the instance; the script can call the original as `real`. */
function replace(name: string, script: string): void {
  const text = `#!/bin/sh\nreal() { ${programAt(name)} "$@"; }\n${script}\n`;
  writeFileSync(world.local(`../bin/${name}`), text, { mode: 0o755 });
}

test('prints one line per phase of run, then a summary', async () => {
  mkdirSync(world.local('in'));
  writeFileSync(world.local('in/a'), 'x\n');
  const flags = ['--unenforced', '--sync', world.local('in'), ...fetching('a')];
  const { code, stdout, stderr } = await world.run('cat a; exit 3', flags);
  expect({ code, stdout }).toEqual({ code: 3, stdout: 'x\n' });
  const lines = withoutTimes(stderr).split('\n');
  expect(lines.filter((line) => !/^(Waiting|job is|Created|Status)/.test(line))).toEqual([
    `To copy: 1 file (2 bytes) from ${world.local('in')}`,
    'warning: --sync copies a to the instance, and --fetch copies it back: what an earlier run left there comes back as a result. To leave it out: --exclude a',
    'Price per hour: unknown until created; --max-price sets a limit.',
    'Renting job',
    'Deadline: TIME. The command is interrupted 6 min before the deadline (--grace).',
    'Starting job',
    'Connecting to job',
    'Copying 1 file (2 bytes)',
    "Running sh -c 'cat a; exit 3'",
    'Fetching a',
    'Terminating job',
    "sh -c 'cat a; exit 3': exit code 3",
    `Fetched ${world.local('got')}`,
    'Terminated job after N s.',
    'It cost at most 89.90 ₽.',
    '',
  ]);
});

test('says before renting what is deleted if --sync has no --fetch', async () => {
  mkdirSync(world.local('in'));
  const flags = ['--unenforced', '--sync', world.local('in')];
  for (const more of [flags, [...flags, '--dry-run'], ['--unenforced', '--name', 'other']])
    await world.run('true', more);
});

test.each([
  [['Host key verification failed.'], 1],
  // The first attempt may have started the command.
  [['client_loop: send disconnect: Broken pipe', 'Host key verification failed.'], 2],
])('looks for a command after a failed start only if it may run: %j', async (faults, looks) => {
  const left = [...faults];
  world.ssh.refuse = (script) => (script.includes('unset script') ? left.shift() : undefined);
  const { code, stderr } = await world.run('true', ['--unenforced']);
  expect({ code, status: world.status(), left }, stderr).toEqual({
    code: 125,
    status: 'TERMINATING',
    left: [],
  });
  const probes = world.ssh.scripts.filter((script) => script.includes('gpucloud-run ready'));
  expect(probes).toHaveLength(looks);
});

describe('signing in', () => {
  test('exits with 125 after 40 refused SSH connections', async () => {
    world.ssh.refuse = () => REFUSED;
    const { code, stderr } = await world.run('true', [], { clock: withoutPauses(3_000) });
    expect({ code, status: world.status() }, stderr).toEqual({ code: 125, status: 'TERMINATING' });
    expect(world.ssh.scripts).toHaveLength(40);
  });

  test('exits with 125 if signing in exceeds --wait-timeout', async () => {
    world.ssh.refuse = () => REFUSED;
    const flags = ['--wait-timeout', '60s'];
    const { code, stderr } = await world.run('true', flags, { speed: 100 });
    expect({ code, status: world.status() }, stderr).toEqual({ code: 125, status: 'TERMINATING' });
  });

  test('exits with 125 if the image contains the folder of an earlier job', async () => {
    mkdirSync(join(world.job, 'started'), { recursive: true });
    const { code, stdout, stderr } = await world.run('echo ran', []);
    expect([code, stdout, world.status()], stderr).toEqual([125, '', 'TERMINATING']);
  });
});

describe('copying in', () => {
  const folder = () => {
    mkdirSync(world.local('in'));
    writeFileSync(world.local('in/a'), Buffer.alloc(3_000_000));
    return ['--sync', world.local('in')];
  };

  test.each([
    ["tar's error", 'echo "tar: a: No space left on device" >&2; exit 2', 'tar: a: No space'],
    ['an empty reason if tar prints none', 'exit 2', ''],
  ])('exits with 125 if copying in fails: %s', async (_what, script, reason) => {
    withoutTranscript();
    replace('tar', script);
    const { code, stdout, stderr } = await world.run('echo ran', folder());
    expect([code, stdout, world.status()], stderr).toEqual([125, '', 'TERMINATING']);
    expect(stderr).toContain(`error: Could not copy files in: ${reason}`);
  });

  test('exits with 130 and terminates the instance on Ctrl-C', async () => {
    const { interrupts, press } = ctrlC();
    replace('tar', `touch ${world.local('begun')}; exec sleep 60`);
    const ended = world.run('echo ran', folder(), { interrupts });
    await until(() => existsSync(world.local('begun')));
    press();
    const { code, stdout, stderr } = await ended;
    expect([code, stdout, world.status()], stderr).toEqual([130, '', 'TERMINATING']);
  });

  test('retries copying in after a refused connection', async () => {
    let tries = 0;
    world.ssh.refuse = (script) =>
      script.includes('tar -xf') && tries++ === 0 ? REFUSED : undefined;
    const { code, stdout } = await world.run('wc -c <a', folder(), { clock: withoutPauses(3_000) });
    expect({ code, bytes: stdout.trim(), tries }).toEqual({ code: 0, bytes: '3000000', tries: 2 });
  });

  test('exits with 125 without copying in again if the instance was terminated', async () => {
    let tries = 0;
    world.ssh.refuse = (script) => {
      if (!script.includes('tar -xf')) return undefined;
      tries += 1;
      world.renting.rent(NEW, 'job', { status: 'TERMINATED' });
      return REFUSED;
    };
    const { code, stderr } = await world.run('true', folder());
    expect({ code, tries }, stderr).toEqual({ code: 125, tries: 1 });
  });
});

describe('copying out', () => {
  test('warns about a file that changed while copying out, and keeps the exit code', async () => {
    replace('tar', 'real "$@"; echo "tar: ./a: file changed as we read it" >&2; exit 1');
    await world.run('mkdir out; echo x >out/a; exit 3', fetching());
    expect(got('a')).toBe('x\n');
  });

  test("exits with 125 and tar's error if tar fails while copying out", async () => {
    replace(
      'tar',
      'real "$@"; echo "tar: ./a: file changed as we read it" >&2; echo "tar: ./b: file changed as we read it/c: Cannot open" >&2; exit 1',
    );
    const flags = [...fetching(), '--keep-on-failure', '0s'];
    await world.run('mkdir out; echo x >out/a', flags);
    expect(got('a')).toBe('x\n');
  });

  test('lists the first five skipped entries in a warning', async () => {
    withoutTranscript();
    const command = 'mkdir out; cd out; mkfifo 1 2 3 4 5 6 7; echo x >a';
    const { code, stderr } = await world.run(command, fetching());
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/^warning: Not fetched \(devices, .*\): (\d, ){4}\d and 2 more$/m);
    expect(got('a')).toBe('x\n');
  });

  test('exits with 125 without copying out again if the instance was terminated', async () => {
    world.ssh.refuse = (script) => {
      if (!script.includes("'./out'")) return undefined;
      world.renting.rent(NEW, 'job', { status: 'TERMINATED' });
      return REFUSED;
    };
    await world.run('mkdir out; exit 3', fetching());
  });
});

test('says that the output may be incomplete if the disk of the instance is full', async () => {
  await world.run('rm ../full && mkdir ../full', []);
  expect(world.record().report?.output_complete).toBe(false);
});

describe("a run that can't store the output", () => {
  test('warns once, prints everything and keeps the exit code', async () => {
    world.ssh.refuse = () => {
      mkdirSync(world.jobFile('err.0'), { recursive: true });
      return undefined;
    };
    const terminal = createEmulator(1_000, 40);
    const command = 'echo a >&2; sleep 1; echo b >&2; exit 3';
    const { code } = await world.run(command, [], { terminal });
    const screen = await terminal.all();
    expect(code, screen).toBe(3);
    expect(screen.split('\n').slice(3, 7)).toEqual([
      `warning: Could not keep the output: ${world.local('state/jobs')} (EISDIR). Printing continues.`,
      ...['a', 'b', `sh -c '${command}': exit code 3`],
    ]);
    expect(world.record()).toMatchObject({ exit_code: 3 });
  });
});

test("warns if the report can't be written, and keeps the command's exit code", async () => {
  mkdirSync(world.local('reports'));
  const path = world.local('reports/r.json');
  await world.run(`rm -r ${world.local('reports')}; exit 3`, ['--report', path]);
});

test("warns once if the job record can't be saved", async () => {
  withoutTranscript();
  const record = `${world.local('state/jobs')}/*.json`;
  // `run` may save it between the two commands.
  const command = `f=$(ls ${record}); until rm -f $f; mkdir $f; do :; done; echo a; sleep 1; sleep 1; echo b; sleep 1; sleep 1; exit 3`;
  const { code, stdout, stderr } = await world.run(command, []);
  expect([code, stdout, world.status()], stderr).toEqual([3, 'a\nb\n', 'TERMINATING']);
  expect(stderr.match(/warning: Could not save the job/g)).toHaveLength(1);
});

test("fetches and terminates before exiting with 125 if stdout can't be written", async () => {
  const stdout = new Writable({
    write: (_chunk, _encoding, done) =>
      done(Object.assign(new Error('ENOSPC: full'), { code: 'ENOSPC' })),
  });
  const command = 'echo out; mkdir out; echo x >out/a; exit 3';
  await world.run(command, fetching(), { stdout });
  expect(got('a')).toBe('x\n');
  expect(world.status()).toBe('TERMINATING');
  expect(world.record()).toMatchObject({ exit_code: 3 });
});

describe('unreadable output', () => {
  /** Replaces the follower on the instance with one that prints junk. */
  const programs = () => ({
    start: world.ssh.start,
    startPiped: (program: Parameters<typeof world.ssh.startPiped>[0], system: string) => {
      const isFollower = program.args.at(-1)?.includes('idle=0');
      const args = [...program.args.slice(0, -1), 'echo gpucloud-run follows; echo junk'];
      return world.ssh.startPiped(isFollower === true ? { ...program, args } : program, system);
    },
  });

  test("exits with 125 and terminates the instance if run can't read the output", async () => {
    const { code, stderr } = await world.run(LASTS, [], { programs: programs() });
    expect({ code, status: world.status() }, stderr).toEqual({ code: 125, status: 'TERMINATING' });
  });

  test("exits with 7 and leaves the job running if jobs attach can't read the output", async () => {
    await world.detach(LASTS);
    await started(world);
    const argv = ['jobs', 'attach', 'job'];
    const { code, stderr } = await world.gpucloud(argv, { programs: programs() });
    expect({ code, sent: world.terminations() }, stderr).toEqual({ code: 7, sent: 0 });
    expect(world.record()).toMatchObject({ ended_at: null, exit_code: null });
  });
});
