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

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL';

export interface Running {
  /**
   * The exit code; 128 and the signal's number where one ended it, as shells have it. Rejects with
   * the system's error where it can't be started: `ENOENT` when there is no such program.
   */
  readonly ended: Promise<number>;
  /** Nothing happens where it has ended. */
  kill(signal: Signal): void;
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
    stdio: hear === undefined ? 'inherit' : [say === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  for (const from of ['stdout', 'stderr'] as const) {
    child[from]?.setEncoding('utf8').on('data', (text: string) => hear?.(text, from));
  }
  // One that ends without reading is told by its exit code.
  child.stdin?.on('error', () => undefined).end(say);
  // Node's own `timeout` keeps the process up for all of it where the program can't be started.
  const timer = timeout === undefined ? undefined : setTimeout(() => child.kill(), timeout);
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const told = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      // The Ctrl-C that ended it is ours too, and may be heard a moment later.
      setImmediate(() => resolve(told));
    });
  });
  // Whoever started it may look later.
  ended.catch(() => undefined);
  return { ended, kill: (signal) => void child.kill(signal) };
}
