import type { Clock } from '../system/clock.ts';
import type { Observed } from './operations.ts';

/** HTTP settings for all calls. */
export interface ApiSettings {
  /** Checked by `baseUrl` in `rules/service.ts`: no trailing slash, no query. */
  baseUrl: string;
  /** Checked by `apiKey` in `rules/service.ts`. */
  apiKey: string;
  /** Deadline of one call in milliseconds, including retries, pauses and reading the body. */
  timeoutMs: number;
  clock: Clock;
  /** When aborted, stops every call without its own signal. */
  signal: AbortSignal;
  /** Proxy environment variables, read as curl reads them. */
  env: Readonly<Record<string, string | undefined>>;
  userAgent: string;
  /** Node's version: `v20.20.2`. */
  nodeVersion?: string;
  /** Returns the hint for a refused key, by the key's source. */
  keyRemedy?: (status: number) => string;
  /** Receives each request and response, line by line, with secrets masked. */
  trace?: (line: string) => void;
  /** Receives the Date header of each valid response. */
  onDate?: (date: string | undefined) => void;
  /** Runs before each operation except GET /users/me; if it throws, nothing is sent. */
  preflight?: () => Promise<void>;
  /** Receives each successful operation; the call awaits it. */
  observe?: (seen: Observed) => Promise<void>;
  /** Receives a warning for each partly unreadable response. */
  warn?: (line: string) => void;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** A deadline in milliseconds for this call, if shorter than the default. */
  timeoutMs?: number;
  /**
   * Longest Retry-After pause to wait within the call, in milliseconds. A longer pause fails the
   * call as `rateLimited`, for callers that poll and honour the pause themselves.
   */
  longestPauseMs?: number;
  /**
   * Receives each raw response before validation, to save an ID from a broken response. The call
   * awaits it, and fails if the callback throws.
   */
  onResponse?: (response: RawResponse) => Promise<void>;
  /**
   * Runs immediately before the first byte is sent. From then on the service may act on the
   * request.
   */
  onSending?: () => void;
}

export interface RawResponse {
  status: number;
  /** Header names are in lower case; values of repeated headers are joined by commas. */
  headers: Record<string, string>;
  text: string;
  /** The body is incomplete, or reading it was stopped; `text` is the received part. */
  cut?: true;
}
