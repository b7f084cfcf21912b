import type { Readable, Writable } from 'node:stream';
import type { Api } from '../api/index.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Gate } from '../concurrency.ts';
import type { Config, ConfigFile, Folders } from '../config/index.ts';
import type { Keys } from '../config/keys.ts';
import type { Settings } from '../config/resolve.ts';
import type { CliError } from '../errors.ts';
import type { Journal, Scope } from '../journal/index.ts';
import type { Messages, Output, QueryLimits } from '../output/output.ts';
import type { Prompts } from '../prompts/prompts.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { Clock } from '../system/clock.ts';
import type { Piped, Program, Running, SignalGroup, Start } from '../system/programs.ts';
import type { Self } from '../system/self.ts';
import type { ServiceClock } from './service-clock.ts';
import type { Session } from './session.ts';

/** Process features that a run needs. `main.ts` and the test harness each create one. */
export interface Host {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  /**
   * Writes to stdout without a stream: creating one takes longer than writing a short text. Not for
   * terminals. Returns the number of bytes written; the stream writes the rest.
   */
  readonly syncWrite?: ((bytes: Uint8Array) => number) | undefined;
  /** Calls back once if stdin has data that the command will not read. */
  onStdinData?(found: () => void): void;
  /** Opens the terminal for answers while stdin is a pipe; undefined if there is none. */
  openTerminal?(): Promise<Host['stdin'] | undefined>;
  /** Whether stdout is closed or /dev/null, so that output is lost. */
  isStdoutNull?(): boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Whether the process exits after the run, so that the system closes its connections. */
  readonly endsAtOnce?: boolean;
  /** Lets the process exit although nobody reads its output. */
  dropOutput?(): void;
  /** The home folder; undefined if there is none. */
  readonly home: string | undefined;
  readonly platform: string;
  /** Node's version, such as `v20.20.2`; undefined if unknown. */
  readonly nodeVersion?: string;
  readonly pid: number;
  /** The process that started this one. */
  readonly parent: number;
  /** User whose files are trusted. Undefined if files have no owner and mode (Windows). */
  readonly uid?: number | undefined;
  isAlive(pid: number): boolean;
  /** Missing in tests that start no group. */
  readonly signalGroup?: SignalGroup;
  readonly interrupts: Interrupts;
  /**
   * Adds an action of the third signal, and returns how to remove the action. Without actions, the
   * third signal stops the process at once.
   */
  onThirdInterrupt?(leave: () => void): () => void;
  /**
   * For full-screen views: calls `leave` when the process is suspended (Ctrl-Z) or exits, and
   * `back` when it resumes. Returns a function that removes both callbacks.
   */
  borrowScreen?(leave: () => void, back: () => void): () => void;
  /** Starts a program; see programs.ts. */
  start(program: Program): Promise<Running>;
  /** Starts a program with binary streams; see programs.ts. */
  startPiped(
    program: Omit<Program, 'hear'> & { readonly signalGroup?: SignalGroup | undefined },
    platform: string,
  ): Promise<Piped>;
  /** Opens a file with the user's default program; returns false if none starts. */
  openFile?(path: string): Promise<boolean>;
  /** Returns how another process, such as a scheduler, starts gpucloud. */
  self(): Self;
  /** Limits of `--query` in a command of an agent. */
  readonly queryLimits?: QueryLimits;
  /** Gets the notes and progress of a command of an agent, which prints none. */
  readonly onNote?: (text: string) => void;
  /** Gets the error of a command, with all that its text leaves out. */
  readonly onFailure?: (failure: CliError) => void;
  /** The `mcp` session that runs the command, if any. */
  readonly session?: Session;
  /** Program that accesses the system's keyring; undefined if there is none. */
  readonly keyring?: () => { file: string; args: readonly string[] };
}

/**
 * Signals for Ctrl-C and similar. Each reason is a CliError (interrupted, terminated, hungUp). Work
 * that can simply stop listens to `first`. A request that may have rented an instance listens to
 * `second`, so that the first Ctrl-C waits for the response.
 */
export interface Interrupts {
  readonly first: AbortSignal;
  readonly second: AbortSignal;
}

/** The global flags as given, without defaults. */
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
  /** False with `--no-color`. */
  readonly color?: 'auto' | 'always' | 'never' | false;
  readonly input?: boolean;
  readonly yes?: boolean;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly debug?: boolean;
  readonly showSecrets?: boolean;
  readonly csvSafe?: boolean;
}

/**
 * Everything that a verb may use. Creates services at their first use and closes them after the
 * verb.
 */
export interface Context {
  readonly out: Output;
  readonly err: Messages;
  readonly stdin: Host['stdin'];
  readonly env: Host['env'];
  /** Parts of the host, for `doctor` and `run`. */
  readonly host: Pick<
    Host,
    | 'stdin'
    | 'stdout'
    | 'stderr'
    | 'onThirdInterrupt'
    | 'onStdinData'
    | 'isStdoutNull'
    | 'dropOutput'
    | 'isAlive'
    | 'pid'
    | 'parent'
    | 'platform'
    | 'nodeVersion'
    | 'home'
    | 'uid'
    | 'openFile'
    | 'self'
    | 'session'
  >;
  readonly clock: Clock;
  /** The service's time. Compare times from the service with it, never with `clock`. */
  readonly serviceClock: ServiceClock;
  readonly interrupts: Interrupts;
  /** Names of what requests in flight create, so that Ctrl-C warns once about all of them. */
  readonly creating: Set<string>;
  /**
   * Checks of new instances' prices, one at a time. `pending` has the names of instances of this
   * command that are still to be checked.
   */
  readonly priceChecks: { readonly inTurn: Gate; readonly pending: Set<string> };
  /** First interrupt, for work that can simply stop. */
  readonly signal: AbortSignal;
  readonly flags: GlobalFlags;
  /** gpucloud's version. */
  readonly version: string;
  /**
   * Starts a program in this run's environment, without the API key. Interrupts of the run reach
   * the program.
   */
  readonly start: Start;
  /** Starts a program with binary streams. Interrupts of the run do not reach it. */
  startPiped(program: Pick<Program, 'file' | 'args'>): Promise<Piped>;
  /** Removes these variables from the environment of all programs started later. */
  withhold(names: readonly string[]): void;
  /** Sets the exit code of a run that throws nothing: that of a program it started, or of a broken limit. */
  endWith(code: number): void;
  /** The code passed to {@link endWith}, otherwise 0. */
  readonly exitCode: number;
  /**
   * Returns the active profile, base URL and key, each with its source. `key: false` omits a key
   * that must be fetched from the keyring or by a command. Throws CliError(authentication) if
   * fetching fails.
   */
  settings(how?: { key?: boolean }): Promise<Settings>;
  config(): Promise<Config>;
  /** Reads the profiles; none of an unusable file if this command needs none. */
  profiles(): Promise<ConfigFile>;
  /** The places where keys are stored. */
  keys(): Promise<Keys>;
  folders(): Promise<Folders>;
  /**
   * The service with the active key. The first call warns about requests with an unknown outcome,
   * unless `quiet` is set. Throws CliError('authentication') without a key.
   */
  api(how?: { quiet?: boolean }): Promise<Api>;
  /** Whether the service refused the active key (401). */
  readonly isKeyRefused: boolean;
  /** A service with another address or key, for `login`. */
  apiFor(target: ServiceAddress): Promise<Api>;
  /** Opens the active account's journal. */
  journal(): Promise<Journal>;
  /** The journal of another account, for `login`. */
  journalOf(scope: Scope): Promise<Journal>;
  /** Names for offers and images of the active service. */
  catalog(): Promise<Catalog>;
  /** Undefined if not interactive. */
  prompts(): Promise<Prompts | undefined>;
  /** The same, but reads the terminal itself if stdin is a pipe with names. */
  terminalPrompts(): Promise<Prompts | undefined>;
  /** The sandbox with the state in `file`; by default, the built-in profile's. */
  sandbox(file?: string): Promise<Sandbox>;
  /**
   * Runs work that no interrupt stops, such as terminating the rented instance after Ctrl-C. `stop`
   * stops it as a last interrupt would.
   */
  shielded<T>(work: (own: Context) => Promise<T>, stop?: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

export interface ServiceAddress {
  readonly baseUrl: string;
  readonly apiKey: string;
}
