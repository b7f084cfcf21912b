import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Interrupts } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { FOLLOWING } from '../../src/jobs/remote/supervisor.ts';
import type { Piped } from '../../src/system/programs.ts';
import { until } from '../support/ssh-world.ts';
import type { LoopbackWorld } from './loopback-world.ts';

/** A command that runs until a signal ends it. */
export const LASTS = 'touch up; while :; do sleep 0.1; done';

/** Waits until {@link LASTS} runs. */
export function started({ job }: LoopbackWorld): Promise<void> {
  return until(() => existsSync(join(job, 'work', 'up')));
}

/** Waits until {@link LASTS} runs and a process on this computer follows it. */
export async function followed(world: LoopbackWorld): Promise<void> {
  await started(world);
  await until(() => world.ssh.scripts.some((script) => script.includes(FOLLOWING)));
}

/** Waits until the command has ended on the instance. */
export function exited({ job }: LoopbackWorld): Promise<void> {
  return until(() => existsSync(join(job, 'exit')));
}

/** Kills the command with its supervisor, and waits until both are gone. */
export function killSupervisor({ job }: LoopbackWorld): Promise<void> {
  const group = -Number(readFileSync(join(job, 'pid'), 'utf8'));
  process.kill(group, 'SIGKILL');
  return until(() => {
    try {
      return !process.kill(group, 0);
    } catch {
      return true;
    }
  });
}

/** Runs `instances reap`, and returns the rows that it prints. */
export async function reap({ gpucloud }: LoopbackWorld, ...flags: string[]) {
  const { code, stdout, stderr } = await gpucloud(['instances', 'reap', '--json', ...flags]);
  return { code, rows: JSON.parse(stdout || 'null'), stderr };
}

/** Runs `instances reap` near the deadline of a job, and returns once the pass has met its command. */
export async function reapNearDeadline(world: LoopbackWorld) {
  // The next pass would be too late for a grace period of 10 minutes.
  world.advance(46 * 60_000);
  const { scripts } = world.ssh;
  const before = scripts.length;
  const ended = reap(world, '--every', '5m');
  await until(() => scripts.length >= before + 2);
  return { ended };
}

/** Returns interrupts and a function that presses Ctrl-C for the first, then the second time. */
export function ctrlC(reason = new CliError('interrupted', 'Interrupted.')): {
  readonly interrupts: Interrupts;
  press(): void;
} {
  const [first, second] = [new AbortController(), new AbortController()];
  return {
    interrupts: { first: first.signal, second: second.signal },
    press: () => (first.signal.aborted ? second : first).abort(reason),
  };
}

/** Configures the profile to write its events to a file. */
export async function notifying({ local, service }: LoopbackWorld): Promise<void> {
  await mkdir(local('config'));
  const notify = ['sh', '-c', `cat >>${local('heard')}`];
  const profiles = { work: { base_url: service.url, notify } };
  const config = JSON.stringify({ current: 'work', profiles });
  await writeFile(local('config/config.json'), config, { mode: 0o600 });
}

/** Returns the events sent so far. */
export function heard({ local }: LoopbackWorld): object[] {
  if (!existsSync(local('heard'))) return [];
  const lines = readFileSync(local('heard'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** Starts an ssh that prints nothing until it is killed. */
export function hanging(): Piped {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let end: (code: number) => void = () => undefined;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const kill = () => {
    for (const stream of [stdout, stderr]) stream.end();
    end(143);
  };
  return { stdin, stdout, stderr, ended, kill };
}

/** Returns what `run` printed without the measured times. */
export const withoutTimes = (stderr: string) =>
  stderr
    .replace(/after \d+ s/, 'after N s')
    .replace(/^It took .*\n/m, '')
    .replace(/₽: .*\./, '₽.')
    .replace(/Deadline: [-\d]+ [:\d]+ [+-][:\d]+/, 'Deadline: TIME');
