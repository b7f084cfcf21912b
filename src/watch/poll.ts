import type { Clock } from '../clock.ts';
import { CliError, type Failure, isInterrupt } from '../errors.ts';
import { createTransient } from './transient.ts';

export interface Poll<T> {
  /** `isFirst`: no reading succeeded before. */
  read(isFirst: boolean): Promise<T>;
  /** Milliseconds from the end of one reading to the beginning of the next. */
  readonly interval: number;
  /** The same after this reading, for what comes in bursts. */
  pauseAfter?(reading: T): number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /**
   * Whether what is read was there before. Without it, the first reading has to succeed, as for a
   * command that reads once.
   */
  readonly wasThere?: boolean;
  /** A person sees each fault and its age, and ends the poll. */
  readonly isSeen?: boolean;
  /** Milliseconds until the poll is given up: a last reading then decides. */
  left?(): number;
  /** Why parts of a reading are missing or old, if the rest of it could be read. */
  faultsIn?(reading: T): readonly CliError[];
  /** Whether nothing can change any more. */
  isOver?(reading: T): boolean;
}

/** A reading, or why there is none this time. */
export type Turn<T> = ({ readonly value: T } | { readonly fault: CliError }) & {
  /** Milliseconds until the next reading. */
  readonly pause: number;
  /** The pause is this long because the service asked for it. */
  readonly isAsked: boolean;
};

/** Not about the service, or refused by it for good. */
const FINAL: readonly Failure[] = ['authentication', 'usage', 'storage'];

/** After faults the pause grows up to this, so that a service in trouble is not pressed. */
const LONGEST_PAUSE_MS = 30_000;

/**
 * Reads again and again until interrupted, and throws the signal's reason then. A fault that may
 * pass is a turn of its own. No reading comes before the service wants it (Retry-After).
 */
export async function* poll<T>(options: Poll<T>): AsyncGenerator<Turn<T>, void> {
  const { read, interval, clock, signal, wasThere, isSeen = false } = options;
  const transient = createTransient();
  let faults = 0;
  let hasRead = false;

  function mayPass(error: CliError): boolean {
    if (isInterrupt(error) || FINAL.includes(error.failure)) return false;
    if (!hasRead && wasThere === undefined) return false;
    // A view on a screen outlasts a sign-in page or a 404: somebody sees it and its age. A script
    // would wait for ever.
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
      const asked = askedPause(options.faultsIn?.(value) ?? []);
      turn = { value, ...longer(options.pauseAfter?.(value) ?? interval, asked) };
    } catch (error) {
      if (signal.aborted || !(error instanceof CliError) || !mayPass(error)) throw error;
      faults += 1;
      const grown = Math.min(LONGEST_PAUSE_MS, interval * 2 ** (faults - 1));
      turn = { fault: error, ...longer(Math.max(interval, grown), askedPause([error])) };
    }
    yield turn;
    if ('value' in turn && options.isOver?.(turn.value) === true) return;
    const left = turn.isAsked ? undefined : options.left?.();
    await clock.sleep(Math.min(turn.pause, left ?? turn.pause), signal);
  }
}

/** Milliseconds that the service asked to wait (Retry-After): the most of these faults, 0 for none. */
function askedPause(faults: readonly CliError[]): number {
  return Math.max(0, ...faults.map(({ retryAfterMs }) => retryAfterMs ?? 0));
}

/** Our own pause or the one that the service asked for, whichever is longer. */
function longer(own: number, asked: number): Pick<Turn<unknown>, 'pause' | 'isAsked'> {
  return { pause: Math.max(own, asked), isAsked: asked > own };
}
