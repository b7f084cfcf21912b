import type { Clock } from '../clock.ts';
import type { Observed } from './operations.ts';

/** HTTP settings for all calls. */
export interface ApiSettings {
  /** `baseUrl` in `rules/service.ts` has checked it: no trailing slash, no query. */
  baseUrl: string;
  /** `apiKey` in `rules/service.ts` has checked it. */
  apiKey: string;
  /** Deadline of one call in milliseconds, including retries, pauses and reading the body. */
  timeoutMs: number;
  clock: Clock;
  /** Stops every call that has no signal of its own when an interrupt aborts it. */
  signal: AbortSignal;
  /** Environment variables for proxies, read as curl reads them. */
  env: Readonly<Record<string, string | undefined>>;
  userAgent: string;
  /** Node's version, as `v20.20.2`. */
  nodeVersion?: string;
  /** The hint to show if the service refuses the key; it depends on where the key came from. */
  keyRemedy?: (status: number) => string;
  /** Receives each request and response, line by line, with secrets masked. */
  trace?: (line: string) => void;
  /** Receives the Date header of each valid response. */
  onDate?: (date: string | undefined) => void;
  /** Receives each successful operation; the call awaits it. */
  observe?: (seen: Observed) => Promise<void>;
  /** Receives a warning for each response that was only partly readable. */
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
   * Receives each raw response before it is checked, to save the ID in a broken response. The call
   * awaits it, and ends if it throws.
   */
  onResponse?: (response: RawResponse) => Promise<void>;
  /** Runs right before a request's first byte is sent; from then on the service may receive it. */
  onSending?: () => void;
}

export interface RawResponse {
  status: number;
  /** Header names are in lower case; values of repeated headers are joined by commas. */
  headers: Record<string, string>;
  text: string;
  /** The body is incomplete, or reading it was stopped; `text` is the part received. */
  cut?: true;
  /** The 404 follows an earlier try of this DELETE, which deleted the resource. */
  isDeleted?: boolean;
  /** An earlier try of this change may have taken effect. */
  doubted?: boolean;
}
