import type { Clock } from '../clock.ts';
import { CliError } from '../errors.ts';
import { mayBill } from '../rules/statuses.ts';
import { askedPause, createPassing, pauseAfter } from './passing.ts';

/** What a wait needs to know of a machine (API document: Instance). */
export interface Watched {
  readonly id: string;
  readonly status: string;
  readonly failure_reason?: string | null | undefined;
}

export interface Also<T extends Watched> {
  /** Completes "The machine is ACTIVE, but …": `SSH has not answered`. */
  readonly words: string;
  /** Whether it may be true in a status before the one that is waited for. */
  before(status: string): boolean;
  /** `longest`: milliseconds that are left of the wait. Throws for what no waiting mends. */
  holds(machine: T, longest: number): Promise<boolean>;
}

export interface Wait<T extends Watched> {
  /** The status to wait for, in the service's words (API document: InstanceStatus). */
  readonly target: string;
  /** Reads the machine afresh, and gives up after so many milliseconds. */
  read(longest: number): Promise<T>;
  /** What has to be true besides the status: that SSH answers. Asked again after each reading. */
  readonly also?: Also<T>;
  /** Milliseconds between two readings. */
  readonly interval: number;
  /** Milliseconds until the wait is given up. */
  readonly timeout: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A status that is known to have been there already, such as STOPPING in the answer of stop. */
  readonly after?: string;
  onReading?(machine: T, elapsed: number): void;
  /** A reading failed in a way that may pass; the wait goes on after so many milliseconds. */
  onFault?(error: CliError, elapsed: number, pause: number): void;
}

/** A last reading gets this long at least, however near the deadline is. */
const LAST_READING_MS = 5_000;

/**
 * Reads a machine until it has the status that is waited for, and answers that reading.
 *
 * Throws CliError('otherEnd') when the machine came to rest elsewhere, CliError('deadline') when
 * the time is over, CliError('rateLimited') as soon as the service asks for a pause (Retry-After)
 * that goes beyond it, the signal's reason when interrupted, and what the reading throws unless it
 * may pass (see passing.ts). A shorter pause is kept in full.
 */
export async function waitForStatus<T extends Watched>(wait: Wait<T>): Promise<T> {
  const started = wait.clock.now();
  const elapsed = () => wait.clock.now() - started;
  const seen = new Set(wait.after === undefined ? [] : [wait.after]);
  const passing = createPassing();
  let last: T | undefined;
  for (let faults = 0; ; ) {
    const reading = await readOnce(wait, elapsed);
    let fault: CliError | undefined;
    if ('machine' in reading) {
      const { machine } = reading;
      faults = 0;
      passing.mended();
      last = machine;
      wait.onReading?.(machine, elapsed());
      if (isNear(wait, machine)) {
        const left = wait.timeout - elapsed();
        if (wait.also === undefined || (await wait.also.holds(machine, left))) return machine;
      } else if (isOtherEnd(wait.target, machine.status, seen)) {
        throw otherEnd(machine, wait.target);
      }
      seen.add(machine.status);
      wait.signal.throwIfAborted();
    } else {
      fault = reading.fault;
      faults += 1;
      if (!passing.passes(fault, seen.size > 0)) throw fault;
    }
    const left = wait.timeout - elapsed();
    // The last pause is as short as the deadline wants it, so that a last reading decides.
    let pause = Math.min(pauseAfter(faults, wait.interval), left);
    if (fault !== undefined) {
      const asked = askedPause([fault]);
      if (asked > 0 && asked > left) throw askedTooMuch(fault, asked, left, last);
      pause = Math.max(pause, asked);
      wait.onFault?.(fault, elapsed(), pause);
    }
    if (left <= 0) throw deadline(wait, last);
    await wait.clock.sleep(pause, wait.signal);
  }
}

/** Whether nothing is missing but what is waited for besides the status. */
function isNear<T extends Watched>({ target, also }: Wait<T>, { status }: T): boolean {
  return status === target || also?.before(status) === true;
}

async function readOnce<T extends Watched>(
  wait: Wait<T>,
  elapsed: () => number,
): Promise<{ readonly machine: T } | { readonly fault: CliError }> {
  wait.signal.throwIfAborted();
  try {
    return { machine: await wait.read(Math.max(LAST_READING_MS, wait.timeout - elapsed())) };
  } catch (error) {
    if (wait.signal.aborted || !(error instanceof CliError)) throw error;
    return { fault: error };
  }
}

/** The service would answer only after the deadline, so that waiting on would tell nothing. */
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
  const after = `after ${spoken(timeout)}`;
  const words =
    last !== undefined && also !== undefined && isNear(wait, last)
      ? `The machine is ${last.status}, but ${also.words} ${after}.`
      : `The machine is not ${target} ${after}; it was last seen ${last?.status ?? 'never'}.`;
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
  if (target === 'TERMINATED') {
    return seen.has('TERMINATING') && status !== 'TERMINATING';
  }
  if (status === 'ERROR' || !mayBill(status)) {
    return true;
  }
  if (target === 'STOPPED') {
    return seen.has('STOPPING') && status === 'ACTIVE';
  }
  return target === 'ACTIVE' && status === 'STOPPED';
}

function otherEnd(machine: Watched, target: string): CliError {
  const reason = machine.failure_reason ? `: ${machine.failure_reason}` : '';
  return new CliError(
    'otherEnd',
    `The machine is ${machine.status} and will not become ${target} by itself${reason}.`,
    { resource: machine.id },
  );
}

function inSeconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`;
}

function spoken(milliseconds: number): string {
  return milliseconds % 60_000 === 0 ? `${milliseconds / 60_000} min` : `${milliseconds / 1000} s`;
}
