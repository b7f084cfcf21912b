import { type CliError, failuresOf } from '../../errors.ts';
import type { Clock } from '../../system/clock.ts';
import type { Failed } from '../drive.ts';
import { repeated } from '../stages/repeated.ts';
import { type CopyingOut, copyOut, type Fetch, type Unplaced } from './copy-out.ts';
import { placeAgain, removeStaging } from './merge.ts';

/** A path of `--fetch` in a job's record. */
export interface Wanted extends Fetch {
  /** When it was completely copied. It is not copied again. */
  readonly fetched_at?: string | null | undefined;
  /** What an earlier attempt has left beside the path. */
  readonly unplaced?: Unplaced | null | undefined;
}

interface CopyingOne extends Omit<CopyingOut, 'onUnplaced'> {
  /** Stores what this attempt has left, so that the next one does not receive it again. */
  onUnplaced(one: Wanted, left: Unplaced): Promise<void>;
}

interface CopyingEach extends CopyingOne {
  readonly clock: Clock;
  onBegin(one: Wanted): void;
  /** Stores that a path is complete, before the next one is copied. */
  onFetched(one: Wanted): Promise<void>;
  /** Allows further attempts after a lost connection, or throws. */
  readonly onCut: ((error: CliError) => Promise<void>) | undefined;
}

/**
 * Copies each path that is not on this computer yet, and returns the failures. Throws the signal's
 * reason.
 */
export async function copyOutEach(
  paths: readonly Wanted[],
  copying: CopyingEach,
): Promise<readonly CliError[]> {
  const { signal, clock, onBegin, onFetched, onCut } = copying;
  const failures: CliError[] = [];
  for (const one of paths) {
    if (one.fetched_at != null) continue;
    onBegin(one);
    const copied = repeated(() => copyOrPlace(one, copying), signal, clock, onCut);
    const failed = await failuresOf(copied.then(() => onFetched(one)));
    // An interrupt takes precedence over the failure of the copy that it interrupted.
    if (failed.length > 0) signal.throwIfAborted();
    failures.push(...failed);
  }
  return failures;
}

/**
 * Copies a path, unless an earlier attempt has received all of it: then only moves the files. At
 * most one attempt leaves files beside the path.
 */
export async function copyOrPlace(one: Wanted, copying: CopyingOne): Promise<void> {
  const { unplaced } = one;
  if (unplaced?.isWhole === true && (await placeAgain(unplaced.staging, copying.home))) return;
  let left: Unplaced | undefined;
  const onUnplaced = (received: Unplaced) => {
    left = received;
  };
  try {
    await copyOut(one, { ...copying, onUnplaced });
  } catch (error) {
    if (left === undefined) throw error;
    await copying.onUnplaced(one, left);
    if (unplaced != null) await removeStaging(unplaced.staging);
    throw error;
  }
  if (unplaced != null) await removeStaging(unplaced.staging);
}

/** Returns why a copy failed: on the instance, on this computer, or by the connection. */
export function failedOf({ failure }: CliError): Failed {
  if (failure === 'notFound') return 'missing';
  return failure === 'storage' ? 'here' : 'cut';
}

/**
 * Returns the failure that decides about all paths: the first that may be mended. A path that is
 * missing on the instance can't be copied later.
 */
export function worstOf(failures: readonly CliError[]): CliError | undefined {
  return failures.find((failure) => failedOf(failure) !== 'missing') ?? failures[0];
}
