import { rateLimited, retryAfterMs, unavailableIf } from '../../api/calls/retry.ts';
import type { RawRequest, RawResponse } from '../../api/index.ts';
import { messageOf } from '../../api/response/message.ts';
import { hidden, secretsIn } from '../../api/response/secrets.ts';
import { refusedKeyRemedy } from '../../config/remedies.ts';
import type { Context } from '../../context.ts';
import { CliError, type Failure } from '../../errors.ts';
import { segmentsOf } from './path.ts';

export function isSuccess({ status }: RawResponse): boolean {
  return status >= 200 && status < 300;
}

/**
 * Builds the error for a response from its status and the request alone, as other commands do;
 * undefined for a success.
 */
export async function failureOf(
  request: RawRequest,
  answer: RawResponse,
  context: Context,
): Promise<CliError | undefined> {
  const { status, headers } = answer;
  if (isSuccess(answer)) return undefined;
  if (status === 429) {
    return rateLimited(status, retryAfterMs(headers, context.clock.now()));
  }
  const [failure, hint] = kindOf(request, status, refusedKeyRemedy(await context.settings()));
  const { method, path } = request;
  const isUnknown = failure === 'outcomeUnknown';
  const isPassing = status >= 500 || status === 408;
  const words = messageOf(answer, (text) => hidden(text, secretsIn(request.body)));
  return new CliError(
    failure,
    `${method} ${path.split('?', 1)} returned ${status}: ${words}.${isUnknown ? ' It may have taken effect.' : ''}`,
    {
      code: isUnknown ? undefined : unavailableIf(status),
      httpStatus: status,
      retryable: isPassing && (failure === 'refused' || method === 'PATCH' || method === 'DELETE'),
      mayBeBilling: isUnknown && method === 'POST',
      ...(hint === undefined ? {} : { hint }),
    },
  );
}

function kindOf(request: RawRequest, status: number, keyRemedy: string): [Failure, hint?: string] {
  const { method } = request;
  if (status === 401 || status === 403) return ['authentication', keyRemedy];
  if (status === 404) return ['notFound'];
  if (status === 402 || status === 409 || (status === 400 && isStateChange(request))) {
    return ['wrongState'];
  }
  if (status >= 300 && status < 400) {
    return ['notUnderstood', 'redirects are not followed, so that the key stays with this service'];
  }
  if ((status >= 500 || status === 408) && method !== 'GET' && method !== 'HEAD') {
    return ['outcomeUnknown', 'check its effect before you send it again'];
  }
  return ['refused'];
}

/** Operations whose documented 400 is about a resource's state (API document: Errors). */
function isStateChange({ method, path }: RawRequest): boolean {
  const last = segmentsOf(path).at(-1) ?? '';
  return method === 'POST' && ['start', 'stop', 'terminate', 'resume'].includes(last);
}
