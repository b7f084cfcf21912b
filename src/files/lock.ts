import { statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import lockfile from 'proper-lockfile';
import { errorCode } from './error-code.ts';
import { privateFolder } from './private-folder.ts';

/** A lock counts as abandoned after this many milliseconds without a refresh. */
const ABANDONED = 10_000;

/** Milliseconds to wait for a lock that others hold only for a moment. */
const PATIENCE = 30_000;

/** Milliseconds to wait for a lock that others hold for hours: until it counts as abandoned. */
export const UNTIL_ABANDONED = ABANDONED + 3_000;

interface LockOptions<T> {
  /** Milliseconds to wait for the lock. */
  readonly patience?: number;
  /**
   * Runs instead of `work` if there is no lock: another process holds it (`isHeld`), or it can't be
   * created (a full disk, a read-only folder). Without this callback, the error is thrown.
   */
  otherwise?(error: unknown, isHeld: boolean): Promise<T>;
}

/**
 * Runs `work` while no other process holds the same lock. Creates the folder of `path`.
 *
 * The lock is a folder beside the file, refreshed while held. After ten seconds without a refresh,
 * another process takes it over. The file itself need not exist. A process that is suspended longer
 * (a closed laptop) may lose its lock, but completes its work.
 *
 * Fails if the lock is not free in time (`ELOCKED`), or at once after a file system error
 * (`EACCES`, `ENOSPC`).
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  { patience = PATIENCE, otherwise }: LockOptions<T> = {},
): Promise<T> {
  let lost: Error | undefined;
  let release: () => Promise<void>;
  try {
    await privateFolder(dirname(path));
    release = await patiently(`${path}.lock`, patience, () =>
      lockfile.lock(path, {
        realpath: false,
        stale: ABANDONED,
        update: 2_000,
        retries: 0,
        // By default the library throws this error where no caller can catch it.
        onCompromised: (error) => {
          lost = error;
        },
      }),
    );
  } catch (error) {
    if (otherwise === undefined) throw error;
    return otherwise(error, errorCode(error) === 'ELOCKED');
  }
  try {
    return await work();
  } finally {
    // The work is done and its error reported; an unreleased lock expires by itself.
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
    // Random pauses, so that no process always comes last.
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
  }
}

/**
 * Checks whether the holder refreshes its lock. The library compares the lock's time with the
 * clock, so after the clock is set back by a day, it would respect an abandoned lock for a day.
 */
function refreshesOf(lock: string): () => boolean {
  let time: number | undefined;
  let since = performance.now();
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
    // Another process has taken the lock over.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
