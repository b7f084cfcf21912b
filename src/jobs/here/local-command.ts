import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import type { Given } from '../../instances/rent/given.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { faultOf } from '../../system/error-code.ts';
import type { Running, Signal } from '../../system/programs.ts';
import type { Command } from '../command.ts';
import { beginLine } from '../output.ts';
import type { Stops } from '../stops.ts';

/** Checks a command for this computer. Throws a usage error. */
export async function localCommandOf(
  words: readonly string[],
  { flags, from }: Pick<Given, 'flags' | 'from'>,
  context: Context,
): Promise<Command> {
  const { env, envFile, dockerImage } = flags;
  if (dockerImage === undefined && (env ?? envFile) !== undefined) {
    throw usageError(
      `${env === undefined ? '--env-file' : from('env')} sets variables of a container, but --docker-image is missing`,
      'COMMAND inherits the variables of this shell',
    );
  }
  const [file = ''] = words;
  if (!(await isProgram(file, context))) {
    const where = file.includes('/') ? 'is not a program on this computer' : 'is not on PATH';
    throw usageError(`COMMAND "${file}" ${where}: --here runs it on this computer`);
  }
  return { words, variables: [] };
}

/** Windows adds extensions to names, so only starting a program shows that it is missing. */
async function isProgram(file: string, { env, host }: Context): Promise<boolean> {
  if (host.platform === 'win32') return true;
  const paths = file.includes('/')
    ? [resolve(file)]
    : (env.PATH ?? '').split(delimiter).map((folder) => join(folder || '.', file));
  for (const path of paths) {
    // A folder passes X_OK too.
    const isHere = await access(path, constants.X_OK)
      .then(() => stat(path))
      .then(
        (found) => found.isFile(),
        () => false,
      );
    if (isHere) return true;
  }
  return false;
}

/** Milliseconds between SIGTERM and SIGKILL, as in `jobs stop`. */
const PATIENCE = 10_000;

/** What stops the command. */
export type Signals = Pick<Stops, 'near' | 'half' | 'asked' | 'last'>;

/** A command that shares gpucloud's streams and terminal. */
export interface LocalCommand {
  /**
   * Resolves with the exit code; undefined if gpucloud stopped the command near the deadline, or if
   * `last` aborts. Throws CliError('runFailed') if the command can't start.
   */
  readonly ended: Promise<number | undefined>;
  /** Kills the command if it doesn't exit within the given time. */
  end(patience: number): Promise<void>;
}

/** Starts the command. `what` names the instances. */
export async function startHere(
  { words }: Pick<Command, 'words'>,
  env: Readonly<Record<string, string>>,
  what: string,
  stops: Signals & Pick<Stops, 'any'>,
  context: Context,
): Promise<LocalCommand> {
  stops.any.throwIfAborted();
  const [file = '', ...args] = words;
  // In a terminal, Ctrl-C reaches the command directly. Opens stdin before the command starts:
  // opening it later would make it non-blocking for the command too.
  const { stdin, stderr } = context.host;
  const isTerminal = stdin.isTTY === true || stderr.isTTY === true;
  const fail = (error: unknown) => {
    throw notStarted(file, error);
  };
  const running = await context.start({ file, args, env, ownSignals: true }).catch(fail);
  const started = running.ended.catch(fail);
  const ended = follow({ ...running, ended: started }, { what, isTerminal }, stops, context);
  // The caller may await the promise later, so prevent an unhandled rejection.
  ended.catch(() => undefined);
  return {
    ended,
    async end(patience) {
      const late = new AbortController();
      const over = context.clock.sleep(patience, late.signal).then(
        () => running.kill('SIGKILL'),
        // The command has already exited.
        () => undefined,
      );
      await running.ended.catch(() => undefined);
      late.abort();
      await over;
    },
  };
}

function notStarted(file: string, cause: unknown): CliError {
  const code = faultOf(cause);
  // The system also reports a missing interpreter with ENOENT.
  const why = code === 'ENOENT' ? 'the file or its interpreter was not found (ENOENT)' : code;
  return new CliError('runFailed', `Could not start ${file}: ${why}.`, { cause });
}

async function follow(
  running: Running,
  { what, isTerminal }: { readonly what: string; readonly isTerminal: boolean },
  { near, half, asked, last }: Signals,
  context: Context,
): Promise<number | undefined> {
  const { interrupts, err, clock } = context;
  const over = new AbortController();
  const { signal } = over;
  const on = (stop: AbortSignal, act: () => void) => {
    if (signal.aborted) return;
    if (stop.aborted) act();
    else stop.addEventListener('abort', act, { once: true, signal });
  };
  let isCut = false;
  const stopped = new Promise<undefined>((resolve) => {
    on(last, () => {
      // Stops listening to the others.
      over.abort();
      running.kill(isHangUp(last) ? 'SIGHUP' : 'SIGTERM');
      resolve(undefined);
    });
  });
  /** Sends stronger and stronger signals until the command exits. */
  async function stop(...signals: Signal[]): Promise<void> {
    for (const one of signals) {
      running.kill(one);
      await clock.sleep(PATIENCE, signal);
    }
  }
  on(interrupts.first, () => {
    if (!isTerminal) running.kill('SIGINT');
    beginLine(context);
    err.note(`Interrupted the command. Ctrl-C again terminates ${what} without copying results.`);
  });
  on(near, () => {
    beginLine(context);
    err.warn('deadline_near', `Interrupting the command: the deadline of ${what} is near.`);
    running.kill('SIGINT');
  });
  on(half, () => {
    isCut = true;
    // The exit of the command ends the wait.
    stop('SIGTERM', 'SIGKILL').catch(() => undefined);
  });
  on(asked, () => {
    beginLine(context);
    err.note(`Stopping the command: ${gpucloud('jobs', 'stop')} was called.`);
    stop('SIGINT', 'SIGTERM', 'SIGKILL').catch(() => undefined);
  });
  try {
    const code = await Promise.race([running.ended, stopped]);
    return isCut ? undefined : code;
  } finally {
    over.abort();
  }
}

function isHangUp({ reason }: AbortSignal): boolean {
  return reason instanceof CliError && reason.failure === 'hungUp';
}
