import { CliError } from '../errors.ts';
import { isSameId } from '../rules/names.ts';
import type { Call } from './call.ts';
import {
  isFailed,
  isSuccess,
  isSureRefusal,
  lostReason,
  notReached,
  notUnderstood,
  outcomeUnknown,
  refusal,
  responseText,
} from './errors.ts';
import type { HttpResponse } from './http/exchange.ts';
import { Fault } from './http/fault.ts';
import { textField } from './open-fields.ts';
import type { Input, Title } from './operations.ts';
import { changes, type Prepared, requestOf } from './request.ts';
import { readResponse } from './response/envelope.ts';
import { oneLine, shortened } from './response/message.ts';
import { isDeleted, transmit } from './retry.ts';

/** Request outcome: done, or one of three failures. */
type Outcome =
  | { readonly kind: 'done'; readonly value: unknown }
  /** The service responded, and the outcome is certain. */
  | { readonly kind: 'refused'; readonly error: CliError }
  | Doubt
  /** Nothing changed. The error is CliError `unreachable`, or the interrupt's own reason. */
  | { readonly kind: 'neverLeft'; readonly error: unknown };

/** The request may have taken effect. `why` completes "the outcome is unknown: …". */
interface Doubt {
  readonly kind: 'inDoubt';
  readonly why: string;
  readonly response?: HttpResponse;
}

/**
 * Sends one operation and returns its result.
 *
 * @throws CliError, or the interrupt's own reason if nothing was changed.
 */
export async function send(call: Call, title: Title, input: Input): Promise<unknown> {
  const request = requestOf(title, input);
  const outcome = await attempt(call, request);
  if (outcome.kind === 'done') return outcome.value;
  if (outcome.kind !== 'inDoubt') throw outcome.error;
  const { why, response } = outcome;
  const cause =
    response === undefined || isSuccess(response.status)
      ? undefined
      : refusal(request, call, response);
  throw outcomeUnknown(request, why, response?.status, cause);
}

/** Sends a request with its safe retries, and reads the response. */
async function attempt(call: Call, request: Prepared): Promise<Outcome> {
  const { isRepeated } = request;
  let sent: Awaited<ReturnType<typeof transmit>>;
  try {
    sent = await transmit(call, request);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return changes(request) && error.sent
      ? { kind: 'inDoubt', why: lostReason(call, error) }
      : { kind: 'neverLeft', error: notReached(request, call, error) };
  }
  const { response, doubted } = sent;
  const { status } = response;
  if (!isSuccess(status)) {
    if (isDeleted(request, sent)) return { kind: 'done', value: undefined };
    if (doubted && changes(request)) {
      const why = `an earlier attempt may have taken effect; then ${responseText(call, response)}`;
      return { kind: 'inDoubt', why, response };
    }
    const isSure = isRepeated ? !isFailed(status) || !changes(request) : isSureRefusal(status);
    return isSure
      ? { kind: 'refused', error: refusal(request, call, response) }
      : { kind: 'inDoubt', why: responseText(call, response), response };
  }
  const read = readResponse(response, request);
  if (read.ok) {
    if (read.odd.length > 0) warnOfOdd(call, request, read.odd);
    const other = request.operation.isItself ? aboutOther(read.value, request) : undefined;
    // Ignores the date of other responses: a proxy with a different clock may have sent them.
    if (other === undefined) call.settings.onDate?.(response.headers.date);
    return other ?? { kind: 'done', value: read.value };
  }
  return isRepeated
    ? { kind: 'refused', error: notUnderstood(request, read.what, response) }
    : { kind: 'inDoubt', why: `could not read the response: ${read.what}`, response };
}

/** Rejects a response about another instance: it would hide this one's state. */
function aboutOther(data: unknown, { input, isRepeated }: Prepared): Outcome | undefined {
  const { id = '' } = input;
  const found = textField(data, 'id');
  if (found === undefined || isSameId(found, id)) return undefined;
  if (!isRepeated) {
    return {
      kind: 'inDoubt',
      why: `the service returned instance ${shortened(oneLine(found), 60)} instead`,
    };
  }
  const text = `The service returned instance ${found} instead of ${id}.`;
  return { kind: 'refused', error: new CliError('notUnderstood', text, { resource: id }) };
}

/** Warns about the unreadable part of a response instead of failing. */
function warnOfOdd({ settings }: Call, { title }: Prepared, odd: readonly string[]): void {
  const [first, ...more] = odd;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  settings.warn?.(
    `The response to ${title} does not match the API document: ${first}${others}. Unreadable fields are omitted.`,
  );
}
