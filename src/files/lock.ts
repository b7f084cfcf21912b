import lockfile from 'proper-lockfile';
import { errorCode } from './error-code.ts';

/** Milliseconds without a refresh after which a lock counts as abandoned. */
const ABANDONED = 10_000;

/** Milliseconds to wait for a lock that others hold only briefly. */
const PATIENCE = 30_000;

/** Milliseconds to wait for a lock that others hold for hours: until it counts as abandoned. */
export const UNTIL_ABANDONED = ABANDONED + 3_000;

/**
 * Runs `work` while no other process holds the same lock.
 *
 * The lock is a folder beside the file, refreshed while held. After ten seconds without a refresh,
 * another process takes it over. The file itself need not exist. A process that is suspended longer
 * (a closed laptop) may lose its lock, but completes its work.
 *
 * Throws `ELOCKED` if the lock is not free in time, and file system errors (`EACCES`,
 * `ENOSPC`) at once.
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  patience = PATIENCE,
): Promise<T> {
  let lost: Error | undefined;
  const release = await patiently(patience, () =>
    lockfile.lock(path, {
      realpath: false,
      stale: ABANDONED,
      update: 2_000,
      retries: 0,
      // By default the library throws where no caller can catch it.
      onCompromised: (error) => {
        lost = error;
      },
    }),
  );
  try {
    return await work();
  } finally {
    // The work is done and its error reported; a remaining lock expires by itself.
    if (lost === undefined) await release().catch(() => undefined);
  }
}

/** The library's own retries would also repeat hopeless attempts, such as in a read-only folder. */
async function patiently<T>(patience: number, acquire: () => Promise<T>): Promise<T> {
  const started = performance.now();
  for (let pause = 2; ; pause = Math.min(pause * 1.5, 50)) {
    try {
      return await acquire();
    } catch (error) {
      const held = errorCode(error) === 'ELOCKED';
      if (!held || performance.now() - started > patience) throw error;
    }
    // Uneven pauses, so that no process of many is always late.
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
  }
}
