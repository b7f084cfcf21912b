import { symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { keptOutput } from '../../src/jobs/kept.ts';
import { follow } from '../../src/jobs/remote/follow.ts';
import type { RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import { atTerminal } from '../support/at-terminal.ts';
import { manualClock } from '../support/clock.ts';
import { programAt } from '../support/needs.ts';
import { NEW } from '../support/renting-service.ts';
import { createWorld } from '../support/run-cli.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { ctrlC, reap } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});

const HOST_KEY = 'Host key verification failed.';

/** Creates a local folder with two files. */
async function folder(): Promise<string> {
  const path = world.local('project');
  await mkdir(path);
  for (const name of ['a', 'b']) {
    writeFileSync(join(path, name), 'A\n');
    // --sync resends a file modified in the current second, since it may still change.
    utimesSync(join(path, name), 1_700_000_000, 1_700_000_000);
  }
  return path;
}

/** Leaves only these programs on the instance's PATH. */
async function leaveThere(...names: string[]): Promise<void> {
  const path = world.local('programs');
  await mkdir(path);
  for (const name of names) symlinkSync(programAt(name) ?? '', join(path, name));
  world.ssh.path = path;
}

/** Programs without which no command runs. */
const NEEDED = ['sh', 'cat', 'cut', 'mkdir', 'wc', 'tail', 'head', 'dd', 'sleep', 'mv', 'rm'];

test('runs a job without files if the instance lacks tar', async () => {
  await leaveThere(...NEEDED);
  expect(await world.run('echo ran', [])).toMatchObject({ code: 0, stdout: 'ran\n' });
});

describe('--sync', () => {
  test('sends only changed files with --sync', async () => {
    const source = await folder();
    world.renting.rent(NEW, 'dev');
    const run = () => world.runOn('cat a b', '--sync', source);
    expect(await run()).toMatchObject({ code: 0, stdout: 'A\nA\n' });
    const there = join(world.job, 'work', 'a');
    const { mtime } = await stat(there);
    writeFileSync(there, 'X\n');
    utimesSync(there, mtime, mtime);
    writeFileSync(join(source, 'b'), 'changed\n');
    expect(await run()).toMatchObject({ code: 0, stdout: 'X\nchanged\n' });
  });

  test.each([
    ['without', [], '.gitignore\nb\n'],
    ['with', ['--no-gitignore'], '.gitignore\na\nb\n'],
  ])('copies %s --no-gitignore what the plan counted', async (_word, flags, names) => {
    const source = await folder();
    writeFileSync(join(source, '.gitignore'), 'a\n');
    const { code, stdout, stderr } = await world.run('ls -A', ['--sync', source, ...flags]);
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: names });
    expect(stderr.includes('Left out: 1 file (2 bytes)')).toBe(flags.length === 0);
  });

  test('exits with 125 without running the command if tar fails on the instance', async () => {
    const source = await folder();
    writeFileSync(world.local('../bin/tar'), '#!/bin/sh\ncat >/dev/null\nexit 2\n', {
      mode: 0o755,
    });
    await world.run('echo ran', ['--sync', source]);
    expect(world.status()).toBe('TERMINATING');
  });

  test.each([['--sync'], ['--fetch']])(
    'exits with 125 before the command if %s needs tar and the instance lacks it',
    async (flag) => {
      const source = await folder();
      await leaveThere(...NEEDED);
      await world.run('echo ran', [flag, flag === '--sync' ? source : `x:${world.local('x')}`]);
      expect(world.status()).toBe('TERMINATING');
    },
  );
});

describe('a job that stops before its command', () => {
  test('terminates the instance on SIGHUP even if reap is scheduled', async () => {
    await reap(world, '--every', '5m');
    const { interrupts, press } = ctrlC(new CliError('hungUp', 'The terminal closed.'));
    world.ssh.refuse = () => {
      if (!interrupts.first.aborted) press();
      return 'Connection refused';
    };
    await world.run('true', [], { interrupts });
    expect(world.status()).toBe('TERMINATING');
  });

  test('closes a failed --on job and leaves its instance running', async () => {
    world.renting.rent(NEW, 'dev');
    let probes = 0;
    world.ssh.refuse = (script) =>
      script.includes('gpucloud-run ready') && ++probes > 1 ? HOST_KEY : undefined;
    await world.runOn('true');
    expect(world.record().ended_at).not.toBeNull();
    expect(world.terminations()).toBe(0);
  });

  test("fails without running the command if the earlier job can't be removed", async () => {
    world.renting.rent(NEW, 'dev');
    world.ssh.refuse = (script) =>
      script.includes('rm -rf started') ? 'Connection reset by peer' : undefined;
    const { code, stdout } = await world.runOn('echo ran');
    expect(code).not.toBe(0);
    expect(stdout).toBe('');
  });

  test('exits with 125 and closes an attached job whose instance was terminated', async () => {
    await world.detach('true');
    world.renting.rent(NEW, 'job', { status: 'TERMINATED' });
    await world.gpucloud(['jobs', 'attach', 'job']);
    expect(world.record().ended_at).not.toBeNull();
  });
});

test('reads kept output from the first unprinted byte', async () => {
  const own = await createWorld({ handler: () => 'hangUp' });
  const { context } = atTerminal(own, []);
  await mkdir(join(own.home, 'state', 'jobs'), { recursive: true });
  writeFileSync(join(own.home, 'state', 'jobs', `${NEW}.out.6`), 'world\n');
  const job = { uid: NEW, name: 'job' };
  const printed = async (after: number) => {
    let text = '';
    for await (const chunk of keptOutput(job as never, 'out', { after }, context)) text += chunk;
    return text;
  };
  expect([await printed(0), await printed(6), await printed(8)]).toEqual([
    'world\n',
    'world\n',
    'rld\n',
  ]);
});

test('doubles the pause before reconnecting, up to 15 seconds', async () => {
  const clock = manualClock();
  const shell = {
    start: () => Promise.reject(new CliError('refused', 'ssh is not on PATH')),
  } as unknown as RemoteShell;
  let cuts = 0;
  const following = follow({
    shell,
    offsets: { out: 0, err: 0 },
    clock,
    signal: new AbortController().signal,
    print: async () => undefined,
    onBack: () => undefined,
    async onCut() {
      cuts += 1;
      if (cuts > 7) throw new CliError('otherEnd', 'over');
    },
  });
  await expect(following).rejects.toThrow('over');
  expect(clock.slept.map((time) => time / 1000)).toEqual([1, 2, 4, 8, 15, 15, 15]);
});
