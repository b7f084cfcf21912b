import { statSync, utimesSync } from 'node:fs';
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
  const release = await patiently(`${path}.lock`, patience, () =>
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
async function patiently<T>(lock: string, patience: number, acquire: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const isRefreshed = refreshesOf(lock);
  for (let pause = 2; ; pause = Math.min(pause * 1.5, 50)) {
    try {
      return await acquire();
    } catch (error) {
      const held = errorCode(error) === 'ELOCKED';
      if (!held || performance.now() - started > patience) throw error;
      if (!isRefreshed()) expire(lock);
    }
    // Uneven pauses, so that no process of many is always late.
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
  }
}

/**
 * Watches whether the holder refreshes its lock. The library compares the lock's time with the clock,
 * so it would respect an abandoned lock for a day after the clock was set back by a day.
 */
function refreshesOf(lock: string): () => boolean {
  let time: number | undefined;
  let since = 0;
  return () => {
    const now = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    if (now !== time) since = performance.now();
    time = now;
    return performance.now() - since < ABANDONED;
  };
}

/** Lets the library take over an abandoned lock. */
function expire(lock: string): void {
  try {
    utimesSync(lock, 0, 0);
  } catch (error) {
    // Another process has taken it over.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
