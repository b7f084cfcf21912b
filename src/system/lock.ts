import { statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import lockfile from 'proper-lockfile';
import { errorCode } from './error-code.ts';
import { privateFolder, takeFolderOwner } from './files.ts';

/** Milliseconds without a refresh after which a lock counts as abandoned. */
const ABANDONED = 10_000;

/** Milliseconds to wait for a lock whose holders need it only briefly. */
const PATIENCE = 30_000;

/** Milliseconds to wait for a lock that may be held for hours: until an abandoned lock expires. */
export const UNTIL_ABANDONED = ABANDONED + 3_000;

interface LockOptions<T> {
  /** Milliseconds to wait for the lock. */
  readonly patience?: number;
  /** Gives up with {@link HolderLives} once the holder refreshes the lock: it may need it for hours. */
  readonly yields?: boolean;
  /** Stops waiting with its reason. */
  readonly signal?: AbortSignal;
  /**
   * Runs instead of `work` without a lock: another process holds it (`isHeld`), or it can't be
   * created (a full disk, a read-only folder). Without this callback, throws the error.
   */
  otherwise?(error: unknown, isHeld: boolean): Promise<T>;
}

/** The holder of a lock has just refreshed it, so its process lives. */
export class HolderLives extends Error {
  readonly code = 'ELOCKED';
}

/**
 * Runs `work` while no other process holds the same lock. Creates the folder of `path`.
 *
 * The lock is a folder next to the file, refreshed while held. After ten seconds without a refresh,
 * another process takes it over. The file itself need not exist. A process suspended for longer (a
 * closed laptop) may lose its lock, but completes its work.
 *
 * Fails with `ELOCKED` if the lock does not become free in time, and at once with a file system error
 * (`EACCES`, `ENOSPC`).
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  { patience = PATIENCE, yields = false, signal, otherwise }: LockOptions<T> = {},
): Promise<T> {
  let release: () => Promise<void>;
  try {
    await privateFolder(dirname(path));
    release = await patiently(`${path}.lock`, { patience, yields, signal }, async () => {
      const giveUp = await lockfile.lock(path, {
        realpath: false,
        stale: ABANDONED,
        update: 2_000,
        retries: 0,
        // By default, the library throws this error where nothing can catch it.
        onCompromised: () => undefined,
      });
      try {
        takeFolderOwner(`${path}.lock`);
      } catch (error) {
        await giveUp();
        throw error;
      }
      return giveUp;
    });
  } catch (error) {
    if (otherwise === undefined) throw error;
    return otherwise(error, errorCode(error) === 'ELOCKED');
  }
  try {
    return await work();
  } finally {
    // Ignores a failed release: the work is done, and an unreleased lock expires. A lost lock, which
    // another process may hold now, stays.
    await release().catch(() => undefined);
  }
}

/** Whether a process holds the lock, or was killed a few seconds ago. Takes no lock. */
export function isLocked(path: string): Promise<boolean> {
  return lockfile.check(path, { realpath: false, stale: ABANDONED });
}

interface Waiting {
  readonly patience: number;
  readonly yields: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * Retries without the library: it would also retry hopeless attempts, such as in a read-only
 * folder.
 */
async function patiently<T>(
  lock: string,
  { patience, yields, signal }: Waiting,
  acquire: () => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const refreshOf = refreshesOf(lock);
  for (let pause = 2; ; pause = Math.min(pause * 1.5, 50)) {
    try {
      return await acquire();
    } catch (error) {
      // ENOENT: another process took the same abandoned lock over, and removed this process's new one.
      const isTaken = ['ELOCKED', 'ENOENT'].includes(errorCode(error) ?? '');
      if (!isTaken || performance.now() - started > patience) throw error;
      signal?.throwIfAborted();
      const { isNew, age } = refreshOf();
      if (isNew && yields) throw new HolderLives('The lock is held.', { cause: error });
      if (age >= ABANDONED) expire(lock);
    }
    // Random pauses, so that no process loses every time.
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
  }
}

/**
 * Returns how long ago the holder refreshed its lock, and whether it did so since the last call. The
 * library compares the lock's time with the clock. If the clock is set back by a day, it would
 * respect an abandoned lock for a day.
 */
function refreshesOf(lock: string): () => { readonly isNew: boolean; readonly age: number } {
  let time: number | undefined;
  let since = performance.now();
  return () => {
    const now = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    const isNew = time !== undefined && now !== undefined && now !== time;
    if (now !== time) since = performance.now();
    time = now;
    return { isNew, age: performance.now() - since };
  };
}

/** Lets the library take over an abandoned lock. */
function expire(lock: string): void {
  try {
    utimesSync(lock, 0, 0);
  } catch (error) {
    // ENOENT means that another process took the lock over.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
