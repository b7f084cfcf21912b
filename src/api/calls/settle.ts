import { CliError } from '../../errors.ts';
import type { Answer } from '../http/body.ts';
import { Fault } from '../http/fault.ts';
import { clean, shortened } from '../response/clean.ts';
import type { Call } from './call.ts';
import { againHint, outcomeUnknown, resourceOf, sentence } from './errors.ts';
import type { Operation } from './operation.ts';
import type { Posted } from './perform.ts';
import { waitMs } from './retry.ts';

/** A POST whose effect can be read, so that a doubt can be settled. */
export interface Settled<T, S> {
  readonly operation: Operation;
  post(): Promise<Posted<T>>;
  /** Reads the state afresh. */
  read(): Promise<S>;
  /** What the POST would have answered, when the state that was read is the wanted one. */
  done(state: S): T | undefined;
  /** The state in words, completing "its status is …"; undefined where there is nothing to tell. */
  tell(state: S): string | undefined;
}

/**
 * terminate, stop, drive resume, ssh-keys add: after a doubt the state is read first, and what is
 * already there is success; otherwise the POST is made once more, since the service rolls back "so
 * the call can be repeated" (API document: States and transitions).
 *
 * @throws CliError `outcomeUnknown` when the doubt stays, with the state that was read last.
 */
export async function settled<T, S>(call: Call, parts: Settled<T, S>): Promise<T> {
  const { operation } = parts;
  const first = await parts.post();
  if (first.sure) return first.value;

  const patience = await wait(call, first.answer);
  const before = await stateOf(parts);
  if (before === undefined) throw outcomeUnknown(operation, first.why, first.answer?.status);
  const there = parts.done(before.state);
  if (there !== undefined) return there;
  if (patience !== undefined) throw patience;

  let second: Posted<T>;
  try {
    second = await parts.post();
  } catch (error) {
    // A refusal now may be the echo of the first POST, done in the meantime after all.
    const after = await stateOf(parts);
    const late = after === undefined ? undefined : parts.done(after.state);
    if (late !== undefined) return late;
    throw error;
  }
  if (second.sure) return second.value;
  const after = await stateOf(parts);
  if (after === undefined) throw outcomeUnknown(operation, second.why, second.answer?.status);
  const late = parts.done(after.state);
  if (late !== undefined) return late;
  throw failedTwice(operation, second, parts.tell(after.state));
}

/** The service said twice that it failed, and the state agrees; without its word the doubt stays. */
function failedTwice<T>(
  operation: Operation,
  posted: Posted<T> & { sure: false },
  state: string | undefined,
): CliError {
  const told = state === undefined ? '' : `; its status is ${state}`;
  const status = posted.answer?.status ?? 0;
  if (status < 500) return outcomeUnknown(operation, `${posted.why}${told}`, posted.answer?.status);
  return new CliError(
    'refused',
    sentence(`The service failed twice ${operation.doing}: ${posted.why}${told}`),
    {
      httpStatus: status,
      retryable: true,
      mayBeBilling: operation.bills ?? false,
      hint: againHint(operation),
      ...resourceOf(operation),
    },
  );
}

/** Waits as any retry does. What comes back is the error to end with, should it be too long. */
async function wait(call: Call, answer: Answer | undefined): Promise<CliError | undefined> {
  try {
    await call.pause(waitMs(call, answer, 1));
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error;
    // Stopped: the reading that follows ends at once, and the outcome stays unknown.
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** The state, or undefined when it can't be read, for whatever reason. */
export async function stateOf<S>(parts: { read(): Promise<S> }): Promise<{ state: S } | undefined> {
  try {
    return { state: await parts.read() };
  } catch {
    return undefined;
  }
}

/** A status as the service wrote it, fit for a message. */
export function statusWords(status: string | null | undefined): string {
  return shortened(clean(status ?? ''), 60) || 'not told';
}
