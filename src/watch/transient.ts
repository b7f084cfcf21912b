import type { CliError } from '../errors.ts';

/** Consecutive proxy or sign-in pages after which the fault is permanent. */
const ODD_RESPONSES = 5;

/** What was there is gone when this many responses in a row say so. */
const GONE_RESPONSES = 2;

/**
 * A longer pause that the service asks for comes between two readings, where it is reported: within
 * a reading the program would be silent.
 */
export const LONGEST_WITHIN_MS = 3_000;

/** Tells faults that waiting may mend from the others, for one thing that is read again and again. */
export interface Transient {
  /**
   * Whether to read again after this fault. The service may be unreachable, fail, or ask for
   * patience. For a thing that was there, a few responses in a row may also make no sense, or one
   * may say that it is not there; before anything was read, that is likelier a slip than an outage.
   */
  passes(error: CliError, wasThere: boolean): boolean;
  /** A reading succeeded. */
  mended(): void;
}

export function createTransient(): Transient {
  let odd = 0;
  let missing = 0;
  return {
    passes(error, wasThere) {
      if (error.failure === 'notUnderstood') {
        odd += 1;
        return wasThere && odd < ODD_RESPONSES;
      }
      if (error.failure === 'notFound') {
        missing += 1;
        return wasThere && missing < GONE_RESPONSES;
      }
      return error.failure === 'unreachable' || error.retryable;
    },
    mended() {
      odd = 0;
      missing = 0;
    },
  };
}
