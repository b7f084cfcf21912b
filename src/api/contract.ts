import type { Clock } from '../clock.ts';
import type { Meta } from './schemas/page.ts';

/** What the HTTP layer is told once, for all of its calls. */
export interface ApiSettings {
  /** Checked by `rules/base-url.ts`: no slash at its end, no query. */
  baseUrl: string;
  /** Checked by `rules/api-key.ts`. */
  apiKey: string;
  /** The deadline of one whole call in milliseconds, its retries, pauses and body included. */
  timeoutMs: number;
  clock: Clock;
  /** Aborted by an interrupt; stands behind each call that brings no signal of its own. */
  signal: AbortSignal;
  /** Where the proxies are told, as curl reads them. */
  env: Readonly<Record<string, string | undefined>>;
  userAgent: string;
  /** Of the Node that runs it, as `v20.20.2`. */
  nodeVersion?: string;
  /** What to do when the service refuses the key: that depends on where the key came from. */
  keyRemedy?: () => string;
  /** Gets each request and response, line by line, with every secret replaced. */
  trace?: (line: string) => void;
  /** Gets the Date header of each response. */
  onDate?: (date: string | undefined) => void;
  /** Gets a sentence for each response that was understood in part. */
  warn?: (line: string) => void;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** A deadline in milliseconds for this call, where it is shorter than that of the settings. */
  timeoutMs?: number;
  /**
   * A longer pause than this, in milliseconds, is not kept within the call when the service asks for
   * it (Retry-After): the call ends at once as `rateLimited`, and whoever reads again and again
   * keeps and tells it.
   */
  longestPauseMs?: number;
  /**
   * Gets each raw response of the call, awaited before anything of it is checked, so that an id can
   * be saved from a response that turns out broken. What it throws ends the call.
   */
  onResponse?: (response: RawResponse) => Promise<void>;
  /** Called just before the first byte of a request goes to the socket; from here it may arrive. */
  onSending?: () => void;
}

export interface RawResponse {
  status: number;
  /** Names in lower case; values of a repeated header joined by a comma. */
  headers: Record<string, string>;
  text: string;
  /** The body ended, or was given up, before its end: `text` is what came until then. */
  cut?: true;
}

/** One page of a list (API document: Conventions, pagination object). */
export interface Page<T> {
  data: T[];
  meta: Meta;
}
