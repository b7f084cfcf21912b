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
  /** Reads the machine afresh. */
  read(): Promise<T>;
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
  onFault?(error: CliError): void;
}

/**
 * Reads a machine until it has the status that is waited for, and answers that reading.
 *
 * Throws CliError('otherEnd') when the machine came to rest elsewhere, CliError('deadline') when
 * the time is over, the signal's reason when interrupted, and what the reading throws unless it is
 * a fault of the network, which is waited out.
 */
export async function waitForStatus<T extends Watched>(wait: Wait<T>): Promise<T> {
  const started = wait.clock.now();
  const seen = new Set(wait.after === undefined ? [] : [wait.after]);
  let last: T | undefined;
  for (;;) {
    const machine = await readThroughFaults(wait);
    const elapsed = wait.clock.now() - started;
    if (machine !== undefined) {
      last = machine;
      wait.onReading?.(machine, elapsed);
      if (machine.status === wait.target) {
        return machine;
      }
      if (isOtherEnd(wait.target, machine.status, seen)) {
        throw otherEnd(machine, wait.target);
      }
      seen.add(machine.status);
    }
    if (elapsed >= wait.timeout) {
      throw new CliError(
        'deadline',
        `The machine is not ${wait.target} after ${spoken(wait.timeout)}; it was last seen ${last?.status ?? 'never'}.`,
        { retryable: true, ...(last === undefined ? {} : { resource: last.id }) },
      );
    }
    // The last pause is as short as the deadline wants it, so that a last reading decides.
    await wait.clock.sleep(Math.min(wait.interval, wait.timeout - elapsed), wait.signal);
  }
}

async function readThroughFaults<T extends Watched>(wait: Wait<T>): Promise<T | undefined> {
  wait.signal.throwIfAborted();
  try {
    return await wait.read();
  } catch (error) {
    if (error instanceof CliError && (error.failure === 'unreachable' || error.retryable)) {
      wait.onFault?.(error);
      return undefined;
    }
    throw error;
  }
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
