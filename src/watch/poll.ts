import type { Clock } from '../clock.ts';
import { CliError, type Failure } from '../errors.ts';
import type { StopSignal } from '../stop.ts';

export interface Poll<T> {
  read(): Promise<T>;
  /** Milliseconds from the end of one reading to the beginning of the next. */
  readonly interval: number;
  readonly clock: Clock;
  readonly signal: StopSignal;
  /** Whether nothing can change any more. */
  isOver?(reading: T): boolean;
}

/** A reading, or why there is none at this turn. */
export type Turn<T> = { readonly value: T } | { readonly fault: CliError };

/** After faults the pause grows up to this, so that a service in trouble is not pressed. */
const LONGEST_PAUSE_MS = 30_000;

/** What no waiting mends. */
const FINAL: readonly Failure[] = [
  'authentication',
  'usage',
  'storage',
  'interrupted',
  'terminated',
  'hungUp',
];

/**
 * Reads again and again until it is interrupted. The first reading has to succeed, as for a command
 * that reads once; a later fault is a turn of its own, unless waiting can't mend it: a key that is
 * refused ends the poll.
 */
export async function* poll<T>({
  read,
  interval,
  clock,
  signal,
  isOver,
}: Poll<T>): AsyncGenerator<Turn<T>> {
  let faults = 0;
  for (let first = true; ; first = false) {
    signal.throwIfAborted();
    try {
      const value = await read();
      faults = 0;
      yield { value };
      if (isOver?.(value) === true) return;
    } catch (error) {
      if (first || signal.aborted || !(error instanceof CliError)) throw error;
      if (FINAL.includes(error.failure)) throw error;
      faults += 1;
      yield { fault: error };
    }
    await clock.sleep(pauseAfter(faults, interval), signal);
  }
}

function pauseAfter(faults: number, interval: number): number {
  return Math.max(interval, Math.min(LONGEST_PAUSE_MS, interval * 2 ** (faults - 1)));
}
