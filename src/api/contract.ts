import type { Clock } from '../clock.ts';
import type { Observed } from './operations.ts';

/** Settings of the HTTP layer for all its calls. */
export interface ApiSettings {
  /** Checked by `baseUrl` in `rules/service.ts`: no trailing slash, no query. */
  baseUrl: string;
  /** Checked by `apiKey` in `rules/service.ts`. */
  apiKey: string;
  /** Deadline of one call in milliseconds, with its retries, pauses and body. */
  timeoutMs: number;
  clock: Clock;
  /** Aborted by an interrupt; applies to each call without its own signal. */
  signal: AbortSignal;
  /** Environment variables for proxies, read as curl reads them. */
  env: Readonly<Record<string, string | undefined>>;
  userAgent: string;
  /** Node's version, as `v20.20.2`. */
  nodeVersion?: string;
  /** The hint if the service refuses the key; it depends on where the key came from. */
  keyRemedy?: (status: number) => string;
  /** Receives each request and response, line by line, with secrets masked. */
  trace?: (line: string) => void;
  /** Receives the Date header of each understood response. */
  onDate?: (date: string | undefined) => void;
  /** Receives each operation that succeeded, and is awaited. */
  observe?: (seen: Observed) => Promise<void>;
  /** Receives a sentence for each partly understood response. */
  warn?: (line: string) => void;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** A deadline in milliseconds for this call, if shorter than the default. */
  timeoutMs?: number;
  /**
   * Longest Retry-After pause to wait within the call, in milliseconds. A longer one ends the call as
   * `rateLimited`, for callers that poll and honour the pause themselves.
   */
  longestPauseMs?: number;
  /**
   * Receives each raw response before it is checked, and is awaited, so that an ID can be saved from a
   * broken response. If it throws, the call ends.
   */
  onResponse?: (response: RawResponse) => Promise<void>;
  /** Called right before a request's first byte is sent; from here it may arrive. */
  onSending?: () => void;
}

export interface RawResponse {
  status: number;
  /** Names in lower case; repeated headers are joined by commas. */
  headers: Record<string, string>;
  text: string;
  /** The body was incomplete or given up; `text` is the part received. */
  cut?: true;
  /** A 404 for what an earlier try of this DELETE has deleted. */
  isDeleted?: boolean;
  /** An earlier try of this change may have taken effect. */
  doubted?: boolean;
}
