import { unavailableIf } from '../api/calls/retry.ts';
import type { Instance } from '../api/index.ts';
import type { Clock } from '../clock.ts';
import { CliError } from '../errors.ts';
import { mayBill } from '../rules/statuses.ts';
import { poll } from './poll.ts';

/** What a wait needs to know of an instance. */
export type Watched = Pick<Instance, 'id' | 'status' | 'failure_reason'>;

export interface Also<T extends Watched> {
  /** Completes "The machine is ACTIVE, but …": `SSH has not answered`. */
  readonly words: string;
  /** Whether it may be true in a status before the one that is waited for. */
  before(status: string): boolean;
  /** `longest`: milliseconds that are left of the wait. Throws for what no waiting mends. */
  holds(instance: T, longest: number): Promise<boolean>;
}

export interface Wait<T extends Watched> {
  /** The status to wait for, in the service's words (API document: InstanceStatus). */
  readonly target: string;
  /** Reads the instance, and gives up after this many milliseconds. */
  read(longest: number): Promise<T>;
  /** What has to be true besides the status: that SSH answers. Asked again after each reading. */
  readonly also?: Also<T>;
  /** Milliseconds between two readings. */
  readonly interval: number;
  /** Milliseconds until the wait is given up. */
  readonly timeout: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A status that is known to have been there already, such as STOPPING in the response of stop. */
  readonly after?: string;
  onReading?(instance: T, elapsed: number): void;
  /** A reading failed in a way that may pass; the next comes after so many milliseconds. */
  onFault?(error: CliError, elapsed: number, pause: number): void;
}

/** A last reading gets this long at least, however near the deadline is. */
const LAST_READING_MS = 5_000;

/**
 * Reads an instance until it has the status that is waited for, and returns that reading.
 *
 * Throws CliError('otherEnd') if the instance came to rest elsewhere, CliError('deadline') when the
 * time is over, CliError('rateLimited') as soon as the service asks for a pause (Retry-After) that
 * goes beyond it, the signal's reason when interrupted, and what the reading throws unless it may
 * pass (see transient.ts).
 */
export async function waitForStatus<T extends Watched>(wait: Wait<T>): Promise<T> {
  const { interval, clock, signal } = wait;
  const started = clock.now();
  const elapsed = () => clock.now() - started;
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
      const asked = fault.retryAfterMs ?? 0;
      if (asked > 0 && asked > left()) throw askedTooMuch(fault, asked, left(), last);
      wait.onFault?.(fault, elapsed(), Math.min(pause, Math.max(asked, left())));
    }
    if (left() <= 0) throw deadline(wait, last);
  }
  throw deadline(wait, last);
}

/** Whether nothing is missing but what is waited for besides the status. */
function isNear<T extends Watched>({ target, also }: Wait<T>, { status }: T): boolean {
  return status === target || also?.before(status) === true;
}

/** The service would respond only after the deadline. */
function askedTooMuch(
  fault: CliError,
  asked: number,
  left: number,
  last: Watched | undefined,
): CliError {
  const seen = last === undefined ? 'was never seen' : `was last seen ${last.status}`;
  return new CliError(
    'rateLimited',
    `${fault.message} It may be asked again in ${inSeconds(asked)}, and this wait would be over in ${inSeconds(Math.max(0, left))}; the machine ${seen}.`,
    {
      code: unavailableIf(fault.httpStatus),
      retryable: true,
      retryAfterMs: asked,
      cause: fault,
      ...(fault.httpStatus === undefined ? {} : { httpStatus: fault.httpStatus }),
      ...(last === undefined ? {} : { resource: last.id }),
    },
  );
}

function deadline<T extends Watched>(wait: Wait<T>, last: T | undefined): CliError {
  const { target, also, timeout } = wait;
  const time = timeout % 60_000 === 0 ? `${timeout / 60_000} min` : `${timeout / 1000} s`;
  const words =
    last === undefined
      ? `The instance could not be read for ${time}.`
      : also !== undefined && isNear(wait, last)
        ? `The machine is ${last.status}, but ${also.words} after ${time}.`
        : `The machine is not ${target} after ${time}; it was last seen ${last.status}.`;
  return new CliError('deadline', words, {
    retryable: true,
    ...(last === undefined ? {} : { resource: last.id }),
  });
}

/**
 * Whether a status means that the target won't come by itself. The transitions are those of the
 * API document (States and transitions): stop falls back to ACTIVE and terminate to the status
 * before when the provider fails, TERMINATING is irrevocable, and nothing leaves ERROR by itself.
 */
function isOtherEnd(target: string, status: string, seen: ReadonlySet<string>): boolean {
  if (target === 'TERMINATED') return seen.has('TERMINATING') && status !== 'TERMINATING';
  if (status === 'ERROR' || !mayBill(status)) return true;
  if (target === 'STOPPED') return seen.has('STOPPING') && status === 'ACTIVE';
  return target === 'ACTIVE' && status === 'STOPPED';
}

function otherEnd(instance: Watched, target: string): CliError {
  const reason = instance.failure_reason ? `: ${instance.failure_reason}` : '';
  return new CliError(
    'otherEnd',
    `The machine is ${instance.status} and will not become ${target} by itself${reason}.`,
    { resource: instance.id },
  );
}

function inSeconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`;
}
