import type { Readable, Writable } from 'node:stream';
import type { Api } from '../api/index.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Clock } from '../clock.ts';
import type { Config, Folders } from '../config/index.ts';
import type { Keys } from '../config/keys.ts';
import type { Settings } from '../config/resolve.ts';
import type { Journal, Scope } from '../journal/index.ts';
import type { Messages, Output } from '../output/output.ts';
import type { Self } from '../platform/self.ts';
import type { Piped, Program, Running, Start } from '../programs.ts';
import type { Prompts } from '../prompts/prompts.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { ServiceClock } from './service-clock.ts';

/** The process's side of a run. `main.ts` and the test harness each create one. */
export interface Host {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  /**
   * Writes to stdout without opening its stream, if it is not a terminal: opening costs more than a
   * short text. Returns the number of bytes taken; the stream writes the rest.
   */
  readonly syncWrite?: ((bytes: Uint8Array) => number) | undefined;
  /**
   * Calls back once when stdout has lost its reader, if the system reports that without a write. Returns
   * a function that stops watching.
   */
  readonly onReaderGone?: ((gone: () => void) => () => void) | undefined;
  /** Calls back once if there is data on stdin, for a command that reads none. */
  onStdinData?(found: () => void): void;
  /** Whether stdout is closed or /dev/null, so that its output is lost. */
  isStdoutNull?(): boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** The process ends with the run, so the system closes open connections. */
  readonly endsAtOnce?: boolean;
  /** The home folder; undefined if the system has none. */
  readonly home: string | undefined;
  readonly platform: string;
  /** Node's version, such as `v20.20.2`; undefined if unknown. */
  readonly nodeVersion?: string;
  readonly pid: number;
  /** The user whose files are trusted; undefined if files have no owner and mode (Windows). */
  readonly uid?: number | undefined;
  /** Whether a process with that ID is running. */
  isAlive(pid: number): boolean;
  readonly interrupts: Interrupts;
  /** Sets the action for the third signal, which otherwise ends the process at once. */
  onThirdInterrupt?(leave: () => void): void;
  /**
   * For full-screen views: calls `leave` when the process is suspended (Ctrl-Z) or ends, `back` when it
   * resumes. Returns a function that removes both.
   */
  borrowScreen?(leave: () => void, back: () => void): () => void;
  /** Starts a program; see programs.ts. */
  start(program: Program): Promise<Running>;
  /** Starts a program for its bytes; see programs.ts. */
  startPiped(program: Omit<Program, 'hear'>, platform: string): Promise<Piped>;
  /** Opens a file with the user's default program; false if none starts. Tests open nothing. */
  openFile?(path: string): Promise<boolean>;
  /** How another process starts this program: a scheduler, or a helper. */
  self(): Self;
  /** The program that accesses the system's keyring; undefined if there is none. */
  readonly keyring?: () => { file: string; args: readonly string[] };
}

/**
 * Ctrl-C and similar signals. Each reason is a CliError (interrupted, terminated, hungUp). Work that
 * can be dropped listens to `first`. A request that may have rented an instance listens to `second`,
 * so the first Ctrl-C waits for the response.
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
  /** false for `--no-color`. */
  readonly color?: 'auto' | 'always' | 'never' | false;
  readonly input?: boolean;
  readonly yes?: boolean;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly debug?: boolean;
  readonly showSecrets?: boolean;
  readonly csvSafe?: boolean;
}

/** Everything a verb may use. Services are created at their first use and closed after the verb. */
export interface Context {
  readonly out: Output;
  readonly err: Messages;
  readonly stdin: Host['stdin'];
  readonly env: Host['env'];
  /** The host and its terminal, for `doctor` and `run`. */
  readonly host: Pick<
    Host,
    | 'stdin'
    | 'stdout'
    | 'stderr'
    | 'onReaderGone'
    | 'onThirdInterrupt'
    | 'onStdinData'
    | 'isStdoutNull'
    | 'platform'
    | 'nodeVersion'
    | 'home'
    | 'uid'
    | 'openFile'
    | 'self'
  >;
  readonly clock: Clock;
  /** The service's time. Compare its times with this, never with `clock`. */
  readonly serviceClock: ServiceClock;
  readonly interrupts: Interrupts;
  /** The first interrupt, for work that can be dropped. */
  readonly signal: AbortSignal;
  readonly flags: GlobalFlags;
  /**
   * Starts a program in this run's environment, without the API key. An interrupt of the run reaches
   * the program too.
   */
  readonly start: Start;
  /** Starts a program for its bytes. An interrupt of this run does not reach it. */
  startPiped(program: Pick<Program, 'file' | 'args'>): Promise<Piped>;
  /** Keeps these variables out of the environment of every program that is started later. */
  withhold(names: readonly string[]): void;
  /** Sets the exit code of a run that did not fail: that of the program it started. */
  endWith(code: number): void;
  /** The code passed to {@link endWith}; 0 by default. */
  readonly exitCode: number;
  /**
   * The active profile, base URL and key, each with its source. With `key: false`, a key that must be
   * fetched (from the keyring, by a command) is not. Throws CliError(authentication) if the key's place
   * does not return it.
   */
  settings(how?: { key?: boolean }): Promise<Settings>;
  config(): Promise<Config>;
  /** The places where keys are stored. */
  keys(): Promise<Keys>;
  folders(): Promise<Folders>;
  /**
   * The service with the active key. The first call warns of requests with an unknown outcome; `quiet`
   * is for the command that recovers them. Throws CliError('authentication') without a key.
   */
  api(how?: { quiet?: boolean }): Promise<Api>;
  /** Whether the service refused the active key (401). */
  readonly isKeyRefused: boolean;
  /** The service at another address or with another key, for `login`. */
  apiFor(target: ServiceAddress): Promise<Api>;
  /** The journal of the active account. */
  journal(): Promise<Journal>;
  /** The journal of another account, for `login`. */
  journalOf(scope: Scope): Promise<Journal>;
  /** Names for the offers and images of the active service. */
  catalog(): Promise<Catalog>;
  /** undefined if not interactive. */
  prompts(): Promise<Prompts | undefined>;
  /** The built-in sandbox, with its state in the given file or in the built-in profile's. */
  sandbox(file?: string): Promise<Sandbox>;
  /** Does work that no interrupt stops, to terminate what the run rented after Ctrl-C. */
  shielded<T>(work: (own: Context) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface ServiceAddress {
  readonly baseUrl: string;
  readonly apiKey: string;
}
