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
  readonly hear?: (text: string) => void;
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
export async function startProgram({ file, args, env, hear, timeout }: Program): Promise<Running> {
  // Most commands start none.
  const { spawn } = await import('node:child_process');
  const child = spawn(file, args, {
    env: { ...env },
    shell: false,
    windowsHide: true,
    ...(timeout === undefined ? {} : { timeout }),
    stdio: hear === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => hear?.(text));
  }
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const told = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      // The Ctrl-C that ended it is ours too, and may be heard a moment later.
      setImmediate(() => resolve(told));
    });
  });
  // Whoever started it may look later.
  ended.catch(() => undefined);
  return { ended, kill: (signal) => void child.kill(signal) };
}
