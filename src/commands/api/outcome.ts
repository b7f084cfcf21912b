import { rateLimited } from '../../api/calls/retry.ts';
import { retryAfterMs } from '../../api/calls/retry-after.ts';
import type { RawAnswer, RawRequest } from '../../api/index.ts';
import { said } from '../../api/response/message.ts';
import { CliError, type ErrorDetails, type Failure } from '../../errors.ts';
import { segmentsOf } from './path.ts';

/**
 * The error that an answer without success stands for, by its status and the request alone, as with
 * every other command; undefined for success.
 */
export function outcomeOf(
  request: RawRequest,
  answer: RawAnswer,
  hide: (text: string) => string,
  now: number,
  keyRemedy: string,
): CliError | undefined {
  const { status } = answer;
  if (status >= 200 && status < 300) {
    return undefined;
  }
  if (status === 429) {
    return rateLimited(status, retryAfterMs(answer.headers['retry-after'], now));
  }
  const [failure, hint] = kindOf(request, status, keyRemedy);
  const [way = ''] = request.path.split('?', 1);
  const details: ErrorDetails = {
    httpStatus: status,
    retryable:
      (status >= 500 || status === 408) &&
      (failure === 'refused' || request.method === 'PATCH' || request.method === 'DELETE'),
    mayBeBilling: failure === 'outcomeUnknown' && request.method === 'POST',
    ...(hint === undefined ? {} : { hint }),
  };
  const doubt =
    failure === 'outcomeUnknown' ? ' The service may have acted on it all the same.' : '';
  return new CliError(
    failure,
    `${request.method} ${way} was answered with ${status}: ${said(answer, hide)}.${doubt}`,
    details,
  );
}

function kindOf(request: RawRequest, status: number, keyRemedy: string): [Failure, hint?: string] {
  const { method } = request;
  if (status === 401 || status === 403) {
    return ['authentication', keyRemedy];
  }
  if (status === 404) {
    return ['notFound'];
  }
  if (status === 402 || status === 409 || (status === 400 && isStateChange(request))) {
    return ['wrongState'];
  }
  if (status >= 300 && status < 400) {
    return ['notUnderstood', 'redirects are not followed, so that the key goes nowhere else'];
  }
  if ((status >= 500 || status === 408) && method !== 'GET' && method !== 'HEAD') {
    return ['outcomeUnknown', 'read the thing that it was about before you send it again'];
  }
  return ['refused'];
}

/** Operations whose documented 400 speaks of the state of a thing (API document: Errors). */
function isStateChange({ method, path }: RawRequest): boolean {
  const last = segmentsOf(path).at(-1) ?? '';
  return method === 'POST' && ['start', 'stop', 'terminate', 'resume'].includes(last);
}
