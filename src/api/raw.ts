import { usageError } from '../errors.ts';
import { withoutEndSlash } from '../rules/service.ts';
import type { Call } from './call.ts';
import type { RawResponse } from './contract.ts';
import { lostReason, notReached, notUnderstood, outcomeUnknown } from './errors.ts';
import { Fault } from './http/fault.ts';
import { changes, type Request } from './request.ts';
import { isDeleted, transmit } from './retry.ts';

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
export async function sendRaw(call: Call, raw: RawRequest, base: URL): Promise<RawResponse> {
  const request = checked(raw, base);
  const isChange = changes(request);
  try {
    const sent = await transmit(call, request);
    const { response } = sent;
    const { problem, cut, status } = response;
    if (problem === undefined || cut === undefined) {
      return {
        ...response,
        isDeleted: isDeleted(request, sent),
        doubted: isChange && sent.doubted,
      };
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
  const parsed = URL.canParse(whole) ? new URL(whole).href : undefined;
  if (!path.startsWith('/') || path.startsWith('//') || path.includes('#') || parsed !== whole) {
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
  const title = `${method} ${request.path}`;
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
    doubt: 'The request may have taken effect.',
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
  };
}
