import { type CliError, usageError } from '../errors.ts';
import { withoutEndSlash } from '../rules/service.ts';
import type { Call } from './call.ts';
import type { RawResponse } from './contract.ts';
import {
  isFailed,
  isRedirect,
  isSuccess,
  lostReason,
  notReached,
  notUnderstood,
  outcomeUnknown,
  refusal,
  responseText,
} from './errors.ts';
import { Fault } from './http/fault.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { changes, type Request } from './request.ts';
import { isDeleted, type Sent, transmit } from './retry.ts';

export interface RawRequest {
  /** Uppercase: GET, POST, PATCH, PUT, DELETE or HEAD. */
  method: string;
  /** Path below the base URL with a leading slash; may contain a query. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** JSON text, sent unchanged. */
  body?: string;
  headers?: Readonly<Record<string, string>>;
}

export interface RawAnswer extends RawResponse {
  /** The error for an unsuccessful response. A 404 after a repeated DELETE is a success. */
  readonly failure: CliError | undefined;
}

const METHODS: readonly string[] = ['GET', 'HEAD', 'PATCH', 'DELETE', 'POST', 'PUT'];

/** Headers set by gpucloud or undici. */
const OURS =
  /^(x-api-key|host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|accept-encoding)$/i;

const REPEATABLE: readonly string[] = ['GET', 'HEAD', 'PATCH', 'DELETE'];

/**
 * Sends any call with the configured key and returns the raw response, whatever its status. Without
 * a response it throws, as the documented operations do.
 *
 * @throws CliError `usage` for a path that would leave the base URL.
 */
export async function sendRaw(call: Call, raw: RawRequest, base: URL): Promise<RawAnswer> {
  const request = checked(raw, base);
  const isChange = changes(request);
  try {
    const sent = await transmit(call, request);
    const { response } = sent;
    const { problem, cut, status } = response;
    if (problem === undefined || cut === undefined) {
      return { ...response, failure: failureOf(call, request, sent) };
    }
    throw isChange
      ? outcomeUnknown(request, `the response ${problem}`, status)
      : notUnderstood(request, `it ${problem}`, response);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw isChange && error.sent
      ? outcomeUnknown(request, lostReason(call, error))
      : notReached(request, call, error);
  }
}

/** Builds the error for a response, as for the documented operations. */
function failureOf(call: Call, request: Request, sent: Sent): CliError | undefined {
  const { response, doubted } = sent;
  const { status } = response;
  if (isSuccess(status) || isDeleted(request, sent)) return undefined;
  const isUnknown = changes(request) && (doubted || isFailed(status) || isRedirect(status));
  return isUnknown
    ? outcomeUnknown(request, responseText(call, response), status)
    : refusal(request, call, response);
}

/** Returns the documented operation of a title such as `GET /instances/ID/events`, if any. */
function operationOf(title: string): Operation | undefined {
  const operations: [string, Operation][] = Object.entries(OPERATIONS);
  return operations.find(([documented]) =>
    new RegExp(`^${documented.replace(/\{\w+\}/g, '[^/]+')}/?$`).test(title),
  )?.[1];
}

/** Returns the default page size of a request, or undefined if no document says that it pages. */
export function pageSizeOf({ method, path }: Pick<RawRequest, 'method' | 'path'>) {
  return operationOf(titleOf(method, path))?.pageSize;
}

/** Omits the query, which may contain a secret. */
function titleOf(method: string, path: string): string {
  return `${method} ${path.split('?', 1)}`;
}

function checked(request: RawRequest, base: URL): Request {
  const { method, body } = request;
  if (!METHODS.includes(method)) {
    throw usageError(`The method must be one of ${METHODS.join(', ')}.`);
  }
  const query = Object.entries(request.query ?? {})
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  const joint = query === '' ? '' : request.path.includes('?') ? '&' : '?';
  const path = `${request.path}${joint}${query}`;
  const whole = `${base.origin}${withoutEndSlash(base.pathname)}${path}`;
  // A URL that parsing leaves unchanged can't lead to another path or host.
  const isPath = /^\/(?!\/)[^#]*$/.test(path) && new URL(whole).href === whole;
  if (!isPath) {
    throw usageError(
      'The path must start with one slash, stay below the base URL and be percent-encoded.',
    );
  }
  const headers = Object.entries(request.headers ?? {});
  for (const [name, value] of headers) {
    if (OURS.test(name) || !/^[A-Za-z0-9-]+$/.test(name) || !/^[\x20-\x7e]*$/.test(value)) {
      throw usageError(`The header ${JSON.stringify(name)} can't be set.`);
    }
  }
  const title = titleOf(method, request.path);
  const isRepeatable = REPEATABLE.includes(method);
  return {
    method,
    path,
    body,
    title,
    doing: `to handle ${title}`,
    isRepeated: isRepeatable,
    isRepeatable,
    bills: method === 'POST',
    // Whether a documented 400 is about the resource's state.
    needsState: operationOf(title)?.needsState === true,
    doubt: 'The request may have taken effect.',
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
  };
}
