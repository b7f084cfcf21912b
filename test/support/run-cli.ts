import { getEventListeners, setMaxListeners } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearLine, cursorTo, type Direction, moveCursor } from 'node:readline';
import { PassThrough, type Writable } from 'node:stream';
import type { Host, Interrupts } from '../../src/context.ts';
import { type CliError, SeveralErrors } from '../../src/errors.ts';
import { type Journal, openJournal, type Scope } from '../../src/journal/index.ts';
import { run } from '../../src/run.ts';
import { openSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { type Running, startPiped, startProgram } from '../../src/system/programs.ts';
import type { Self } from '../../src/system/self.ts';
import { afterwards, removeFolder } from './afterwards.ts';
import { type ManualClock, manualClock } from './clock.ts';
import {
  forwardTo,
  type Handler,
  type RecordedRequest,
  type Service,
  startService,
} from './service.ts';
import { storedIn } from './stored-lines.ts';
import { toTranscript } from './transcript.ts';
import { until } from './until.ts';

/** The process that starts each command. */
const PARENT = 4141;

// Matches main.ts: many requests listen to one signal.
setMaxListeners(0);

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The requests that reached the service in this run. */
  readonly requests: readonly RecordedRequest[];
}

export interface CliOptions {
  /** Overrides the world's variables; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The input, which a terminal types at the first question. */
  readonly stdin?: string;
  /** Makes stdin, stdout and stderr terminals of 100 columns. */
  readonly terminal?: boolean;
  /** Width of that terminal; 100 by default. */
  readonly columns?: number;
  /** Height of that terminal, which a live view needs; unknown by default. */
  readonly rows?: number;
  /** Types all input in a terminal before the first question. */
  readonly typedAhead?: boolean;
  readonly interrupts?: Interrupts;
  readonly onThirdInterrupt?: (leave: () => void) => () => void;
  /** Whether a process is running; false by default. */
  readonly isAlive?: (pid: number) => boolean;
  /** Whether stdout is closed or /dev/null. */
  readonly isStdoutNull?: boolean;
  /** Opens a file; by default it fails. */
  readonly openFile?: (path: string) => Promise<boolean>;
  /** The version of Node, such as `v20.20.2`. */
  readonly nodeVersion?: string | undefined;
  /** {@link SELF} by default. */
  readonly self?: Self;
  /** The value of `process.platform`; linux by default. */
  readonly platform?: string;
  /** Whether the user has a home folder; true by default. */
  readonly hasHome?: boolean;
  /** Makes each write to stdout fail, as on a full disk. */
  readonly isStdoutFull?: boolean;
  /** Streams that the test writes and reads while the command runs. */
  readonly pipes?: {
    readonly stdin: PassThrough;
    readonly stdout: PassThrough;
    readonly stderr: PassThrough;
  };
}

/** The npm package, installed globally. */
export const SELF: Self = {
  form: 'package',
  file: '/usr/bin/node',
  args: ['/usr/lib/node_modules/gpucloud/bin/gpucloud.js'],
};

const SCHEDULERS: ReadonlySet<string> = new Set(['systemctl', 'crontab', 'launchctl', 'schtasks']);

/** Methods of tty.WriteStream that a spinner calls if a slow computer lets it start. */
const CURSOR = {
  cursorTo(this: Writable, x: number) {
    return cursorTo(this, x);
  },
  moveCursor(this: Writable, x: number, y: number) {
    return moveCursor(this, x, y);
  },
  clearLine(this: Writable, direction: Direction) {
    return clearLine(this, direction);
  },
};

/** A computer with its own home, a clock and one reachable service. */
export interface World {
  readonly home: string;
  readonly clock: ManualClock;
  readonly service: Service;
  /** The environment of every run: a key and the service's address, unless `signedIn` is false. */
  readonly env: Readonly<Record<string, string>>;
  cli(argv: readonly string[], options?: CliOptions): Promise<CliResult>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly handler: Handler;
  readonly clock?: ManualClock;
  readonly apiKey?: string;
  readonly signedIn?: boolean;
  /** Whether this computer never used the key, so that its account is unknown. */
  readonly isKeyNew?: boolean;
}

export const TEST_KEY = 'svc_sk_test_0123456789abcdef';

/** Creates a world whose service responds as the test decides. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const clock = options.clock ?? manualClock();
  const home = await mkdtemp(join(tmpdir(), 'gpucloud-test-'));
  const service = await startService(options.handler, clock);
  const env = {
    GPUCLOUD_CONFIG_DIR: join(home, 'config'),
    GPUCLOUD_STATE_DIR: join(home, 'state'),
    ...(options.signedIn === false
      ? {}
      : { GPUCLOUD_API_KEY: options.apiKey ?? TEST_KEY, GPUCLOUD_BASE_URL: service.url }),
  };
  if (options.signedIn !== false && options.isKeyNew !== true) {
    const scope = { service: service.url, apiKey: options.apiKey ?? TEST_KEY };
    await journalOf({ home, clock }, scope).learnAccount('user-1');
  }
  return {
    home,
    clock,
    service,
    env,
    async cli(argv, given = {}) {
      const before = service.requests.length;
      const write = toTranscript(argv, given, home, () => storedIn(home));
      const options = { ...given, env: { ...env, ...given.env } };
      const { unprinted, ...outcome } = await runCli(argv, options, home, clock);
      const result = { ...outcome, requests: service.requests.slice(before) };
      await write(result, unprinted);
      return result;
    },
    close: afterwards(async () => {
      await service.close();
      await removeFolder(home);
    }),
  };
}

/** Opens the journal of a world as another process would. */
export function journalOf(
  { home, clock }: Pick<World, 'home' | 'clock'>,
  scope: Scope,
  isAlive: (pid: number) => boolean = () => false,
): Journal {
  return openJournal({
    state: join(home, 'state'),
    scope,
    clock,
    pid: process.pid,
    isAlive,
    warn: () => undefined,
  });
}

export interface SandboxWorld extends World {
  readonly sandbox: Sandbox;
  /** Path of the sandbox's state file, for `--state`. */
  readonly sandboxFile: string;
}

/**
 * Creates a world whose service is the sandbox, over a real socket, on the world's clock. `change`
 * may wrap the sandbox's handler.
 */
export async function createSandboxWorld(
  change = (handler: Handler) => handler,
  clock = manualClock(),
): Promise<SandboxWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-sandbox-'));
  const sandboxFile = join(folder, 'sandbox.json');
  const sandbox = openSandbox({ file: sandboxFile, clock });
  const server = await sandbox.listen({ port: 0 });
  const world = await createWorld({
    handler: change(forwardTo(server.url)),
    clock,
    apiKey: server.apiKey,
  });
  const close = afterwards(async () => {
    await world.close();
    await server.close();
    await removeFolder(folder);
  });
  return { ...world, sandbox, sandboxFile, close };
}

/** Acts like the process's own streams, which a pipe can't end. */
class StandardStream extends PassThrough {
  isFull = false;

  override _write(...[chunk, encoding, done]: Parameters<PassThrough['_write']>): void {
    if (this.isFull) done(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    else super._write(chunk, encoding, done);
  }

  override end(): this {
    return this;
  }

  close(): void {
    super.end();
  }
}

async function runCli(
  argv: readonly string[],
  options: CliOptions,
  home: string,
  clock: ManualClock,
): Promise<Omit<CliResult, 'requests'> & { unprinted: string[] }> {
  const terminal =
    options.terminal === true
      ? { isTTY: true, columns: options.columns ?? 100, rows: options.rows, ...CURSOR }
      : {};
  const { pipes } = options;
  const stdin =
    pipes?.stdin ??
    Object.assign(new PassThrough(), options.terminal === true ? { isTTY: true } : {});
  const stdout = Object.assign(new StandardStream(), terminal);
  const stderr = Object.assign(new StandardStream(), terminal);
  if (pipes !== undefined) {
    stdout.pipe(pipes.stdout);
    // Not piped, since textOf reads it too.
    stderr.on('data', (chunk) => pipes.stderr.write(chunk));
  } else if (options.typedAhead === true) {
    stdin.write(options.stdin ?? '');
  } else if (options.terminal === true) {
    typeWhenAsked(stdin, stderr, options.stdin);
  } else {
    stdin.end(options.stdin ?? '');
  }
  stdout.isFull = options.isStdoutFull === true;
  const written = Promise.all([
    pipes === undefined && !stdout.isFull ? textOf(stdout) : '',
    textOf(stderr),
  ]);
  const unprinted: string[] = [];
  const host: Host = {
    onNote: (text) => unprinted.push(text),
    onFailure: (failure) => unprinted.push(detailsOf(failure)),
    stdin,
    stdout,
    stderr,
    env: Object.fromEntries(
      Object.entries(options.env ?? {}).filter(([, value]) => value !== undefined),
    ),
    clock,
    home: options.hasHome === false ? undefined : home,
    platform: options.platform ?? 'linux',
    ...(options.nodeVersion === undefined ? {} : { nodeVersion: options.nodeVersion }),
    pid: 4242,
    parent: PARENT,
    uid: process.geteuid?.(),
    isAlive: options.isAlive ?? ((pid) => pid === PARENT),
    interrupts: options.interrupts ?? {
      first: new AbortController().signal,
      second: new AbortController().signal,
    },
    ...(options.onThirdInterrupt && { onThirdInterrupt: options.onThirdInterrupt }),
    isStdoutNull: () => options.isStdoutNull === true,
    openFile: options.openFile ?? (async () => false),
    self: () => options.self ?? SELF,
    // Writes the output of programs that inherit the streams to the run's stdout.
    startPiped,
    start(program) {
      // Without a PATH, the system would find the schedulers of the computer that runs the tests.
      const isHidden = SCHEDULERS.has(program.file) && program.env.PATH === undefined;
      if (isHidden) return Promise.resolve(missing(program.file));
      return startProgram({ hear: (text) => stdout.write(text), ...program });
    },
  };
  const code = await run(argv, host);
  stdout.close();
  stderr.close();
  const [out, err] = await written;
  const left = () =>
    Object.values(host.interrupts)
      .flatMap((signal) => getEventListeners(signal, 'abort'))
      .filter(({ name }) => name !== 'unlessCtrlC');
  // A session of mcp runs many commands, so only the session and `leavingOf` may listen to the end.
  // What is in flight ends a moment later.
  await until(() => argv.includes('mcp') || left().length === 0).catch(() => {
    throw new Error(`${argv.join(' ')} listens after its end: ${left().join()}`);
  });
  // A suggested command was printed without withProfile, in output/shell-line.ts.
  if (`${out}${err}`.includes('\ufdd0'))
    throw new Error(`a command lacks its profile: ${out}${err}`);
  return { code, stdout: out, stderr: err, unprinted };
}

/** Returns what the text of an error leaves out. */
export function detailsOf(failure: CliError): string {
  const { code, httpStatus, retryable, resource, mayBeBilling, request, cause } = failure;
  const parts = [
    code,
    httpStatus,
    retryable && 'retryable',
    mayBeBilling && 'may be billing',
    resource && `resource ${resource}`,
    request && JSON.stringify(request),
    cause instanceof Error && `caused by ${cause.message}`,
  ];
  const all = parts.filter((part) => part !== undefined && part !== false);
  const each = failure instanceof SeveralErrors ? failure.errors.map(detailsOf) : [];
  return [all.join(', '), ...each.map((one) => `[${one}]`)].join(' ');
}

/** Fails like a missing program, without a process. */
function missing(file: string): Running {
  const error = Object.assign(new Error(`spawn ${file} ENOENT`), { code: 'ENOENT' });
  const ended = Promise.reject(error);
  ended.catch(() => undefined);
  return { ended, isLate: false, kill: () => undefined };
}

/** Types after the first question and never ends stdin, as in a terminal. */
function typeWhenAsked(stdin: PassThrough, stderr: PassThrough, text = ''): void {
  const onData = (chunk: Buffer) => {
    // A spinner hides the cursor with `ESC[?25l`, which is no question.
    if (chunk.toString().replaceAll('\u001b[?', '').includes('?')) {
      stderr.off('data', onData);
      setImmediate(() => stdin.write(text));
    }
  };
  stderr.on('data', onData);
}

async function textOf(stream: PassThrough): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    text += chunk;
  }
  return text;
}
