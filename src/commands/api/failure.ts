import {
  failureFor,
  isFailed,
  isSuccess,
  rateLimited,
  retryAfterMs,
  unavailableIf,
} from '../../api/errors.ts';
import type { RawRequest, RawResponse } from '../../api/index.ts';
import { messageOf } from '../../api/response/message.ts';
import { secretsIn } from '../../api/response/secrets.ts';
import { refusedKeyRemedy } from '../../config/remedies.ts';
import type { Context } from '../../context.ts';
import { CliError, type Failure } from '../../errors.ts';
import { hider, withoutKeys } from '../../rules/secrets.ts';
import { segmentsOf } from './path.ts';

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
  if (isSuccess(status)) return undefined;
  if (status === 429) {
    return rateLimited(status, retryAfterMs(headers, context.clock.now()));
  }
  const { method, path } = request;
  const isUnknown = isFailed(status) && method !== 'GET' && method !== 'HEAD';
  const failure = isUnknown ? 'outcomeUnknown' : failureFor(status, isStateChange(request));
  const hide = hider(secretsIn(request.body));
  const words = messageOf(answer, (text) => withoutKeys(hide(text)));
  return new CliError(
    failure,
    `${method} ${path.split('?', 1)} returned ${status}: ${words}.${isUnknown ? ' It may have taken effect.' : ''}`,
    {
      code: isUnknown ? undefined : unavailableIf(status),
      httpStatus: status,
      retryable: isFailed(status) && (!isUnknown || method === 'PATCH' || method === 'DELETE'),
      mayBeBilling: isUnknown && method === 'POST',
      hint:
        failure === 'authentication' ? refusedKeyRemedy(await context.settings()) : HINTS[failure],
    },
  );
}

const HINTS: Readonly<Partial<Record<Failure, string>>> = {
  outcomeUnknown: 'check its effect before you send it again',
  notUnderstood: 'redirects are not followed, so that the key stays with this service',
};

/** Operations whose documented 400 is about a resource's state (API document: Errors). */
function isStateChange({ method, path }: RawRequest): boolean {
  const last = segmentsOf(path).at(-1) ?? '';
  return method === 'POST' && ['start', 'stop', 'terminate', 'resume'].includes(last);
}
