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
import type { Program, Running, Start } from '../programs.ts';
import type { Prompts } from '../prompts/prompts.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { ServiceClock } from './service-clock.ts';

/** What the process lends to a run. `main.ts` makes the real one, the test harness its own. */
export interface Host {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  /**
   * Where stdout is no terminal: writes to it without opening the stream, which costs more than a
   * short text does, and answers how many of the bytes were taken. The others are for the stream.
   */
  readonly syncWrite?: ((bytes: Uint8Array) => number) | undefined;
  /**
   * Calls back once when nobody reads stdout any more, where the system tells that without a write.
   * The answer ends the watch.
   */
  readonly onReaderGone?: ((gone: () => void) => () => void) | undefined;
  /** Whether stdout is closed or /dev/null, so that what is written to it is lost. */
  isStdoutNull?(): boolean;
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
  /** The user whose files are trusted; undefined where files have no owners and modes (Windows). */
  readonly uid?: number | undefined;
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
  /** Opens a file with the person's program for it; false if none starts. Tests open none. */
  openFile?(path: string): Promise<boolean>;
  /** How another process starts this program: a scheduler, or a helper of its own. */
  self(): Self;
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
  readonly csvSafe?: boolean;
}

/** All that a verb may touch. Services are made at their first use and closed after the verb. */
export interface Context {
  readonly out: Output;
  readonly err: Messages;
  readonly stdin: Host['stdin'];
  readonly env: Host['env'];
  /** The computer and its terminal, for `doctor`, which looks at what every command stands on. */
  readonly host: Pick<
    Host,
    | 'stdin'
    | 'stdout'
    | 'stderr'
    | 'isStdoutNull'
    | 'platform'
    | 'nodeVersion'
    | 'home'
    | 'uid'
    | 'openFile'
    | 'self'
  >;
  readonly clock: Clock;
  /** The service's time: compare its times with this and never with `clock`. */
  readonly serviceClock: ServiceClock;
  readonly interrupts: Interrupts;
  /** The first interrupt: for anything that may simply be dropped. */
  readonly signal: AbortSignal;
  readonly flags: GlobalFlags;
  /**
   * Starts a program of the computer in the environment of this run, without the API key. What
   * interrupts this run interrupts the program too.
   */
  readonly start: Start;
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
