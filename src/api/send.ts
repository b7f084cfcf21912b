import { CliError } from '../errors.ts';
import { isSameId } from '../rules/names.ts';
import type { Call } from './call.ts';
import {
  factsOf,
  isFailed,
  isSuccess,
  isSureRefusal,
  lostReason,
  notReached,
  notUnderstood,
  outcomeUnknown,
  refusal,
  responseText,
  sentence,
  unavailableIf,
} from './errors.ts';
import type { HttpResponse } from './http/exchange.ts';
import { Fault } from './http/fault.ts';
import { fieldOf } from './open-fields.ts';
import type { Input, Settling, Title } from './operations.ts';
import { changes, type Prepared, requestOf } from './request.ts';
import { readResponse } from './response/envelope.ts';
import { oneLine, shortened } from './response/message.ts';
import { backoffMs, isDeleted, transmit, waitMs } from './retry.ts';

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
  const { retry } = request.operation;
  const outcome =
    typeof retry === 'string' ? await attempt(call, request) : await settled(call, request, retry);
  if (outcome.kind === 'done') return outcome.value;
  throw outcome.kind === 'inDoubt'
    ? outcomeUnknown(request, outcome.why, outcome.response?.status)
    : outcome.error;
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
  const found = fieldOf(data, 'id');
  if (typeof found !== 'string' || isSameId(found, id)) return undefined;
  if (!isRepeated) {
    return { kind: 'inDoubt', why: `the service returned instance ${statusText(found)} instead` };
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

/**
 * Sends a change whose effect can be read. After an unknown outcome it reads the state; if that
 * shows the effect, the change is done. Otherwise it may send the request once more, since the
 * service rolls back "so the call can be repeated" (API document: States and transitions).
 */
async function settled(call: Call, request: Prepared, how: Settling): Promise<Outcome> {
  const first = await attemptPastLimit(call, request);
  if (first.kind !== 'inDoubt') return first;
  if (!how.again) return looked(call, request, how, first);

  const tooLong = await waited(call, first.response);
  const before = await stateOf(call, request, how);
  if (before === undefined) return first;
  if (before.shown !== undefined) return { kind: 'done', value: before.shown };
  if (tooLong !== undefined) return { kind: 'refused', error: tooLong };

  const second = await attempt(call, request);
  if (second.kind === 'done') return second;
  // Reads the state again: the refusal may be an effect of the first request.
  const after = await stateOf(call, request, how);
  if (after?.shown !== undefined) return { kind: 'done', value: after.shown };
  if (second.kind === 'neverLeft')
    return { ...first, why: `${first.why}${(after ?? before).text}` };
  if (second.kind !== 'inDoubt' || after === undefined) return second;
  const why = `${second.why}${after.text}`;
  const status = second.response?.status ?? 0;
  if (status < 500) return { ...second, why };
  return {
    kind: 'refused',
    error: new CliError('refused', sentence(`The service failed twice ${request.doing}: ${why}`), {
      code: unavailableIf(status),
      httpStatus: status,
      retryable: true,
      mayBeBilling: request.bills ?? false,
      ...factsOf(request),
    }),
  };
}

/** Sends the request again after a 429: the service did nothing. */
async function attemptPastLimit(call: Call, request: Prepared): Promise<Outcome> {
  const first = await attempt(call, request);
  if (first.kind !== 'refused' || first.error.failure !== 'rateLimited') return first;
  const { retryAfterMs: pause = backoffMs(call, 1) } = first.error;
  if (pause > Math.min(call.remainingMs(), call.longestPauseMs)) return first;
  try {
    await call.pause(pause);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { kind: 'neverLeft', error: notReached(request, call, error) };
  }
  return attempt(call, request);
}

/**
 * Reads the state after an unknown outcome and never resends. By the API document, a start that
 * failed with 500 has refunded the funds.
 */
async function looked(
  call: Call,
  request: Prepared,
  how: Settling,
  first: Doubt,
): Promise<Outcome> {
  const state = await stateOf(call, request, how);
  if (state === undefined) return first;
  const { response, why } = first;
  if (response?.status !== 500) {
    return state.shown === undefined
      ? { ...first, why: `${why}${state.text}` }
      : { kind: 'done', value: state.shown };
  }
  const { status, doing } = { status: state.status, doing: request.doing.replace(/^to /, '') };
  return {
    kind: 'refused',
    error: new CliError(
      'refused',
      `${sentence(`The service could not ${doing}: ${why}`)} Its status is ${statusText(status)}. According to the API document, the service refunds the reserved funds.`,
      {
        httpStatus: 500,
        retryable: true,
        mayBeBilling: status !== 'STOPPED',
        ...factsOf(request),
      },
    ),
  };
}

/** Waits before the next try. Returns the final error if the pause is too long. */
async function waited(
  call: Call,
  response: HttpResponse | undefined,
): Promise<CliError | undefined> {
  try {
    await call.pause(waitMs(call, response, 1));
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error;
    // An interrupt also stops the next read at once, and the outcome stays unknown.
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

interface State {
  /** The operation's result, if the state shows the effect. */
  readonly shown: object | undefined;
  readonly status: unknown;
  /** Appended to the reason of an unknown outcome; empty for a list. */
  readonly text: string;
}

/** Reads the state. Returns undefined if that fails for any reason. */
async function stateOf(
  call: Call,
  { input }: Prepared,
  { read, shows }: Settling,
): Promise<State | undefined> {
  let value: unknown;
  try {
    value = await send(call, read, input);
  } catch {
    return undefined;
  }
  const status = fieldOf(value, 'status');
  const text = Array.isArray(value) ? '' : `; its status is ${statusText(status)}`;
  // OPERATIONS pairs each `shows` with the operation whose response it reads.
  return { shown: shows(value as never, input), status, text };
}

/** Returns the service's status, cleaned for a message. */
function statusText(status: unknown): string {
  return shortened(oneLine(typeof status === 'string' ? status : ''), 60) || 'unknown';
}
