import { withLock } from '../files/lock.ts';
import { codeOf, meaning, notSaved } from './faults.ts';

/**
 * Does the work under the file's lock, and words the faults of the lock; those of the work come
 * out as they are. Throws CliError('storage') when the lock can't be had.
 *
 * It tries three times: one try may give up after about eight seconds, before the lock of a process
 * that was killed counts as abandoned (ten seconds).
 */
export async function locked<T>(
  target: string,
  work: () => Promise<T>,
  lock: typeof withLock = withLock,
  tries = 3,
): Promise<T> {
  let started = false;
  try {
    return await lock(target, async () => {
      started = true;
      return await work();
    });
  } catch (error) {
    if (started) throw error;
    const held = codeOf(error) === 'ELOCKED';
    if (held && tries > 1) return await locked(target, work, lock, tries - 1);
    const what = held
      ? 'another gpucloud is changing the file and does not come to an end'
      : `it can't be locked: ${meaning(error)}`;
    throw notSaved(target, what, error);
  }
}
