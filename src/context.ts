import type { Readable, Writable } from 'node:stream';
import type { Api } from './api/index.ts';
import type { Catalog } from './catalog/index.ts';
import type { Clock } from './clock.ts';
import { createWatch } from './completion/watch.ts';
import type { Config, Folders } from './config/index.ts';
import type { Keys } from './config/keys.ts';
import { noKeyRemedy, refusedKeyRemedy } from './config/remedies.ts';
import type { Settings } from './config/settings.ts';
import { CliError, type Failure, usageError } from './errors.ts';
import type { Journal, Scope } from './journal/index.ts';
import { createMessages, createOutput, parseFormat, wantsColour } from './output/index.ts';
import type { Format, Messages, Output } from './output/output.ts';
import type { Program, Running, Signal } from './programs.ts';
import type { Prompts } from './prompts/prompts.ts';
import type { Sandbox } from './sandbox/index.ts';

/** What the process lends to a run. `main.ts` makes the real one, the test harness its own. */
export interface Host {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  /**
   * Where stdout is no terminal: writes to it without opening the stream, which costs more than a
   * short text does, and answers how many of the bytes were taken. The others are for the stream.
   */
  readonly plainOut?: ((bytes: Uint8Array) => number) | undefined;
  /**
   * Calls back once when nobody reads stdout any more, where the system tells that without a write.
   * The answer ends the watch.
   */
  readonly watchReader?: ((gone: () => void) => () => void) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** The process ends with the run, so that the system closes the connections that are open. */
  readonly endsAtOnce?: boolean;
  /** Where `~` is; undefined when the system knows no home. */
  readonly home: string | undefined;
  readonly platform: string;
  /** As `v20.20.2`; undefined where nobody told. */
  readonly nodeVersion?: string;
  readonly pid: number;
  /** Whether a process of that id runs. */
  isAlive(pid: number): boolean;
  readonly interrupts: Interrupts;
  /**
   * For a view that takes the screen: `leave` is called when the process is suspended (Ctrl-Z) or
   * ends, `back` when it goes on. The answer takes both back.
   */
  borrowScreen?(leave: () => void, back: () => void): () => void;
  /** Starts a program of the computer; see programs.ts. */
  start(program: Program): Promise<Running>;
  /** The program that asks the system's keyring; undefined where there is none. */
  readonly keyring?: () => { file: string; args: readonly string[] };
}

/**
 * Ctrl-C and its like. The reason of each signal is a CliError (interrupted, terminated, hungUp).
 * What can be dropped at any moment listens to `first`; a request that may already have rented a
 * machine listens to `second`, so that the first Ctrl-C waits for the answer.
 */
export interface Interrupts {
  readonly first: AbortSignal;
  readonly second: AbortSignal;
}

/** The flags that every command takes, as they were given; nothing is defaulted here. */
export interface GlobalFlags {
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly output?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly columns?: readonly string[];
  readonly sort?: string;
  readonly query?: string;
  readonly header?: boolean;
  /** false for `--no-color`. */
  readonly color?: 'auto' | 'always' | 'never' | false;
  readonly input?: boolean;
  readonly yes?: boolean;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly debug?: boolean;
  readonly showSecrets?: boolean;
}

/** All that a verb may touch. Services are made at their first use and closed after the verb. */
export interface Context {
  readonly out: Output;
  readonly err: Messages;
  /** Warnings that are told at the end, in the one JSON object of stderr. */
  readonly warnings: readonly string[];
  readonly stdin: Host['stdin'];
  readonly env: Host['env'];
  /** The computer and its terminal, for `doctor`, which looks at what every command stands on. */
  readonly host: Pick<Host, 'stdin' | 'stdout' | 'stderr' | 'platform' | 'nodeVersion' | 'home'>;
  readonly clock: Clock;
  readonly interrupts: Interrupts;
  /** The first interrupt: for anything that may simply be dropped. */
  readonly signal: AbortSignal;
  readonly flags: GlobalFlags;
  /**
   * Starts a program of the computer in the environment of this run. What interrupts this run
   * interrupts the program too.
   */
  start(program: Omit<Program, 'env'>): Promise<Running>;
  /** The exit code of a run that fails in nothing itself: that of the program it was run for. */
  endWith(code: number): void;
  /** What {@link endWith} was told; 0 without it. */
  readonly exitCode: number;
  /**
   * Which profile, base URL and key are in force, and where each came from. `key: false` leaves a key
   * that has to be fetched (from the keyring, by a command) where it is.
   * Throws CliError(authentication) for one that its place does not give.
   */
  settings(how?: { key?: boolean }): Promise<Settings>;
  config(): Promise<Config>;
  /** The places where keys rest. */
  keys(): Promise<Keys>;
  folders(): Promise<Folders>;
  /**
   * The service with the key in force. The first call warns, in a line, of requests whose outcome
   * is unknown; `quiet` is for the command that settles them.
   * Throws CliError('authentication') when there is no key.
   */
  api(how?: { quiet?: boolean }): Promise<Api>;
  /** The service at another address or with another key, for `login`. */
  apiFor(target: ServiceAddress): Promise<Api>;
  /** The machines of the account in force. */
  journal(): Promise<Journal>;
  /** The machines of another account, for `login`. */
  journalOf(scope: Scope): Promise<Journal>;
  /** Names for the offers and images of the service in force. */
  catalog(): Promise<Catalog>;
  /** undefined where nobody can be asked. */
  prompts(): Promise<Prompts | undefined>;
  /** The embedded service, with its state in the given file or in the one of the built-in profile. */
  sandbox(file?: string): Promise<Sandbox>;
  close(): Promise<void>;
}

export interface ServiceAddress {
  readonly baseUrl: string;
  readonly apiKey: string;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** Makes the Context of one command. Nothing is loaded, read or opened before it is asked for. */
export function createContext(host: Host, flags: GlobalFlags, version: string): Context {
  const { env, clock, interrupts } = host;
  const closers: (() => Promise<void>)[] = [];

  // The streams are opened when something is written, or only they can tell what they are.
  const stdout = {
    get isTTY() {
      return host.plainOut === undefined && host.stdout.isTTY === true;
    },
  };
  const format = formatOf(flags, env);
  const warnings: string[] = [];
  const err = createMessages({
    ...(format === 'json' ? { holdWarning: (text: string) => void warnings.push(text) } : {}),
    jsonLines: format === 'jsonl',
    quietProgress: flags.debug === true,
    ...(flags.profile === undefined ? {} : { profile: flags.profile }),
    get stderr() {
      return host.stderr;
    },
    clock,
    get colour() {
      return wantsColour(host.stderr, env, flags.color);
    },
    env,
  });
  // How far the service's clock is ahead: only that of the built-in sandbox can be turned.
  let ahead = 0;
  const out = createOutput({
    get stdout() {
      return host.stdout;
    },
    ...(host.plainOut === undefined ? {} : { plainOut: host.plainOut }),
    ...(host.watchReader === undefined ? {} : { watchReader: host.watchReader }),
    stop: host.interrupts.second,
    env,
    clock: { ...clock, now: () => clock.now() + ahead },
    get colour() {
      return wantsColour(stdout, env, flags.color);
    },
    note: (text) => err.note(text),
    ...(host.borrowScreen === undefined ? {} : { borrowScreen: host.borrowScreen }),
    settings: {
      format,
      header: flags.header !== false,
      showSecrets: flags.showSecrets === true,
      ...(flags.columns === undefined ? {} : { columns: flags.columns }),
      ...(flags.sort === undefined ? {} : { sort: flags.sort }),
      ...(flags.query === undefined ? {} : { query: flags.query }),
    },
  });

  /** Two hundred machines that are read one by one have one odd field, told once. */
  const warned = new Set<string>();
  const warnOnce = (text: string) => {
    if (!warned.has(text)) err.warn(text);
    warned.add(text);
  };

  let isLocalKept = false;
  const folders = once(async () => {
    isLocalKept = true;
    const config = await import('./config/index.ts');
    return config.folders(env, host.home, host.platform);
  });
  const names = createWatch({
    cache: async () => (await folders()).cache,
    settings: async () => (await resolved()).settings,
  });
  const config = once(async () => {
    const { openConfig } = await import('./config/index.ts');
    return names.config(openConfig((await folders()).config));
  });
  const keys = once(async () => {
    const { openKeys } = await import('./config/keys.ts');
    return openKeys({
      helper: host.keyring,
      start,
      stop: interrupts.first,
      complain(text) {
        // In JSON modes a program finds one object on stderr, and no words of others.
        if (format === 'json' || format === 'jsonl' || host.stderr.destroyed) return;
        host.stderr.write(text);
      },
    });
  });
  /** What is in force, before a key is fetched that the command may not need. */
  const resolved = once(async () => {
    // Whatever speaks to a service passes here first: a slip in --query costs no request.
    await out.prepare();
    const { resolveSettings } = await import('./config/index.ts');
    return resolveSettings(flags, env, await (await config()).read());
  });
  let isKeyFetched = false;
  const settings = once(async () => {
    const inForce = await resolved();
    const { elsewhere } = inForce;
    if (elsewhere === undefined) return inForce.settings;
    const { withKey } = await import('./config/index.ts');
    isKeyFetched = true;
    return withKey(inForce, await (await keys()).read(elsewhere.profile, elsewhere.place));
  });

  async function sandbox(file?: string): Promise<Sandbox> {
    const { openSandbox } = await import('./sandbox/index.ts');
    const { join } = await import('node:path');
    if (file !== undefined) return openSandbox({ file, clock });
    return names.sandbox(
      openSandbox({ file: join((await folders()).state, 'sandbox.json'), clock }),
    );
  }

  /** The proxies of `proxies`, where the address may lie behind one. */
  async function connect(
    { baseUrl, apiKey }: ServiceAddress,
    proxies: Host['env'],
    keyRemedy?: () => string,
  ): Promise<Api> {
    const { createApi } = await import('./api/index.ts');
    const api = createApi({
      baseUrl,
      apiKey,
      timeoutMs: flags.timeout ?? DEFAULT_TIMEOUT_MS,
      clock,
      signal: interrupts.first,
      env: proxies,
      userAgent: `gpucloud/${version}`,
      ...(host.nodeVersion === undefined ? {} : { nodeVersion: host.nodeVersion }),
      warn: warnOnce,
      ...(keyRemedy === undefined ? {} : { keyRemedy }),
      ...(flags.debug === true ? { trace: (line: string) => err.debug(line) } : {}),
    });
    closers.push(() => api.close());
    return api;
  }

  /** The built-in profile serves itself on a loopback port for as long as the command runs. */
  let isServing = false;
  const selfServed = once(async () => {
    isServing = true;
    const own = await sandbox();
    const server = await own.listen({ port: 0 });
    closers.push(() => server.close());
    ahead = Date.parse((await own.status()).now) - clock.now();
    return { baseUrl: server.url, apiKey: server.apiKey };
  });

  /** A flag goes before the environment; whoever set both may believe to be elsewhere. */
  const tellIgnored = once(async () => {
    const { profile } = (await resolved()).settings;
    const ignored = ['GPUCLOUD_BASE_URL', 'GPUCLOUD_API_KEY'].filter((name) => env[name]);
    if (profile?.source !== 'flag' || ignored.length === 0) return;
    const are = ignored.length === 1 ? 'is' : 'are';
    err.warn(`${ignored.join(' and ')} ${are} ignored: --profile ${profile.value} serves itself.`);
  });

  const connected = once(async () => {
    const inForce = await settings();
    if (inForce.sandbox) {
      await tellIgnored();
      return names.api(await connect(await selfServed(), {}));
    }
    const { baseUrl, apiKey } = inForce;
    if (apiKey === undefined) {
      throw new CliError('authentication', 'There is no API key: you are not signed in.', {
        hint: noKeyRemedy(inForce, await (await config()).read()),
      });
    }
    const address = requireAddress(baseUrl?.value, apiKey.value);
    return names.api(await connect(address, env, () => refusedKeyRemedy(inForce)));
  });

  let quieted = false;
  const journalFolder = once(async () => {
    const { join } = await import('node:path');
    return join((await folders()).state, 'rentals');
  });

  async function journalOf(scope: Scope): Promise<Journal> {
    const { openJournal } = await import('./journal/index.ts');
    return openJournal({
      folder: await journalFolder(),
      scope,
      clock,
      pid: host.pid,
      isAlive: (pid) => host.isAlive(pid),
      warn: (text) => err.warn(text),
    });
  }

  const journal = once(async () => {
    const { sandbox: builtIn, baseUrl, apiKey, account } = await settings();
    const own = await journalOf(
      builtIn
        ? { service: 'sandbox', account: (await (await sandbox()).status()).account }
        : { service: baseUrl?.value ?? '', account, apiKey: apiKey?.value },
    );
    return names.journal(own);
  });

  /** For a warning alone no key is fetched from elsewhere: that may ask for a passphrase. */
  async function rentalsAtHand(): Promise<Journal> {
    const { settings: inForce, elsewhere } = await resolved();
    return elsewhere === undefined || isKeyFetched
      ? journal()
      : journalOf({ service: inForce.baseUrl?.value ?? '', account: elsewhere.account });
  }

  /**
   * Every command that speaks to the service comes by here before it does, and every other that
   * looks at what is kept on this computer when it ends, so that none need think of it.
   */
  const tellUnknown = once(async () => {
    let folder: string;
    try {
      folder = await journalFolder();
      await resolved();
    } catch (error) {
      // A system that knows no home has no journal; settings that can't be had are the verb's to tell.
      if (error instanceof CliError) return;
      throw error;
    }
    try {
      const { anyRequestOpen } = await import('./journal/pending.ts');
      if (!(await anyRequestOpen(folder))) return;
      const own = await rentalsAtHand();
      const { length } = await own.unknown();
      const strange = (await own.strangers()).flatMap(({ unknown }) => unknown).length;
      if (length + strange > 0) err.warn(unknownWords(length, strange));
    } catch (error) {
      // What can't be looked at spoils no command that needs no journal.
      const words = error instanceof Error ? error.message : String(error);
      err.warn(
        `The journal of rented machines can't be looked at, so that a machine of unknown outcome may go untold: ${words}`,
      );
    }
  });

  const catalog = once(async () => {
    const { openCatalog } = await import('./catalog/index.ts');
    const { join } = await import('node:path');
    const { sandbox: builtIn, baseUrl } = (await resolved()).settings;
    if (builtIn) await tellIgnored();
    if (!builtIn && baseUrl === undefined) {
      throw usageError(
        '--base-url (or GPUCLOUD_BASE_URL) is missing: offers and images belong to a service, and none is known',
      );
    }
    const catalog = openCatalog({
      file: join((await folders()).state, 'catalog.json'),
      service: baseUrl?.value ?? 'sandbox',
      clock,
      warn: (text) => err.warn(text),
      ...(builtIn ? { builtIn: async () => (await sandbox()).catalog() } : {}),
    });
    return names.catalog(catalog);
  });

  const prompts = once(async () => {
    if (!canAsk(host, flags)) {
      return undefined;
    }
    const { createPrompts } = await import('./prompts/index.ts');
    return createPrompts({
      stdin: host.stdin,
      stderr: host.stderr,
      env,
      colour: wantsColour(host.stderr, env, flags.color),
      signal: interrupts.first,
    });
  });

  /** The signal itself, since only a terminal sends it to all of its programs at once. */
  async function start(program: Omit<Program, 'env'>): Promise<Running> {
    const running = await host.start({ ...program, env });
    const heard = [interrupts.first, interrupts.second].map((signal) => {
      const pass = () => running.kill(signalOf(signal.reason));
      if (signal.aborted) pass();
      else signal.addEventListener('abort', pass, { once: true });
      return () => signal.removeEventListener('abort', pass);
    });
    const forget = () => {
      for (const stop of heard) stop();
    };
    running.ended.then(forget, forget);
    return running;
  }

  let exitCode = 0;
  return {
    start,
    endWith(code) {
      exitCode = code;
    },
    get exitCode() {
      return exitCode;
    },
    out,
    err,
    warnings,
    get stdin() {
      return host.stdin;
    },
    env,
    host,
    clock,
    interrupts,
    signal: interrupts.first,
    flags,
    settings: async ({ key = true } = {}) => (key ? settings() : (await resolved()).settings),
    config,
    keys,
    folders,
    async api({ quiet = false } = {}) {
      const api = await connected();
      quieted ||= quiet;
      if (!quieted) await tellUnknown();
      return api;
    },
    apiFor: (target) => connect(target, env),
    journal,
    journalOf,
    catalog,
    prompts,
    sandbox,
    async close() {
      if (isLocalKept && !quieted) await tellUnknown();
      // Connections take as long to end as names to be kept, and neither needs the other.
      const kept = names.keep();
      const isLeft = host.endsAtOnce === true && !isServing;
      try {
        // The last opened closes first: the client before the server that it speaks to.
        for (const close of isLeft ? [] : closers.reverse()) {
          await close();
        }
      } finally {
        await kept;
      }
    },
  };
}

/**
 * The format in force: `--json`, `-q` and `-o` may not contradict each other. A query shapes JSON,
 * so it asks for it where nothing else does.
 */
export function formatOf(flags: GlobalFlags, env: Host['env']): Format {
  const asked = new Set<string>();
  if (flags.output !== undefined) asked.add(flags.output);
  if (flags.json === true) asked.add('json');
  if (flags.quiet === true) asked.add('id');
  const [format, other] = asked;
  if (format !== undefined && other !== undefined) {
    throw usageError(
      `--output, --json and --quiet ask for different formats: ${format} and ${other}`,
    );
  }
  if (format !== undefined) {
    return shaped(parseFormat(format), flags.query);
  }
  const fromEnv = env.GPUCLOUD_OUTPUT ?? '';
  if (fromEnv !== '') {
    return shaped(parseFormat(fromEnv, 'GPUCLOUD_OUTPUT'), flags.query);
  }
  return flags.query === undefined ? 'table' : 'json';
}

/** Only these have a place for whatever a query finds; see output/query.ts. */
const SHAPED: readonly Format[] = ['json', 'jsonl', 'yaml', 'tsv'];

function shaped(format: Format, query: string | undefined): Format {
  if (query !== undefined && !SHAPED.includes(format)) {
    throw usageError(`--query "${query}": it shapes ${SHAPED.join(', ')}, not ${format}`);
  }
  return format;
}

function canAsk(host: Host, flags: GlobalFlags): boolean {
  const forbidden =
    flags.input === false || isSet(host.env.GPUCLOUD_NO_INPUT) || isSet(host.env.CI);
  return host.stdin.isTTY === true && host.stderr.isTTY === true && !forbidden;
}

/** `CI=false` and `CI=0` are said by people who mean no. */
function isSet(variable: string | undefined): boolean {
  return variable !== undefined && variable !== '' && variable !== '0' && variable !== 'false';
}

const SIGNALS: Readonly<Partial<Record<Failure, Signal>>> = {
  interrupted: 'SIGINT',
  terminated: 'SIGTERM',
  hungUp: 'SIGHUP',
};

function signalOf(reason: unknown): Signal {
  return (reason instanceof CliError ? SIGNALS[reason.failure] : undefined) ?? 'SIGTERM';
}

function unknownWords(own: number, strange: number): string {
  const count = own + strange;
  const requests = count === 1 ? '1 request has' : `${count} requests have`;
  const whose = strange === 0 ? '' : ` (${strange} of another key, perhaps of another account)`;
  return `${requests} an unknown outcome${whose}, and what was asked for may be billing. Settle it: gpucloud instances recover`;
}

function requireAddress(baseUrl: string | undefined, apiKey: string): ServiceAddress {
  if (baseUrl === undefined) {
    throw usageError(
      '--base-url (or GPUCLOUD_BASE_URL) is missing: the address of the service is not known',
    );
  }
  return { baseUrl, apiKey };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
