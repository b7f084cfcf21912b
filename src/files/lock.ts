import lockfile from 'proper-lockfile';

/**
 * Runs `work` while no other process that asks for the same lock does.
 *
 * The lock is a folder beside the file, refreshed while it is held; a lock whose owner died is
 * taken over after ten seconds. The file itself need not exist.
 * Throws the lock's own error when it can't be had within about half a minute.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const release = await lockfile.lock(path, {
    realpath: false,
    stale: 10_000,
    update: 2_000,
    retries: { retries: 1000, factor: 1, minTimeout: 5, maxTimeout: 60, randomize: true },
  });
  try {
    return await work();
  } finally {
    await release();
  }
}
