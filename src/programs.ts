import type { StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

/** A program of this computer. Its arguments are words and never a line: no shell reads them. */
export interface Program {
  /** Looked for on PATH. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Gets what it says on stdout and stderr; it then has nothing to read. Without this, it has our
   * own streams and, where there is one, our terminal.
   */
  readonly hear?: (text: string, from: 'stdout' | 'stderr') => void;
  /** What it reads on stdin, where it is heard. */
  readonly say?: string;
  /** Milliseconds after which it is ended: one that hangs would keep this one from its end. */
  readonly timeout?: number;
}

/** A program as commands ask for it. Its environment is this run's, without the API key. */
export interface Child extends Omit<Program, 'env'> {
  /** Keeps the API key in the environment: a password manager may be started through gpucloud. */
  readonly keepsApiKey?: boolean;
}

export type Start = (child: Child) => Promise<Running>;

/** The environment of a child that has no business with the API key. */
export function withoutApiKey({ GPUCLOUD_API_KEY: _key, ...rest }: Program['env']): Program['env'] {
  return rest;
}

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL';

export interface Running {
  /**
   * The exit code; 128 and the signal's number where one ended it, as shells have it. Rejects with
   * the system's error where it can't be started: `ENOENT` when there is no such program.
   *
   * What others hold open that a heard program has started (an agent in the background) is not
   * waited for. All that was said before its end has been heard by then, and nothing is after it.
   */
  readonly ended: Promise<number>;
  /** Whether its time ran out, and it was ended for that. */
  readonly isLate: boolean;
  /**
   * Nothing happens where it has ended. A heard program is waited for, so it may not go on for long:
   * it gets SIGKILL at the second call, or when it is still there after a second.
   */
  kill(signal: Signal): void;
}

/** Milliseconds in which a program that was asked to end does so. */
const GRACE = 1_000;

/** Milliseconds after the end of a program in which its pipes are closed, unless others have them. */
const LAST_WORDS = 200;

function stdioOf(hear: Program['hear'], say: string | undefined): StdioOptions {
  return hear === undefined ? 'inherit' : [say === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'];
}

/** Starts a program. What comes of it, a failure to start included, is told by `ended`. */
export async function startProgram({
  file,
  args,
  env,
  hear,
  say,
  timeout,
}: Program): Promise<Running> {
  // Most commands start none.
  const { spawn } = await import('node:child_process');
  const child = spawn(file, args, {
    env: { ...env },
    shell: false,
    windowsHide: true,
    stdio: stdioOf(hear, say),
  });
  for (const from of ['stdout', 'stderr'] as const) {
    child[from]?.setEncoding('utf8').on('data', (text: string) => hear?.(text, from));
  }
  // One that ends without reading is told by its exit code.
  child.stdin?.on('error', () => undefined).end(say);

  let isLate = false;
  let isAsked = false;
  /** What comes next where nothing else does. */
  let timer: NodeJS.Timeout | undefined;
  const afterwards = (milliseconds: number, step: () => void) => {
    clearTimeout(timer);
    timer = setTimeout(step, milliseconds);
  };
  let resolve: (code: number) => void = () => undefined;
  const ended = new Promise<number>((answer, reject) => {
    resolve = answer;
    child.on('error', (error) => {
      // Of a program that runs, it says that we may not end it (sudo, for one).
      if (child.pid !== undefined) return;
      clearTimeout(timer);
      reject(error);
    });
  });
  // Whoever started it may look later.
  ended.catch(() => undefined);

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  function letGo(): void {
    child.stdout?.destroy();
    child.stderr?.destroy();
    // One that not even SIGKILL ends is left behind.
    if (!hasEnded()) tell(null, 'SIGKILL');
    child.unref();
  }
  function end(signal: Signal): void {
    if (hasEnded()) return;
    const isLast = isAsked || signal === 'SIGKILL';
    isAsked = true;
    child.kill(isLast ? 'SIGKILL' : signal);
    if (isLast) afterwards(LAST_WORDS, letGo);
    else afterwards(GRACE, () => end('SIGKILL'));
  }
  function tell(code: number | null, signal: NodeJS.Signals | null): void {
    clearTimeout(timer);
    const told = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
    // The Ctrl-C that ended it is ours too, and may be heard a moment later.
    setImmediate(() => resolve(told));
  }
  child.on('exit', () => afterwards(LAST_WORDS, letGo));
  child.on('close', tell);

  // Node's own `timeout` keeps the process up for all of it where the program can't be started.
  if (timeout !== undefined) {
    afterwards(timeout, () => {
      isLate = true;
      end('SIGTERM');
    });
  }
  return {
    ended,
    get isLate() {
      return isLate;
    },
    kill: hear === undefined ? (signal) => void child.kill(signal) : end,
  };
}

/**
 * Opens a file with the program that the person uses for its kind, in the environment of the process.
 * False if none starts, for whatever reason.
 */
export async function openFile(path: string): Promise<boolean> {
  const { default: open } = await import('open');
  try {
    const opener = await open(path);
    const code: unknown = opener.exitCode ?? (await once(opener, 'exit'))[0];
    return code === 0;
  } catch {
    return false;
  }
}
