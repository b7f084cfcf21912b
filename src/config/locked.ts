import { withLock } from '../files/lock.ts';
import { codeOf, meaning, notSaved } from './faults.ts';

/**
 * Does the work under the file's lock, and words the faults of the lock; those of the work come
 * out as they are. Throws CliError('storage') when the lock can't be had.
 */
export async function locked<T>(
  target: string,
  work: () => Promise<T>,
  lock: typeof withLock = withLock,
): Promise<T> {
  let started = false;
  try {
    return await lock(target, async () => {
      started = true;
      return await work();
    });
  } catch (error) {
    if (started) throw error;
    const what =
      codeOf(error) === 'ELOCKED'
        ? 'another gpucloud is changing the file and does not come to an end'
        : `it can't be locked: ${meaning(error)}`;
    throw notSaved(target, what, error);
  }
}
