import { PassThrough, type Writable } from 'node:stream';
import type { Host, Interrupts } from '../../src/context.ts';
import { run } from '../../src/run.ts';
import type { Clock } from '../../src/system/clock.ts';
import { startPiped, startProgram } from '../../src/system/programs.ts';
import type { Emulator } from '../output/emulator.ts';
import type { Computer, Outcome } from '../support/program.ts';
import { SELF } from '../support/run-cli.ts';
import { passingClock } from './passing-clock.ts';

export interface FastRun {
  /** Signals such as Ctrl-C. */
  readonly interrupts?: Interrupts;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Divides pauses and time limits; 100 by default. */
  readonly speed?: number;
  /** Defaults to a new clock of this speed. */
  readonly clock?: Clock;
  /** Defaults to the programs of this computer. */
  readonly programs?: Pick<Host, 'start' | 'startPiped'>;
  /** Replaces stdout and stderr, which are then empty in the outcome. */
  readonly terminal?: Emulator;
  /** By default an empty stdin that is not a terminal. */
  readonly stdin?: Host['stdin'];
  /** Replaces stdout, which is then empty in the outcome. */
  readonly stdout?: Writable;
  readonly onThirdInterrupt?: Host['onThirdInterrupt'];
  readonly onNote?: Host['onNote'];
  readonly onFailure?: Host['onFailure'];
  /** The session of an agent. */
  readonly session?: Host['session'];
}

interface FastWorld {
  readonly computer: Pick<Computer, 'home' | 'env'>;
  readonly env: Readonly<Record<string, string>>;
}

const never = new AbortController().signal;

function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/** Runs the program's code in this process. Divides its pauses and time limits by `speed`. */
export async function runFast(
  { computer, env: address }: FastWorld,
  argv: readonly string[],
  {
    env = {},
    interrupts = { first: never, second: never },
    speed = 100,
    clock = passingClock(speed),
    programs = { start: startProgram, startPiped },
    terminal,
    stdin = new PassThrough().end(),
    stdout: own,
    onThirdInterrupt,
    onNote,
    onFailure,
    session,
  }: FastRun = {},
): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([textOf(stdout), textOf(stderr)]);
  const host: Host = {
    stdin,
    stdout: terminal?.stream ?? own ?? stdout,
    stderr: terminal?.stream ?? stderr,
    ...(onThirdInterrupt === undefined ? {} : { onThirdInterrupt }),
    ...(onNote && { onNote }),
    ...(onFailure && { onFailure }),
    ...(session && { session }),
    env: { ...computer.env, ...address, ...env },
    clock,
    home: computer.home,
    platform: process.platform,
    pid: process.pid,
    parent: process.ppid,
    uid: process.geteuid?.(),
    isAlive: () => true,
    signalGroup,
    interrupts,
    ...programs,
    self: () => SELF,
  };
  const code = await run(argv, host);
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, stdout: out, stderr: err };
}

async function textOf(stream: PassThrough): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += chunk;
  return text;
}
