import { setMaxListeners } from 'node:events';
import { fstatSync, type Stats, statSync, writeSync } from 'node:fs';
import { devNull, homedir } from 'node:os';
import { LONGEST_TIMER } from './clock.ts';
import { namedHome } from './config/folders.ts';
import type { Host } from './context.ts';
import { CliError, type Failure } from './errors.ts';
import { errorCode } from './files/error-code.ts';
import { onReaderGone } from './output/reader.ts';
import { whenStopped } from './output/sink.ts';
import { openPipeLook } from './platform/pipe.ts';
import { keyringProgramOf, type Self, selfOf } from './platform/self.ts';
import { openFile, startProgram } from './programs.ts';
import { faultReport } from './report.ts';
import { run } from './run.ts';

/** The edge: the only file of the program that touches `process`. */
async function main(): Promise<void> {
  let isStdoutOpen = false;
  let isStderrOpen = false;
  const plain = syncWrite();
  // `open` starts the browser with the environment of the process, which must not hold the key.
  const env = { ...process.env };
  delete process.env.GPUCLOUD_API_KEY;
  // A hundred requests may listen to one signal at once.
  setMaxListeners(0);
  const [first, second] = [new AbortController(), new AbortController()];
  listenForInterrupts(first, second);
  const faults = listenForFaults(first, second);
  const host: Host = {
    // Each is opened at its first use, which costs time, and most commands read nothing.
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      isStdoutOpen = true;
      return process.stdout;
    },
    get stderr() {
      // Without a listener a closed stderr would end the process in the midst of an operation.
      if (!isStderrOpen) process.stderr.on('error', () => undefined);
      isStderrOpen = true;
      return process.stderr;
    },
    // Nothing may overtake what the stream still has to write.
    syncWrite: plain && ((bytes) => (isStdoutOpen ? 0 : plain(bytes))),
    onReaderGone: (gone) =>
      onReaderGone(1, gone, self().form === 'executable' ? openPipeLook : undefined),
    isStdoutNull,
    env,
    endsAtOnce: true,
    clock: {
      now: () => Date.now(),
      random: () => Math.random(),
      sleep,
    },
    home: homeFolder(),
    platform: process.platform,
    nodeVersion: process.version,
    pid: process.pid,
    uid: process.geteuid?.(),
    isAlive,
    interrupts: { first: first.signal, second: second.signal },
    borrowScreen,
    start: startProgram,
    openFile,
    self,
    keyring: () => keyringProgramOf(self()),
  };
  const argv = process.argv.slice(2);
  const code = await Promise.race([run(argv, host).catch(faults.note), faults.overdue]);
  process.exitCode = code;
  if (code === 0 && faults.first !== undefined) {
    // The run has not heard of it, or can't end.
    process.exitCode = 1;
    host.stderr.write(faultReport(faults.first, argv, env));
  }
  // What a slow reader has not taken yet is waited for, which an exit would cut off.
  if (isStdoutOpen) await written(process.stdout, second.signal);
  if (isStderrOpen) await written(process.stderr, second.signal);
  // All work is done by now. To close connections and take the heap down would take longer than many
  // a command, and the system takes all of it back at once.
  process.exit();
}

/** Ends when the system has taken all that a stream was given, or nobody ever will, or is waited for. */
function written(stream: NodeJS.WriteStream, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    whenStopped(stop, resolve);
    stream.once('error', () => resolve()).write('', () => resolve());
  });
}

function self(): Self {
  return selfOf(process.execPath, process.argv[1] ?? '');
}

/** Node opens the null device in the place of a closed stdout (`>&-`). */
function isStdoutNull(): boolean {
  try {
    const stdout = fstatSync(1);
    return stdout.isCharacterDevice() && stdout.rdev === statSync(devNull).rdev;
  } catch {
    // Windows has no such device that could be looked at.
    return false;
  }
}

/** Bytes that a pipe takes at once, unless others have filled it: the system lets it hold 64 KiB. */
const SHORT = 16 * 1024;

/**
 * A way to stdout that opens no stream, where it is a pipe or a file. The stream for a file would
 * write in just the same way; a pipe that may have to be waited for is left to its stream, since
 * whoever waits in a write hears no signal.
 */
function syncWrite(): Host['syncWrite'] {
  let stat: Stats;
  try {
    stat = fstatSync(1);
  } catch {
    return undefined;
  }
  if (!stat.isFIFO() && !stat.isSocket() && !stat.isFile()) return undefined;
  return (bytes) => {
    if (!stat.isFile() && bytes.length > SHORT) return 0;
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(1, bytes, at);
    } catch {
      // What is the matter is for the stream to tell, which gets the rest.
    }
    return at;
  };
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    let left = milliseconds;
    let timer: NodeJS.Timeout;
    const next = () => {
      const longest = Math.min(left, LONGEST_TIMER);
      left -= longest;
      timer = setTimeout(left > 0 ? next : end, longest);
    };
    const end = () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    next();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** A system may know no home either. */
function homeFolder(): string | undefined {
  try {
    return (namedHome(process.env, process.platform) ?? homedir()) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user is there, though it may not be signalled.
    return errorCode(error) === 'EPERM';
  }
}

/** Ctrl-Z stops the process only after the screen was given back to the shell. */
function borrowScreen(leave: () => void, back: () => void): () => void {
  const suspend = () => {
    leave();
    process.kill(process.pid, 'SIGSTOP');
  };
  // Windows has no such signals.
  if (process.platform !== 'win32') process.on('SIGTSTP', suspend).on('SIGCONT', back);
  process.on('exit', leave);
  return () => void process.off('SIGTSTP', suspend).off('SIGCONT', back).off('exit', leave);
}

const SIGNALS: readonly (readonly [NodeJS.Signals, Failure, string])[] = [
  ['SIGINT', 'interrupted', 'Interrupted.'],
  ['SIGTERM', 'terminated', 'Terminated.'],
  ['SIGHUP', 'hungUp', 'The terminal hung up.'],
];

/** The third signal of a kind finds no listener of ours and ends the process at once. */
function listenForInterrupts(first: AbortController, second: AbortController): void {
  for (const [signal, failure, words] of SIGNALS) {
    const stop = () => {
      const reason = new CliError(failure, words);
      if (first.signal.aborted) {
        second.abort(reason);
        // Not at once: a part that hears of the same signal and finds itself alone ends the process
        // (signal-exit of proper-lockfile), before anything was told.
        setImmediate(() => process.off(signal, stop));
      } else {
        first.abort(reason);
      }
    };
    process.on(signal, stop);
  }
  // A file that grows past a limit is told by the failing write; the signal alone would end us.
  process.on('SIGXFSZ', () => undefined);
}

interface Faults {
  /** The first that nobody caught, if any. */
  readonly first: Error | undefined;
  /** Ends some time after it, when the run should have. */
  readonly overdue: Promise<0>;
  /** Takes one that the run ended with; it answers as `overdue` does. */
  note(thrown: unknown): 0;
}

const UNWINDING_MS = 2_000;

/**
 * A fault that nobody caught, of ours or of a part, ends the run as two interrupts do, so that what
 * may have been rented meanwhile is told and settled. Node would print its stack and end at once.
 */
function listenForFaults(first: AbortController, second: AbortController): Faults {
  let known: Error | undefined;
  const note = (thrown: unknown) => {
    known ??= thrown instanceof Error ? thrown : new Error(String(thrown));
    second.abort(known);
    first.abort(known);
    return 0 as const;
  };
  const overdue = new Promise<0>((resolve) => {
    process.on('uncaughtException', (thrown) => {
      note(thrown);
      setTimeout(() => resolve(0), UNWINDING_MS);
    });
  });
  return {
    get first() {
      return known;
    },
    overdue,
    note,
  };
}

void main();
