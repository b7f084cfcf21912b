import { unavailableIf } from '../api/errors.ts';
import type { Instance } from '../api/index.ts';
import { CliError } from '../errors.ts';
import { failureReason } from '../output/mask.ts';
import { inSeconds } from '../output/time.ts';
import { mayBill } from '../rules/statuses.ts';
import type { Clock } from '../system/clock.ts';
import { poll } from './poll.ts';

/** Instance fields for a wait. */
export type Watched = Pick<Instance, 'id' | 'status' | 'failure_reason'>;

export interface Also<T extends Watched> {
  /** Completes "The instance is ACTIVE, but …": `SSH did not respond`. */
  readonly text: string;
  /** Whether the condition may already hold in this status, before the target. */
  before(status: string): boolean;
  /**
   * Whether the condition holds. `longest`: remaining milliseconds of the wait. Throws for
   * permanent faults.
   */
  holds(instance: T, longest: number): Promise<boolean>;
}

export interface Wait<T extends Watched> {
  /** The status to wait for, as the service names it (API document: InstanceStatus). */
  readonly target: string;
  /** Reads the instance; gives up after `longest` milliseconds. */
  read(longest: number): Promise<T>;
  /** A condition besides the status, such as a response from SSH. Checked after each read. */
  readonly also?: Also<T>;
  /** Milliseconds between two reads. */
  readonly interval: number;
  /** Milliseconds until the wait gives up. */
  readonly timeout: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The status before the first read, such as STOPPING from the response to a stop. */
  readonly after?: string;
  onReading?(instance: T, elapsed: number): void;
  /** Reports a read that failed temporarily, and the milliseconds until the next. */
  onFault?(error: CliError, elapsed: number, pause: number): void;
}

/** Minimum milliseconds for the last read, even near the deadline. */
const LAST_READING_MS = 5_000;

/**
 * Reads an instance until it has the target status, and returns that read.
 *
 * Throws CliError('otherEnd') if the instance reached another final status, CliError('deadline')
 * after the timeout, CliError('rateLimited') if the service requests a pause (Retry-After) beyond
 * it, and the signal's reason if interrupted. Passes on the error of a read unless it is transient
 * (see transient.ts).
 */
export async function waitForStatus<T extends Watched>(wait: Wait<T>): Promise<T> {
  const { interval, clock, signal } = wait;
  const started = clock.monotonic();
  const elapsed = () => clock.monotonic() - started;
  const left = () => wait.timeout - elapsed();
  const seen = new Set(wait.after === undefined ? [] : [wait.after]);
  let last: T | undefined;
  const turns = poll({
    read: () => wait.read(Math.max(LAST_READING_MS, left())),
    interval,
    clock,
    signal,
    wasThere: wait.after !== undefined,
    left,
  });
  for await (const turn of turns) {
    if ('value' in turn) {
      last = turn.value;
      wait.onReading?.(last, elapsed());
      if (isNear(wait, last)) {
        if (wait.also === undefined || (await wait.also.holds(last, left()))) return last;
      } else if (isOtherEnd(wait.target, last.status, seen)) {
        throw otherEnd(last, wait.target);
      }
      seen.add(last.status);
      signal.throwIfAborted();
    } else {
      const { fault, pause } = turn;
      const requested = fault.retryAfterMs ?? 0;
      if (requested > 0 && requested > left()) throw pauseTooLong(fault, requested, left(), last);
      wait.onFault?.(fault, elapsed(), Math.min(pause, Math.max(requested, left())));
    }
    if (left() <= 0) break;
  }
  throw deadline(wait, last);
}

/** Whether the instance has the target status, or one in which the extra condition may hold. */
function isNear<T extends Watched>({ target, also }: Wait<T>, { status }: T): boolean {
  return status === target || also?.before(status) === true;
}

/** Returns the error for a requested pause that ends after the deadline. */
function pauseTooLong(
  fault: CliError,
  requested: number,
  left: number,
  last: Watched | undefined,
): CliError {
  const seen = last === undefined ? 'was never seen' : `was last seen ${last.status}`;
  return new CliError(
    'rateLimited',
    `${fault.message} The service accepts requests again in ${inSeconds(requested)}, but the wait times out in ${inSeconds(Math.max(0, left))}. The instance ${seen}.`,
    {
      code: unavailableIf(fault.httpStatus),
      retryable: true,
      retryAfterMs: requested,
      cause: fault,
      httpStatus: fault.httpStatus,
      resource: last?.id,
    },
  );
}

function deadline<T extends Watched>(wait: Wait<T>, last: T | undefined): CliError {
  const { target, also, timeout } = wait;
  const time = timeout % 60_000 === 0 ? `${timeout / 60_000} min` : `${timeout / 1000} s`;
  const message =
    last === undefined
      ? `Could not read the instance for ${time}.`
      : also !== undefined && isNear(wait, last)
        ? `The instance is ${last.status}, but ${also.text} after ${time}.`
        : `The instance is not ${target} after ${time}; it was last seen ${last.status}.`;
  return new CliError('deadline', message, {
    retryable: true,
    resource: last?.id,
  });
}

/**
 * Whether the instance can no longer reach the target. By the document (States and transitions), a
 * failed stop returns to ACTIVE, and a failed terminate to the earlier status. TERMINATING is
 * final, and nothing leaves ERROR by itself.
 */
function isOtherEnd(target: string, status: string, seen: ReadonlySet<string>): boolean {
  if (target === 'TERMINATED') return seen.has('TERMINATING') && status !== 'TERMINATING';
  if (status === 'ERROR' || !mayBill(status)) return true;
  if (target === 'STOPPED') return seen.has('STOPPING') && status === 'ACTIVE';
  return status === 'STOPPED';
}

function otherEnd(instance: Watched, target: string): CliError {
  const why = failureReason(instance);
  const reason = why === undefined ? '' : `: ${why}`;
  return new CliError(
    'otherEnd',
    `The instance is ${instance.status} and will not become ${target} by itself${reason}.`,
    { resource: instance.id },
  );
}
