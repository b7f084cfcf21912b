import type { Clock } from '../clock.ts';
import { CliError } from '../errors.ts';

/** What a wait needs to know of a machine (API document: Instance). */
export interface Watched {
  readonly id: string;
  readonly status: string;
  readonly failure_reason?: string | null | undefined;
}

export interface Wait<T extends Watched> {
  /** The status to wait for, in the service's words (API document: InstanceStatus). */
  readonly target: string;
  /** Reads the machine afresh, and gives up after so many milliseconds. */
  read(longest: number): Promise<T>;
  /** What has to be true besides the status: that SSH answers. Asked again after each reading. */
  readonly also?: { readonly words: string; holds(machine: T): Promise<boolean> };
  /** Milliseconds between two readings. */
  readonly interval: number;
  /** Milliseconds until the wait is given up. */
  readonly timeout: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A status that is known to have been there already, such as STOPPING in the answer of stop. */
  readonly after?: string;
  onReading?(machine: T, elapsed: number): void;
  /** A reading failed in a way that may pass; the wait goes on. */
  onFault?(error: CliError, elapsed: number): void;
}

/** A last reading gets this long at least, however near the deadline is. */
const LAST_READING_MS = 5_000;

/** After faults the pause grows up to this, so that a service in trouble is not pressed. */
const LONGEST_PAUSE_MS = 30_000;

/**
 * Reads a machine until it has the status that is waited for, and answers that reading.
 *
 * Throws CliError('otherEnd') when the machine came to rest elsewhere, CliError('deadline') when
 * the time is over, the signal's reason when interrupted, and what the reading throws unless it is
 * a fault of the network, which is waited out.
 */
export async function waitForStatus<T extends Watched>(wait: Wait<T>): Promise<T> {
  const started = wait.clock.now();
  const elapsed = () => wait.clock.now() - started;
  const seen = new Set(wait.after === undefined ? [] : [wait.after]);
  let last: T | undefined;
  for (let faults = 0; ; ) {
    const machine = await readThroughFaults(wait, elapsed);
    faults = machine === undefined ? faults + 1 : 0;
    if (machine !== undefined) {
      last = machine;
      wait.onReading?.(machine, elapsed());
      if (machine.status === wait.target) {
        if (wait.also === undefined || (await wait.also.holds(machine))) return machine;
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

function pauseAfter(faults: number, interval: number): number {
  return Math.max(interval, Math.min(LONGEST_PAUSE_MS, interval * 2 ** (faults - 1)));
}

async function readThroughFaults<T extends Watched>(
  wait: Wait<T>,
  elapsed: () => number,
): Promise<T | undefined> {
  wait.signal.throwIfAborted();
  try {
    return await wait.read(Math.max(LAST_READING_MS, wait.timeout - elapsed()));
  } catch (error) {
    if (wait.signal.aborted || !(error instanceof CliError)) throw error;
    if (error.failure !== 'unreachable' && !error.retryable) throw error;
    wait.onFault?.(error, elapsed());
    return undefined;
  }
}

function deadline({ target, also, timeout }: Wait<Watched>, last: Watched | undefined): CliError {
  const after = `after ${spoken(timeout)}`;
  const words =
    last !== undefined && last.status === target && also !== undefined
      ? `The machine is ${target}, but ${also.words} ${after}.`
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
