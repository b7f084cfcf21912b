import type { StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { constants, platform } from 'node:os';
import { join, win32 } from 'node:path';
import { PassThrough, type Readable, type Writable } from 'node:stream';

/** A program to start. No shell parses its arguments. */
export interface Program {
  /** Searched on PATH. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Receives the program's stdout and stderr; the program then has no stdin. Without this callback,
   * the program inherits gpucloud's streams and terminal.
   */
  readonly hear?: (text: string, from: 'stdout' | 'stderr') => void;
  /**
   * Starts the program in its own session, without gpucloud's terminal: an interactive shell would
   * take it over.
   */
  readonly ownSession?: boolean;
  /** Text for the program's stdin, if its output is captured. */
  readonly say?: string;
  /** Milliseconds before gpucloud kills the program, since a hung program would block gpucloud. */
  readonly timeout?: number;
}

/** A program to start for a command, with this run's environment but without the API key. */
export interface Child extends Omit<Program, 'env'> {
  /** Variables to add to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Keeps the API key in the environment: a password manager may itself start gpucloud. */
  readonly keepsApiKey?: boolean;
  /**
   * Whether the caller forwards signals; otherwise each interrupt of the run also reaches the
   * program.
   */
  readonly ownSignals?: boolean;
}

export type Start = (child: Child) => Promise<Running>;

/** Returns the environment for a child process that must not see the API key. */
export function withoutApiKey({ GPUCLOUD_API_KEY: _key, ...rest }: Program['env']): Program['env'] {
  return rest;
}

/** Sends a signal to a process group. Returns false if the group has no process left. */
export type SignalGroup = (group: number, signal: Signal) => boolean;

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL';

export interface Running {
  /**
   * The exit code; 128 plus the signal's number if a signal killed the program, as in shells.
   * Rejects with the system's error if the program can't start: `ENOENT` if it does not exist.
   *
   * Does not wait for pipes that a background child of a captured program keeps open. When it
   * resolves, all output from before the exit has been received, and none from after.
   */
  readonly ended: Promise<number>;
  /** Whether the timeout killed the program. */
  readonly isLate: boolean;
  /**
   * Sends a signal; does nothing if the program has exited. A captured program must exit soon: it
   * gets SIGKILL at the second call or after a second.
   */
  kill(signal: Signal): void;
}

/** Milliseconds that a program has to exit after a signal. */
const GRACE = 1_000;

/** Milliseconds after a program's exit until its pipes are closed. */
const LAST_WORDS = 200;

function stdioOf(hear: Program['hear'], say: string | undefined): StdioOptions {
  return hear === undefined ? 'inherit' : [say === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'];
}

/** Starts a program. `ended` reports the result, including a failure to start. */
export async function startProgram({
  file,
  args,
  env,
  hear,
  say,
  timeout,
  ownSession = false,
}: Program): Promise<Running> {
  // Load the module late, since most commands start no program.
  const { spawn } = await import('node:child_process');
  const child = spawn(onPath(file, env, platform()), args, {
    env: { ...env },
    shell: false,
    detached: ownSession,
    windowsHide: true,
    stdio: stdioOf(hear, say),
  });
  for (const from of ['stdout', 'stderr'] as const) {
    child[from]?.setEncoding('utf8').on('data', (text: string) => hear?.(text, from));
  }
  // If the program exits without reading, its exit code reports the reason.
  child.stdin?.on('error', () => undefined).end(say);

  let isLate = false;
  let isAsked = false;
  let timer: NodeJS.Timeout | undefined;
  const afterwards = (milliseconds: number, step: () => void) => {
    clearTimeout(timer);
    timer = setTimeout(step, milliseconds);
  };
  let resolve: (code: number) => void = () => undefined;
  const ended = new Promise<number>((answer, reject) => {
    resolve = answer;
    child.on('error', (error) => {
      // If the program is running, this error means that gpucloud may not signal it (as with sudo).
      if (child.pid !== undefined) return;
      clearTimeout(timer);
      reject(error);
    });
  });
  // The caller may await `ended` later, so prevent an unhandled rejection.
  ended.catch(() => undefined);

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  function letGo(): void {
    child.stdout?.destroy();
    child.stderr?.destroy();
    // Abandon a program that even SIGKILL does not stop.
    if (!hasEnded()) tell(null, 'SIGKILL');
    child.unref();
  }
  function end(signal: Signal): void {
    // A signal to a program that did not start would reach gpucloud's own process group.
    if (hasEnded() || child.pid === undefined) return;
    const isLast = isAsked || signal === 'SIGKILL';
    isAsked = true;
    child.kill(isLast ? 'SIGKILL' : signal);
    if (isLast) afterwards(LAST_WORDS, letGo);
    else afterwards(GRACE, () => end('SIGKILL'));
  }
  function tell(code: number | null, signal: NodeJS.Signals | null): void {
    clearTimeout(timer);
    const shown = exitCode(code, signal);
    // The Ctrl-C that stopped the program also reaches gpucloud, perhaps a moment later.
    setImmediate(() => resolve(shown));
  }
  child.on('exit', () => afterwards(LAST_WORDS, letGo));
  child.on('close', tell);

  // Node's own `timeout` would keep the process alive if the program can't start.
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
    kill: (signal) => {
      if (hear !== undefined) end(signal);
      else if (child.pid !== undefined) child.kill(signal);
    },
  };
}

/** A program with streams that the caller reads and writes as bytes. */
export interface Piped {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The exit code; 128 plus the signal's number if a signal killed the program. */
  readonly ended: Promise<number>;
  /** Does nothing once the program has exited. */
  kill(): void;
}

/** A program that leads its own process group. */
export interface Leader extends Piped {
  /** The process group's ID. */
  readonly pid: number | undefined;
  /** Signal that killed the program; null before its exit, or if no signal did. */
  readonly endSignal: NodeJS.Signals | null;
}

/**
 * Starts a program with binary streams. Rejects with the system's error if it can't be started.
 *
 * The program runs in its own session, since Ctrl-C in a terminal reaches every program in the
 * foreground. The first Ctrl-C must not stop a copy in progress. Windows would open a console for
 * it.
 *
 * With `signalGroup`, which sends a signal to a process group, what the program started ends with
 * it, and its streams end soon after its exit. A ProxyCommand of ssh may outlive ssh on a dead link,
 * and keep its streams open.
 */
export async function startPiped(
  {
    file,
    args,
    env,
    cwd,
    signalGroup,
  }: Pick<Program, 'file' | 'args' | 'env'> & {
    readonly cwd?: string;
    readonly signalGroup?: SignalGroup | undefined;
  },
  system: string,
): Promise<Leader> {
  const { spawn } = await import('node:child_process');
  const detached = system !== 'win32';
  const child = spawn(onPath(file, env, system), args, {
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
    windowsHide: true,
    detached,
    stdio: 'pipe',
  });
  // If the program exits without reading, its exit code reports the reason.
  child.stdin.on('error', () => undefined);
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => resolve(exitCode(code, signal)));
  });
  const closed = new Promise<number>((resolve) => {
    child.once('close', (code, signal) => resolve(exitCode(code, signal)));
  });
  await once(child, 'spawn');
  const { pid } = child;
  // Not spread into another object, which would keep the present signal.
  const leader = (piped: Omit<Piped, 'stdin'>): Leader => ({
    ...piped,
    stdin: child.stdin,
    pid,
    get endSignal() {
      return child.signalCode;
    },
  });
  if (signalGroup === undefined || !detached || pid === undefined) {
    const { stdout, stderr } = child;
    return leader({ stdout, stderr, ended: closed, kill: () => void child.kill('SIGTERM') });
  }
  const kill = () => {
    if (!signalGroup(pid, 'SIGTERM')) return;
    setTimeout(() => signalGroup(pid, 'SIGKILL'), GRACE).unref();
  };
  void exited.then(kill);
  const stdout = untilIdle(child.stdout, exited);
  const stderr = untilIdle(child.stderr, exited);
  const read = Promise.all([finished(stdout.source), finished(stderr.source)]);
  return leader({
    stdout: stdout.stream,
    stderr: stderr.stream,
    // Does not wait for a reader.
    ended: exited.then((code) => Promise.race([read, idle()]).then(() => code)),
    kill,
  });
}

/** Milliseconds without a byte after which the stream of a program that has exited ends. */
const IDLE = 2_000;

function idle(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, IDLE));
}

/** Ends the stream of a program that has exited, although another process keeps it open. */
function untilIdle(source: Readable, exited: Promise<unknown>) {
  const stream = source.pipe(new PassThrough());
  let isMoving = false;
  source.on('data', () => {
    isMoving = true;
  });
  void exited.then(() => {
    const timer = setInterval(() => {
      // A reader that is slower than the program still gets all of it.
      if (!isMoving && !stream.writableNeedDrain) source.destroy();
      isMoving = false;
    }, IDLE);
    source.once('close', () => clearInterval(timer));
  });
  source.once('close', () => stream.end());
  source.on('error', () => undefined);
  return { source, stream };
}

/** Resolves once the stream is closed. */
function finished(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', resolve);
  });
}

/** Adds 128 to a signal's number, as shells do. One of the two is not null. */
function exitCode(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + constants.signals[signal as NodeJS.Signals];
}

/**
 * Opens a file with the user's default program, in the process's environment. Returns false if no
 * program starts.
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

/** The folder of Windows' own programs. */
const SYSTEM = 'C:\\Windows\\System32';

/**
 * Finds a program in a folder of PATH on Windows. Windows would search the current folder first, in
 * which anyone may have put a program. Returns a path unchanged. For a program in no folder of PATH,
 * returns its path among Windows' own: without a file there, starting it fails as on other systems.
 */
export function onPath(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: string,
): string {
  if (platform !== 'win32' || /[\\/:]/.test(file)) return file;
  // Windows ignores case in variable names.
  const [, path = ''] = Object.entries(env).find(([name]) => /^path$/i.test(name)) ?? [];
  const folders = path.split(';').map((folder) => folder.replaceAll('"', ''));
  const endings = win32.extname(file) === '' ? ['.exe', '.com'] : ['', '.exe'];
  const candidates = folders
    .filter(win32.isAbsolute)
    .flatMap((folder) => endings.map((ending) => join(folder, `${file}${ending}`)));
  return candidates.find(isFile) ?? join(SYSTEM, `${file}.exe`);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
