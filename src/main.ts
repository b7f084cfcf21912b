import { setMaxListeners } from 'node:events';
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { devNull, homedir } from 'node:os';
import type { ReadStream } from 'node:tty';
import { namedHome } from './config/folders.ts';
import { listenForFaults, listenForInterrupts } from './context/interrupts.ts';
import type { Host } from './context.ts';
import { CliError } from './errors.ts';
import { whenStopped } from './output/sink.ts';
import { unblock } from './output/unblock.ts';
import { faultReport } from './report.ts';
import { run } from './run.ts';
import { sleep } from './system/clock.ts';
import { errorCode } from './system/error-code.ts';
import { openFile, type Signal, startPiped, startProgram } from './system/programs.ts';
import { isInExecutable, keyringProgramOf, type Self, selfOf } from './system/self.ts';

/** The entry point, and the only file that touches `process`. */
async function main(): Promise<void> {
  let isStdoutOpen = false;
  let isStderrOpen = false;
  /** Whether the run gave up on readers that do not read. */
  let isDropped = false;
  /** Whether the command read from a terminal. */
  let isInTerminal = false;
  const plain = syncWrite();
  // The browser inherits this environment, so remove the key from it.
  const env = { ...process.env };
  delete process.env.GPUCLOUD_API_KEY;
  // Up to a hundred requests listen to one signal, and Node warns above ten.
  setMaxListeners(0);
  const [first, second] = [new AbortController(), new AbortController()];
  const onThirdInterrupt = listenForInterrupts(process, first, second);
  const faults = listenForFaults(process, first, second);
  const isExecutable = isInExecutable(process.argv[1] ?? '');
  const host: Host = {
    // Open streams at their first use: opening takes time, and most commands read nothing.
    get stdin() {
      if (!isInTerminal && process.stdin.isTTY) {
        isInTerminal = true;
        // Without a listener, resetting a closed terminal would crash the process.
        process.stdin.on('error', () => undefined);
      }
      return process.stdin;
    },
    get stdout() {
      if (!isStdoutOpen) unblock(process.stdout, 1, process.platform);
      isStdoutOpen = true;
      return process.stdout;
    },
    get stderr() {
      // Without a listener, a closed stderr would crash the process in the middle of an operation.
      if (!isStderrOpen) {
        unblock(
          process.stderr.on('error', () => undefined),
          2,
          process.platform,
        );
      }
      isStderrOpen = true;
      return process.stderr;
    },
    // A direct write must not overtake the stream's pending output.
    syncWrite: plain && ((bytes) => (isStdoutOpen ? 0 : plain(bytes))),
    onStdinData,
    openTerminal,
    isStdoutNull,
    env,
    endsAtOnce: true,
    dropOutput() {
      isDropped = true;
    },
    clock: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      random: () => Math.random(),
      sleep: (milliseconds, signal) => sleep(milliseconds, signal),
    },
    home: homeFolder(),
    platform: process.platform,
    ...(isExecutable ? {} : { nodeVersion: process.version }),
    pid: process.pid,
    parent: process.ppid,
    uid: process.geteuid?.(),
    isAlive,
    signalGroup,
    interrupts: { first: first.signal, second: second.signal },
    onThirdInterrupt,
    borrowScreen,
    // Functions, since naming an import would run programs.ts at each start.
    start: (child) => startProgram(child),
    startPiped: (program, platform) => startPiped(program, platform),
    openFile: (path) => openFile(path),
    self,
    keyring: () => keyringProgramOf(self()),
  };
  const argv = process.argv.slice(2);
  const code = await Promise.race([run(argv, host).catch(faults.note), faults.overdue]);
  process.exitCode = code;
  if (code === 0 && faults.first !== undefined) {
    // The run ignored the fault, or could not finish, so the fault is reported now.
    process.exitCode = 1;
    host.stderr.write(faultReport(faults.first, argv, env));
  }
  // Exiting now would cut off output to a slow reader.
  if (isStdoutOpen && !isDropped) await written(process.stdout, first.signal);
  if (isStderrOpen && !isDropped) await written(process.stderr, first.signal);
  if (isHungUp(first.signal) || (isInTerminal && (await isTerminalClosed()))) releaseTerminal();
  // Closing connections and freeing the heap would take longer than many commands; the system does
  // both at once.
  process.exit();
}

/** Resolves when the system has accepted a stream's output, or can't accept it. */
function written(stream: NodeJS.WriteStream, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    whenStopped(stop, resolve);
    stream.once('error', () => resolve()).write('', () => resolve());
  });
}

function self(): Self {
  return selfOf(process.execPath, process.argv[1] ?? '');
}

/** Opens the terminal that started this process, for answers while stdin is a pipe. */
async function openTerminal(): Promise<ReadStream | undefined> {
  // Loads the module late: it takes longer than many commands.
  const { ReadStream } = await import('node:tty');
  try {
    return new ReadStream(openSync('/dev/tty', 'r'));
  } catch {
    // Windows, or a process without a terminal.
    return undefined;
  }
}

/** Whether stdout is closed (`>&-`): Node opens the null device in its place. */
function isStdoutNull(): boolean {
  try {
    const stdout = fstatSync(1);
    return stdout.isCharacterDevice() && stdout.rdev === statSync(devNull).rdev;
  } catch {
    // Windows has no null device to compare with.
    return false;
  }
}

/** An empty pipe accepts this many bytes at once: the system buffers 64 KiB. */
const SHORT = 16 * 1024;

/**
 * Writes to stdout without creating a stream if stdout is a file or a pipe: creating one takes 15
 * to 25 % of `--help`. Leaves long output to a pipe to the stream, since a blocked write delays
 * signals.
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
      // The stream writes the rest and reports the error.
    }
    return at;
  };
}

/**
 * Calls back once if stdin has data that the command won't read. Never blocks, and consumes nothing
 * that another process may read, such as the loop in `while read name; do gpucloud ...; done
 * <names`.
 */
function onStdinData(found: () => void): void {
  const stat = statOfStdin();
  const isPipe = stat?.isFIFO() || stat?.isSocket();
  if (stat === undefined || !(isPipe || stat.isFile())) return;
  const isShared = isOfParent();
  if (isShared) return;
  // On Linux the pipe must be read, since Linux reports a pipe's size as 0.
  if (stat.size > 0) found();
  else if (isPipe && isShared === false) {
    const { stdin } = process;
    stdin.on('error', () => undefined);
    stdin.once('readable', () => {
      // read() returns null at the end of an empty pipe.
      if (stdin.read() !== null) found();
    });
  }
}

function statOfStdin(): Stats | undefined {
  try {
    return fstatSync(0);
  } catch {
    // Stdin is closed, or a Windows console.
    return undefined;
  }
}

/** Whether this process's parent has the same stdin; undefined if unknown. */
function isOfParent(): boolean | undefined {
  try {
    return readlinkSync(`/proc/${process.ppid}/fd/0`) === readlinkSync('/proc/self/fd/0');
  } catch {
    return undefined;
  }
}

/** Returns undefined if the system has no home folder. */
function homeFolder(): string | undefined {
  try {
    return (namedHome(process.env, process.platform) ?? homedir()) || undefined;
  } catch {
    return undefined;
  }
}

function signalGroup(group: number, signal: Signal): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    // The process exists, but another user owns it.
    return errorCode(error) === 'EPERM';
  }
}

/** Whether a process has ended, and its parent has not asked for its exit code. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return /\) Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** Restores the screen for the shell before Ctrl-Z stops the process. */
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

function isHungUp({ reason }: AbortSignal): boolean {
  return reason instanceof CliError && reason.failure === 'hungUp';
}

async function isTerminalClosed(): Promise<boolean> {
  const { isatty } = await import('node:tty');
  return !isatty(0);
}

/**
 * Closes the terminal's descriptors: at exit Node resets its terminals, and aborts if a terminal is
 * closed.
 */
function releaseTerminal(): void {
  for (const descriptor of [0, 1, 2]) {
    try {
      closeSync(descriptor);
    } catch {
      // The descriptor is already closed.
    }
  }
}

void main();
