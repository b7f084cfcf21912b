import { CliError, type Failure, isInterrupt } from '../errors.ts';
import type { Clock } from '../system/clock.ts';
import { createTransient } from './transient.ts';

export interface Poll<T> {
  /** `isFirst`: no read has succeeded yet. */
  read(isFirst: boolean): Promise<T>;
  /** Milliseconds between the end of a read and the start of the next. */
  readonly interval: number;
  /** Returns the pause after this read, for bursty data. */
  pauseAfter?(reading: T): number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /**
   * Set if an earlier command read the same resource. Otherwise the first read must succeed, as in
   * a command that reads once.
   */
  readonly wasThere?: boolean;
  /**
   * Set if a person watches: the view shows each fault with its age, and the person stops the poll.
   */
  readonly isSeen?: boolean;
  /** Returns the milliseconds until the poll gives up. One last read then decides. */
  left?(): number;
  /** Returns the faults behind missing or old parts of a read. */
  faultsIn?(reading: T): readonly CliError[];
  /** Whether the data can't change any more. */
  isOver?(reading: T): boolean;
}

/** A read, or the reason why it failed. */
export type Turn<T> = ({ readonly value: T } | { readonly fault: CliError }) & {
  /** Milliseconds until the next read. */
  readonly pause: number;
  /** Whether the service requested this pause. */
  readonly isRequested: boolean;
};

/** Faults that another request can't fix. */
const FINAL: readonly Failure[] = ['authentication', 'usage', 'storage'];

/** The longest pause after faults, to spare a service in trouble. */
const LONGEST_PAUSE_MS = 30_000;

/**
 * Reads repeatedly until interrupted, then throws the signal's reason. Yields each read and each
 * transient fault. The pause is never shorter than Retry-After.
 */
export async function* poll<T>(options: Poll<T>): AsyncGenerator<Turn<T>, void> {
  const { read, interval, clock, signal, wasThere, isSeen = false } = options;
  const transient = createTransient();
  let faults = 0;
  let hasRead = false;

  function mayPass(error: CliError): boolean {
    if (isInterrupt(error) || FINAL.includes(error.failure)) return false;
    if (!hasRead && wasThere === undefined) return false;
    // With a person watching, a sign-in page or a 404 doesn't stop the poll. The view shows the
    // fault with its age. A script would wait forever.
    return isSeen || transient.passes(error, hasRead || wasThere === true);
  }

  for (;;) {
    signal.throwIfAborted();
    let turn: Turn<T>;
    try {
      const value = await read(!hasRead);
      hasRead = true;
      faults = 0;
      transient.mended();
      const requested = requestedPause(options.faultsIn?.(value) ?? []);
      turn = { value, ...longer(options.pauseAfter?.(value) ?? interval, requested) };
    } catch (error) {
      if (signal.aborted || !(error instanceof CliError) || !mayPass(error)) throw error;
      faults += 1;
      const grown = Math.min(LONGEST_PAUSE_MS, interval * 2 ** (faults - 1));
      turn = { fault: error, ...longer(Math.max(interval, grown), requestedPause([error])) };
    }
    yield turn;
    if ('value' in turn && options.isOver?.(turn.value) === true) return;
    const left = turn.isRequested ? undefined : options.left?.();
    await clock.sleep(Math.min(turn.pause, left ?? turn.pause), signal);
  }
}

/** Returns the longest Retry-After of these faults in milliseconds; 0 without Retry-After. */
function requestedPause(faults: readonly CliError[]): number {
  return Math.max(0, ...faults.map(({ retryAfterMs }) => retryAfterMs ?? 0));
}

/** Returns gpucloud's own pause or the requested pause, whichever is longer. */
function longer(own: number, requested: number): Pick<Turn<unknown>, 'pause' | 'isRequested'> {
  return { pause: Math.max(own, requested), isRequested: requested > own };
}
