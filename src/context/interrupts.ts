import { CliError, type Failure, isCtrlC } from '../errors.ts';
import type { Interrupts } from './contract.ts';

/**
 * Aborts on the second Ctrl-C, and on SIGTERM and SIGHUP: gpucloud then leaves, and waits for no
 * reader.
 */
export function leavingOf({ first, second }: Interrupts): AbortSignal {
  const leaving = new AbortController();
  const unlessCtrlC = () => {
    if (!isCtrlC(first.reason)) leaving.abort(first.reason);
  };
  if (first.aborted) unlessCtrlC();
  else first.addEventListener('abort', unlessCtrlC, { once: true });
  return AbortSignal.any([leaving.signal, second]);
}

/** The process. */
interface System {
  readonly pid: number;
  readonly platform: string;
  on(event: string, listener: (thrown: unknown) => void): unknown;
  off(event: string, listener: () => void): unknown;
  kill(pid: number, signal: string): unknown;
}

const SIGNALS: readonly (readonly [string, Failure, string])[] = [
  ['SIGINT', 'interrupted', 'Interrupted.'],
  ['SIGTERM', 'terminated', 'Terminated.'],
  ['SIGHUP', 'hungUp', 'The terminal closed.'],
  // Ctrl-Break, on Windows only.
  ['SIGBREAK', 'interrupted', 'Interrupted.'],
];

/**
 * Returns a function that adds an action of the third signal, and returns how to remove the action.
 * Without actions, the third signal kills the process.
 */
export function listenForInterrupts(
  system: System,
  first: AbortController,
  second: AbortController,
): (leave: () => void) => () => void {
  const atThird = new Set<() => void>();
  for (const [signal, failure, words] of SIGNALS) {
    const stop = () => {
      const reason = new CliError(failure, words);
      if (!first.signal.aborted) first.abort(reason);
      else if (!second.signal.aborted) second.abort(reason);
      else if (atThird.size > 0) for (const leave of atThird) leave();
      else {
        system.off(signal, stop);
        // Windows can't send SIGHUP or SIGBREAK.
        system.kill(system.pid, system.platform === 'win32' ? 'SIGTERM' : signal);
      }
    };
    system.on(signal, stop);
  }
  // Let the failing write report a file over the size limit: the signal would kill the process.
  system.on('SIGXFSZ', () => undefined);
  return (leave) => {
    atThird.add(leave);
    return () => void atThird.delete(leave);
  };
}

interface Faults {
  /** The first uncaught fault, if any. */
  readonly first: Error | undefined;
  /** Resolves if the run does not finish in time after an uncaught fault. */
  readonly overdue: Promise<0>;
  /** Stores an uncaught fault, and returns the exit code of `overdue`. */
  note(thrown: unknown): 0;
}

const UNWINDING_MS = 2_000;

/**
 * Stops the run like two interrupts after an uncaught fault. The run then reports a possible rental
 * and records its outcome. Node itself would print the stack and exit at once.
 */
export function listenForFaults(
  system: Pick<System, 'on'>,
  first: AbortController,
  second: AbortController,
): Faults {
  let known: Error | undefined;
  const note = (thrown: unknown) => {
    known ??= thrown instanceof Error ? thrown : new Error(String(thrown));
    second.abort(known);
    first.abort(known);
    return 0 as const;
  };
  const overdue = new Promise<0>((resolve) => {
    system.on('uncaughtException', (thrown: unknown) => {
      note(thrown);
      setTimeout(() => resolve(0), UNWINDING_MS);
    });
  });
  return {
    get first() {
      return known;
    },
    overdue,
    note,
  };
}
