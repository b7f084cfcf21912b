import { CliError } from '../../errors.ts';
import type { HttpResponse } from '../http/body.ts';
import { Fault } from '../http/fault.ts';
import { oneLine, shortened } from '../response/one-line.ts';
import type { Call } from './call.ts';
import { factsOf, notReached, outcomeUnknown, sentence } from './errors.ts';
import type { Operation } from './operation.ts';
import type { Posted } from './perform.ts';
import { backoffMs, unavailableIf, waitMs } from './retry.ts';

/** A POST whose effect can be read, which settles an unknown outcome. */
export interface Settled<T, S> {
  readonly operation: Operation;
  post(): Promise<Posted<T>>;
  /** Reads the current state. */
  read(): Promise<S>;
  /** Returns the POST's result if the state is the wanted one. */
  done(state: S): T | undefined;
  /** The status for the error; undefined if the state has none. */
  status?(state: S): string | null | undefined;
}

/**
 * For terminate, stop, drive resume and ssh-keys add. After an unknown outcome it reads the state: the
 * wanted one is success, otherwise it sends the POST once more, since the service rolls back "so the
 * call can be repeated" (API document: States and transitions).
 *
 * @throws CliError `outcomeUnknown` with the last state, if the outcome stays unknown.
 */
export async function settled<T, S>(call: Call, parts: Settled<T, S>): Promise<T> {
  const { operation } = parts;
  const first = await postFirst(call, parts);
  if (first.sure) return first.value;

  const tooLong = await wait(call, first.response);
  const before = await stateOf(parts.read);
  if (before === undefined) throw outcomeUnknown(operation, first.why, first.response?.status);
  const there = parts.done(before.state);
  if (there !== undefined) return there;
  if (tooLong !== undefined) throw tooLong;

  let second: (Posted<T> & { sure: false }) | { refusal: unknown };
  try {
    const posted = await parts.post();
    if (posted.sure) return posted.value;
    second = posted;
  } catch (refusal) {
    // This may be the effect of the first POST, which has completed in between.
    second = { refusal };
  }
  const after = await stateOf(parts.read);
  const late = after === undefined ? undefined : parts.done(after.state);
  if (late !== undefined) return late;
  if ('refusal' in second) throw second.refusal;
  if (after === undefined) throw outcomeUnknown(operation, second.why, second.response?.status);
  throw failedTwice(operation, second, parts.status?.(after.state));
}

/** With 429 the service says that it has not acted, so one more POST follows its pause. */
async function postFirst<T, S>(call: Call, { operation, post }: Settled<T, S>): Promise<Posted<T>> {
  try {
    return await post();
  } catch (error) {
    if (!(error instanceof CliError) || error.failure !== 'rateLimited') throw error;
    const { retryAfterMs: pause = backoffMs(call, 1) } = error;
    if (pause > Math.min(call.remainingMs(), call.longestPauseMs)) throw error;
    await call.pause(pause).catch((fault: unknown) => {
      throw fault instanceof Fault ? notReached(operation, call, fault) : fault;
    });
    return post();
  }
}

/** The service reported two failures, and the state agrees; otherwise the outcome stays unknown. */
function failedTwice<T>(
  operation: Operation,
  { why, response }: Posted<T> & { sure: false },
  state: string | null | undefined,
): CliError {
  const reason = state === undefined ? why : `${why}; its status is ${statusText(state)}`;
  const status = response?.status ?? 0;
  if (status < 500) return outcomeUnknown(operation, reason, response?.status);
  return new CliError(
    'refused',
    sentence(`The service failed twice ${operation.doing}: ${reason}`),
    {
      code: unavailableIf(status),
      httpStatus: status,
      retryable: true,
      mayBeBilling: operation.bills ?? false,
      ...factsOf(operation),
    },
  );
}

/** Waits as any retry does. Returns the error to end with if the pause is too long. */
async function wait(call: Call, response: HttpResponse | undefined): Promise<CliError | undefined> {
  try {
    await call.pause(waitMs(call, response, 1));
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error;
    // If stopped, the next read ends at once, and the outcome stays unknown.
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** Returns the state, or undefined if it can't be read for any reason. */
export async function stateOf<S>(read: () => Promise<S>): Promise<{ state: S } | undefined> {
  try {
    return { state: await read() };
  } catch {
    return undefined;
  }
}

/** Returns the service's status, cleaned for a message. */
export function statusText(status: string | null | undefined): string {
  return shortened(oneLine(status ?? ''), 60) || 'unknown';
}
