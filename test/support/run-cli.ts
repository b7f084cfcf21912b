import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Host, Interrupts } from '../../src/context.ts';
import { type Journal, openJournal, type Scope } from '../../src/journal/index.ts';
import type { Self } from '../../src/platform/self.ts';
import { startProgram } from '../../src/programs.ts';
import { run } from '../../src/run.ts';
import { openSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { type ManualClock, manualClock } from './clock.ts';
import {
  forwardTo,
  type Handler,
  type RecordedRequest,
  type Service,
  startService,
} from './service.ts';

// As main.ts does: many requests listen to one signal.
setMaxListeners(0);

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What reached the service during this run. */
  readonly requests: readonly RecordedRequest[];
}

export interface CliOptions {
  /** Merged over the world's own; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** In a terminal it is typed when the first question is asked. */
  readonly stdin?: string;
  /** Makes stdin, stdout and stderr terminals of 100 columns. */
  readonly terminal?: boolean;
  /** Of that terminal, instead of 100. */
  readonly columns?: number;
  /** In a terminal, all of it is typed before anything is asked. */
  readonly typedAhead?: boolean;
  readonly interrupts?: Interrupts;
  /** Whether a process runs; none does. */
  readonly isAlive?: (pid: number) => boolean;
  /** Opens a file; nothing can. */
  readonly openFile?: (path: string) => Promise<boolean>;
  /** As `v20.20.2`. */
  readonly nodeVersion?: string | undefined;
  /** {@link SELF} if absent. */
  readonly self?: Self;
}

/** The npm package, as it is installed for everyone. */
export const SELF: Self = {
  form: 'package',
  file: '/usr/bin/node',
  args: ['/usr/lib/node_modules/gpucloud/bin/gpucloud.js'],
};

/** Of a tty.WriteStream: a spinner calls them when a slow computer gives it time to start. */
const CURSOR = { cursorTo: () => true, moveCursor: () => true, clearLine: () => true };

/** A computer with a home of its own, a clock and one service that it can reach. */
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
  /** The key was never used here, so that its account is not known yet. */
  readonly isKeyNew?: boolean;
}

export const TEST_KEY = 'svc_sk_test_0123456789abcdef';

/** A world whose service answers as the test says. */
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
      const outcome = await runCli(argv, { ...given, env: { ...env, ...given.env } }, home, clock);
      return { ...outcome, requests: service.requests.slice(before) };
    },
    async close() {
      await service.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The journal of a world, as another process opens it. */
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
  /** The sandbox's state file, for `--state`. */
  readonly sandboxFile: string;
}

/**
 * A world whose service is the sandbox, reached over a real socket, on the world's own clock.
 * `change` may put something between them.
 */
export async function createSandboxWorld(
  change = (handler: Handler) => handler,
): Promise<SandboxWorld> {
  const clock = manualClock();
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-sandbox-'));
  const sandboxFile = join(folder, 'sandbox.json');
  const sandbox = openSandbox({ file: sandboxFile, clock });
  const server = await sandbox.listen({ port: 0 });
  const world = await createWorld({
    handler: change(forwardTo(server.url)),
    clock,
    apiKey: server.apiKey,
  });
  return {
    ...world,
    sandbox,
    sandboxFile,
    async close() {
      await world.close();
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** As of the process's own streams, nothing that is piped into it can end it. */
class StandardStream extends PassThrough {
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
): Promise<Omit<CliResult, 'requests'>> {
  const terminal =
    options.terminal === true ? { isTTY: true, columns: options.columns ?? 100, ...CURSOR } : {};
  const stdin = Object.assign(new PassThrough(), options.terminal === true ? { isTTY: true } : {});
  const stdout = Object.assign(new StandardStream(), terminal);
  const stderr = Object.assign(new StandardStream(), terminal);
  if (options.typedAhead === true) {
    stdin.write(options.stdin ?? '');
  } else if (options.terminal === true) {
    typeWhenAsked(stdin, stderr, options.stdin);
  } else {
    stdin.end(options.stdin ?? '');
  }
  const written = Promise.all([textOf(stdout), textOf(stderr)]);
  const host: Host = {
    stdin,
    stdout,
    stderr,
    env: Object.fromEntries(
      Object.entries(options.env ?? {}).filter(([, value]) => value !== undefined),
    ),
    clock,
    home,
    platform: 'linux',
    ...(options.nodeVersion === undefined ? {} : { nodeVersion: options.nodeVersion }),
    pid: 4242,
    uid: process.geteuid?.(),
    isAlive: options.isAlive ?? (() => false),
    interrupts: options.interrupts ?? {
      first: new AbortController().signal,
      second: new AbortController().signal,
    },
    openFile: options.openFile ?? (async () => false),
    self: () => options.self ?? SELF,
    // A program that would have our own streams writes to the run's stdout.
    start: (program) => startProgram({ hear: (text) => stdout.write(text), ...program }),
  };
  const code = await run(argv, host);
  stdout.close();
  stderr.close();
  const [out, err] = await written;
  return { code, stdout: out, stderr: err };
}

/** A person types once a question is there; a terminal's input has no end. */
function typeWhenAsked(stdin: PassThrough, stderr: PassThrough, text = ''): void {
  const onData = (chunk: Buffer) => {
    if (chunk.includes('?')) {
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
