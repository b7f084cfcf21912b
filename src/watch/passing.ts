import type { CliError } from '../errors.ts';

/** So many answers in a row that make no sense are no passing fault any more. */
const ODD_ANSWERS = 5;

/** What was there is gone when so many answers in a row say so. */
const GONE_ANSWERS = 2;

/** After faults the pause grows up to this, so that a service in trouble is not pressed. */
const LONGEST_PAUSE_MS = 30_000;

/**
 * A longer pause that the service asks for is no part of a reading, which would be silent meanwhile:
 * it comes between two, and is told.
 */
export const LONGEST_WITHIN_MS = 3_000;

/** Tells the faults that waiting may mend from the others, of one thing that is read again and again. */
export interface Passing {
  /**
   * Whether to read again after this fault. The service may be out of reach, fail, or ask for
   * patience. Of what was there, it may also be a few answers in a row that make no sense, such as
   * the sign-in page of a network, or a single one that it is not there; before anything was read,
   * those are likelier a slip than an outage.
   */
  passes(error: CliError, wasThere: boolean): boolean;
  /** A reading succeeded. */
  mended(): void;
}

export function createPassing(): Passing {
  let odd = 0;
  let missing = 0;
  return {
    passes(error, wasThere) {
      if (error.failure === 'notUnderstood') {
        odd += 1;
        return wasThere && odd < ODD_ANSWERS;
      }
      if (error.failure === 'notFound') {
        missing += 1;
        return wasThere && missing < GONE_ANSWERS;
      }
      return error.failure === 'unreachable' || error.retryable;
    },
    mended() {
      odd = 0;
      missing = 0;
    },
  };
}

/** Milliseconds of our own until the next reading, after so many faults in a row. */
export function pauseAfter(faults: number, interval: number): number {
  return Math.max(interval, Math.min(LONGEST_PAUSE_MS, interval * 2 ** (faults - 1)));
}

/** Milliseconds that the service asked to wait (Retry-After): the most of these faults, 0 for none. */
export function askedPause(faults: readonly CliError[]): number {
  return Math.max(0, ...faults.map(({ retryAfterMs }) => retryAfterMs ?? 0));
}
