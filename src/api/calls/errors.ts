import { CliError, type ErrorDetails } from '../../errors.ts';
import type { Answer } from '../http/body.ts';
import type { Fault } from '../http/fault.ts';
import { clean, shortened } from '../response/clean.ts';
import { said } from '../response/message.ts';
import { isWebPage, PAGE_HINT } from '../response/web-page.ts';
import type { Call } from './call.ts';
import type { Operation } from './operation.ts';
import { rateLimited } from './retry.ts';
import { retryAfterMs } from './retry-after.ts';

const REACH_HINT =
  'Check the network, the base URL and the proxy variables; gpucloud doctor looks at all three.';

/** A 4xx says that nothing was done; 408 alone can come from something in between. */
export function isSureRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * The error that an answer without success stands for, told by its status and the operation, never
 * by the words of a message (API document: Errors).
 */
export function refusal(operation: Operation, call: Call, answer: Answer): CliError {
  const { status } = answer;
  const words = said(answer, call.hide);
  const about = resourceOf(operation);
  const wait = retryAfterMs(answer.headers['retry-after'], call.clock.now());
  const asked = wait === undefined ? {} : { retryAfterMs: wait };
  if (isWebPage(answer) && status !== 429 && (status < 300 || status >= 400)) {
    return refusedByPage(operation, status, words, asked);
  }
  if (status === 401 || status === 403) {
    const what =
      status === 401 ? 'did not accept the API key' : 'does not allow this with the API key';
    return new CliError('authentication', sentence(`The service ${what} (${status}): ${words}`), {
      httpStatus: status,
      hint: call.keyRemedy,
    });
  }
  if (status === 429) return rateLimited(status, wait);
  if (status === 404) {
    const { missing } = operation;
    return missing === undefined
      ? new CliError('notFound', sentence(`The service knows nothing there (404): ${words}`), {
          httpStatus: status,
          ...about,
        })
      : new CliError('notFound', sentence(`${missing.words} (404): ${words}`), {
          httpStatus: status,
          hint: missing.hint,
          ...about,
        });
  }
  if (status >= 300 && status < 400) {
    return new CliError(
      'notUnderstood',
      `${operation.heading} was answered with a redirect (${status})${target(answer)}, which is not followed, so that the key goes nowhere else.`,
      { httpStatus: status, hint: 'Check the base URL: gpucloud profiles get', ...about },
    );
  }
  if (status === 402) {
    return new CliError(
      'wrongState',
      sentence(`The service wants money ${operation.doing} (402): ${words}`),
      { httpStatus: status, hint: 'See what the account has: gpucloud billing balance', ...about },
    );
  }
  const refused = `The service refused ${operation.doing} (${status}): ${words}`;
  if (status === 409 || (status === 400 && operation.badState !== undefined)) {
    const hint = operation.badState;
    return new CliError('wrongState', sentence(refused), {
      httpStatus: status,
      ...(hint === undefined ? {} : { hint }),
      ...about,
    });
  }
  if (status >= 500 || status === 408) {
    return new CliError(
      'refused',
      sentence(`The service failed ${operation.doing} (${status}): ${words}`),
      { httpStatus: status, retryable: true, hint: againHint(operation), ...asked, ...about },
    );
  }
  return new CliError('refused', sentence(refused), {
    httpStatus: status,
    ...(operation.refusal === undefined ? {} : { hint: operation.refusal }),
    ...about,
  });
}

/**
 * An error whose body is a page for a browser is not the service's own word. Its status decides the
 * kind as ever, but nothing is said of a key, a machine or funds that the service may never have seen.
 */
function refusedByPage(
  operation: Operation,
  status: number,
  words: string,
  asked: Pick<ErrorDetails, 'retryAfterMs'>,
): CliError {
  const failed = status >= 500 || status === 408;
  const kind =
    status === 401 || status === 403 ? 'authentication' : status === 404 ? 'notFound' : 'refused';
  return new CliError(
    kind,
    sentence(
      `The request ${operation.doing} was ${failed ? 'not answered' : 'refused'} (${status}): ${words}`,
    ),
    { httpStatus: status, retryable: failed, hint: PAGE_HINT, ...asked, ...resourceOf(operation) },
  );
}

/** The answer came and says success, but not what the document promises of it. */
export function notUnderstood(operation: Operation, what: string, status: number): CliError {
  return new CliError(
    'notUnderstood',
    sentence(`The answer to ${operation.heading} could not be understood: ${what}`),
    {
      httpStatus: status,
      hint: what.includes('HTML page')
        ? PAGE_HINT
        : 'Check the base URL, and run the command again with --debug to see the answer.',
      ...resourceOf(operation),
    },
  );
}

/**
 * What a call ends with when nothing can have been changed: the reason of an interrupt as it is, or
 * `unreachable`.
 */
export function notReached(operation: Operation, call: Call, fault: Fault): unknown {
  const interruption = call.interruption();
  if (fault.stopped && interruption !== undefined) return interruption.reason;
  const words = fault.stopped
    ? `The service did not answer within ${seconds(call.timeoutMs)} (the deadline of one call)`
    : `The service could not be reached: ${fault.message}`;
  return new CliError('unreachable', `${words}. Nothing was changed.`, {
    retryable: true,
    hint: fault.stopped
      ? `Give it more time with --timeout. ${REACH_HINT}`
      : (fault.hint ?? REACH_HINT),
    ...resourceOf(operation),
  });
}

/** Why an exchange that may have left had no whole answer; completes "unknown: …". */
export function lostWords(call: Call, fault: Fault): string {
  if (!fault.stopped) return `${fault.message} before the answer came`;
  return call.interruption() === undefined
    ? `no answer came within ${seconds(call.timeoutMs)}`
    : 'it was interrupted before the answer came';
}

/** The request may have been acted on. `why` completes "The outcome … is unknown: …". */
export function outcomeUnknown(operation: Operation, why: string, httpStatus?: number): CliError {
  const details: ErrorDetails = {
    mayBeBilling: operation.bills ?? false,
    retryable: operation.repeatable ?? false,
    ...(operation.settle === undefined ? {} : { hint: operation.settle }),
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...resourceOf(operation),
  };
  const doubt = operation.doubt === undefined ? '' : ` ${operation.doubt}`;
  return new CliError(
    'outcomeUnknown',
    `${sentence(`The outcome of the request ${operation.doing} is unknown: ${why}`)}${doubt}`,
    details,
  );
}

/** An answer's status and words, to complete "unknown: …". */
export function answeredWords(call: Call, answer: Answer): string {
  if (answer.status >= 300 && answer.status < 400) {
    return `the service answered with a redirect (${answer.status})${target(answer)}`;
  }
  return `the service answered ${answer.status}: ${said(answer, call.hide)}`;
}

/** What to do after a fault of the service itself. */
export function againHint({ again }: Operation): string {
  return again === undefined ? 'Run the command again in a while.' : `Again in a while: ${again}`;
}

export function resourceOf(operation: Operation): { resource?: string } {
  return operation.resource === undefined ? {} : { resource: operation.resource };
}

export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** Where a redirect points to: its host alone, since the rest may repeat what nobody should see. */
function target(answer: Answer): string {
  const location = answer.headers.location ?? '';
  try {
    return ` to ${shortened(clean(new URL(location).host), 200)}`;
  } catch {
    return location === '' ? '' : ' to another path';
  }
}

function seconds(milliseconds: number): string {
  return `${Number((milliseconds / 1000).toFixed(3))} s`;
}
