import type { Clock } from '../clock.ts';
import { CliError, type Failure, isInterrupt } from '../errors.ts';
import { askedPause, createPassing, pauseAfter } from './passing.ts';

export interface Poll<T> {
  /** `isFirst`: nothing was read before, and a fault of this reading ends the poll. */
  read(isFirst: boolean): Promise<T>;
  /** Milliseconds from the end of one reading to the beginning of the next. */
  readonly interval: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A person sees each fault and its age as it is, and ends the poll. */
  readonly isSeen?: boolean;
  /** Why parts of a reading are missing or old, where the rest of it could be read. */
  faultsIn?(reading: T): readonly CliError[];
  /** Whether nothing can change any more. */
  isOver?(reading: T): boolean;
}

/** A reading, or why there is none at this turn. */
export type Turn<T> = ({ readonly value: T } | { readonly fault: CliError }) & {
  /** Milliseconds until the next reading. */
  readonly pause: number;
  /** It is so long because the service asked for it. */
  readonly isAsked: boolean;
};

/** What is no matter of the service, or refused by it for good. */
const FINAL: readonly Failure[] = ['authentication', 'usage', 'storage'];

/**
 * Reads again and again until it is interrupted. The first reading has to succeed, as for a command
 * that reads once; a later fault is a turn of its own, unless waiting can't mend it. No reading
 * comes before the service wants it (Retry-After), and no deadline is there for that to pass.
 */
export async function* poll<T>({
  read,
  interval,
  clock,
  signal,
  isSeen = false,
  faultsIn,
  isOver,
}: Poll<T>): AsyncGenerator<Turn<T>> {
  const passing = createPassing();
  // A view that stands on a screen is more than its end would be: it goes on through a sign-in page
  // or a 404 however long they last, and whoever looks at it sees them and their age. Where nobody
  // looks, a program would wait for ever for what does not come: there the common rule holds.
  const passes = (error: CliError) => isSeen || passing.passes(error, true);
  let faults = 0;
  for (let first = true; ; first = false) {
    signal.throwIfAborted();
    let turn: Turn<T>;
    try {
      const value = await read(first);
      faults = 0;
      passing.mended();
      turn = { value, ...longer(interval, faultsIn?.(value) ?? []) };
    } catch (error) {
      if (first || signal.aborted || !(error instanceof CliError)) throw error;
      if (FINAL.includes(error.failure) || isInterrupt(error) || !passes(error)) throw error;
      faults += 1;
      turn = { fault: error, ...longer(pauseAfter(faults, interval), [error]) };
    }
    yield turn;
    if ('value' in turn && isOver?.(turn.value) === true) return;
    await clock.sleep(turn.pause, signal);
  }
}

/** Our own pause, or the one that the service asked for, whichever is longer. */
function longer(
  own: number,
  faults: readonly CliError[],
): Pick<Turn<unknown>, 'pause' | 'isAsked'> {
  const asked = askedPause(faults);
  return { pause: Math.max(own, asked), isAsked: asked > own };
}
