import type { Readable, Writable } from 'node:stream';
import type { Api } from './api/index.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config/index.ts';
import type { Settings } from './config/settings.ts';
import type { Messages, Output } from './output/output.ts';
import type { Prompts } from './prompts/prompts.ts';
import type { Rentals } from './rentals/index.ts';
import type { Sandbox } from './sandbox/index.ts';

/** What the process lends to a run. `main.ts` makes the real one, the test harness its own. */
export interface Host {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Where `~` is; undefined when the system knows no home. */
  readonly home: string | undefined;
  readonly platform: string;
  readonly pid: number;
  readonly interrupts: Interrupts;
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
  readonly stdin: Readable & { isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly interrupts: Interrupts;
  /** The first interrupt: what a verb hands to anything that may simply be dropped. */
  readonly signal: AbortSignal;
  readonly flags: GlobalFlags;
  /** Which profile, base URL and key are in force, and where each came from. */
  settings(): Promise<Settings>;
  config(): Promise<Config>;
  /** The service with the key in force. Throws CliError('authentication') when there is no key. */
  api(): Promise<Api>;
  /** The service at another address or with another key, for `login`. */
  apiFor(target: { baseUrl: string; apiKey: string }): Promise<Api>;
  rentals(): Promise<Rentals>;
  /** undefined where nobody can be asked. */
  prompts(): Promise<Prompts | undefined>;
  sandbox(file?: string): Promise<Sandbox>;
  close(): Promise<void>;
}
