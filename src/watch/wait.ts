import type { Clock } from '../clock.ts';
import { CliError } from '../errors.ts';
import type { StopSignal } from '../stop.ts';

/** What a wait needs to know of a machine (API document: Instance). */
export interface Watched {
  readonly id: string;
  readonly status: string;
  readonly failure_reason?: string | null | undefined;
}

export interface Also<T extends Watched> {
  /** Completes "The machine is ACTIVE, but …": `SSH has not answered`. */
  readonly words: string;
  /** Statuses in which it may be true before the one that is waited for comes. */
  readonly before: readonly string[];
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
  readonly signal: StopSignal;
  /** A status that is known to have been there already, such as STOPPING in the answer of stop. */
  readonly after?: string;
  onReading?(machine: T, elapsed: number): void;
  /** A reading failed in a way that may pass; the wait goes on. */
  onFault?(error: CliError, elapsed: number): void;
}

/** A last reading gets this long at least, however near the deadline is. */
const LAST_READING_MS = 5_000;

/** So many answers in a row that make no sense are no passing fault any more. */
const ODD_ANSWERS = 5;

/** After faults the pause grows up to this, so that a service in trouble is not pressed. */
const LONGEST_PAUSE_MS = 30_000;

/**
 * Reads a machine until it has the status that is waited for, and answers that reading.
 *
 * Throws CliError('otherEnd') when the machine came to rest elsewhere, CliError('deadline') when
 * the time is over, the signal's reason when interrupted, and what the reading throws unless it is
 * a fault of the network, which is waited out. So is an answer that makes no sense, such as the
 * sign-in page of a network, once the machine is known to be there.
 */
export async function waitForStatus<T extends Watched>(wait: Wait<T>): Promise<T> {
  const started = wait.clock.now();
  const elapsed = () => wait.clock.now() - started;
  const seen = new Set(wait.after === undefined ? [] : [wait.after]);
  let last: T | undefined;
  let odd = 0;
  const passes = (error: CliError) => {
    if (error.failure !== 'notUnderstood')
      return error.failure === 'unreachable' || error.retryable;
    odd += 1;
    return seen.size > 0 && odd < ODD_ANSWERS;
  };
  for (let faults = 0; ; ) {
    const machine = await readThroughFaults(wait, elapsed, passes);
    if (machine !== undefined) odd = 0;
    faults = machine === undefined ? faults + 1 : 0;
    if (machine !== undefined) {
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
    }
    const left = wait.timeout - elapsed();
    if (left <= 0) throw deadline(wait, last);
    // The last pause is as short as the deadline wants it, so that a last reading decides.
    await wait.clock.sleep(Math.min(pauseAfter(faults, wait.interval), left), wait.signal);
  }
}

/** Whether nothing is missing but what is waited for besides the status. */
function isNear<T extends Watched>({ target, also }: Wait<T>, { status }: T): boolean {
  return status === target || also?.before.includes(status) === true;
}

function pauseAfter(faults: number, interval: number): number {
  return Math.max(interval, Math.min(LONGEST_PAUSE_MS, interval * 2 ** (faults - 1)));
}

async function readThroughFaults<T extends Watched>(
  wait: Wait<T>,
  elapsed: () => number,
  passes: (error: CliError) => boolean,
): Promise<T | undefined> {
  wait.signal.throwIfAborted();
  try {
    return await wait.read(Math.max(LAST_READING_MS, wait.timeout - elapsed()));
  } catch (error) {
    if (wait.signal.aborted || !(error instanceof CliError)) throw error;
    if (!passes(error)) throw error;
    wait.onFault?.(error, elapsed());
    return undefined;
  }
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
  if (status === 'ERROR' || status === 'TERMINATED' || status === 'TERMINATING') {
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

function spoken(milliseconds: number): string {
  return milliseconds % 60_000 === 0 ? `${milliseconds / 60_000} min` : `${milliseconds / 1000} s`;
}
