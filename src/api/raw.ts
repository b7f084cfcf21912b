import { usageError } from '../errors.ts';
import { withoutEndSlash } from '../rules/service.ts';
import type { Run } from './calls/call.ts';
import { lostReason, notReached, notUnderstood, outcomeUnknown } from './calls/errors.ts';
import { type ApiRequest, changes, isRepeatable, type Operation } from './calls/operation.ts';
import { repeat, sendOnce } from './calls/retry.ts';
import type { CallOptions, RawResponse } from './contract.ts';
import type { HttpResponse } from './http/body.ts';
import { Fault } from './http/fault.ts';

export interface RawRequest {
  /** GET, POST, PATCH, PUT, DELETE or HEAD, in capital letters. */
  method: string;
  /** Path below the base URL, with a leading slash; may contain a query. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** JSON text, sent as is. */
  body?: string;
  headers?: Readonly<Record<string, string>>;
}

const METHODS: readonly string[] = ['GET', 'HEAD', 'PATCH', 'DELETE', 'POST', 'PUT'];

/** Headers that belong to the connection, undici or the key. */
const OURS =
  /^(x-api-key|host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|accept-encoding)$/i;

/**
 * Sends any call with the settings' key and returns the raw response, whatever its status. Without a
 * response it throws, as the documented operations do.
 *
 * @throws CliError `usage` for a path that would leave the base URL.
 */
export function rawCall(run: Run, base: URL) {
  return (request: RawRequest, options?: CallOptions): Promise<RawResponse> =>
    run(options, async (call) => {
      const sent = checked(request, base);
      const heading = `${request.method} ${request.path}`;
      const operation: Operation = {
        heading,
        doing: `to handle ${heading}`,
        bills: request.method === 'POST',
        doubt: 'It may have taken effect.',
      };
      let response: HttpResponse;
      try {
        response = isRepeatable(operation)
          ? (await repeat(call, sent)).response
          : await sendOnce(call, sent);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        if (!changes(operation) && error.partial !== undefined && !error.stopped) {
          throw notUnderstood(operation, 'the response was cut off', error.partial);
        }
        throw changes(operation) && error.sent
          ? outcomeUnknown(operation, lostReason(call, error))
          : notReached(operation, call, error);
      }
      if (response.problem !== undefined && response.cut !== undefined) {
        throw changes(operation)
          ? outcomeUnknown(operation, `the response ${response.problem}`, response.status)
          : notUnderstood(operation, `it ${response.problem}`, response);
      }
      return response;
    });
}

function checked(request: RawRequest, base: URL): ApiRequest {
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
  // An unchanged URL contains nothing that means another path or host.
  const parsed = URL.canParse(whole) ? new URL(whole).href : undefined;
  if (!path.startsWith('/') || path.startsWith('//') || path.includes('#') || parsed !== whole) {
    throw usageError(
      'The path starts with one slash, stays below the base URL, and is percent-encoded where needed.',
    );
  }
  const headers = Object.entries(request.headers ?? {});
  for (const [name, value] of headers) {
    if (OURS.test(name) || !/^[A-Za-z0-9-]+$/.test(name) || !/^[\x20-\x7e]*$/.test(value)) {
      throw usageError(`The header ${JSON.stringify(name)} can't be set.`);
    }
  }
  return {
    method,
    path,
    ...(body === undefined ? {} : { body }),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
  };
}
