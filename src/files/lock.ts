import lockfile from 'proper-lockfile';
import { errorCode } from './error-code.ts';

/** Milliseconds after which a lock that nobody refreshes is one of a process that died. */
const ABANDONED = 10_000;

/** Milliseconds for which a lock is asked for: longer than an abandoned one is waited for. */
const PATIENCE = 30_000;

/**
 * Runs `work` while no other process that asks for the same lock does.
 *
 * The lock is a folder beside the file, refreshed while it is held; a lock whose owner died is
 * taken over after ten seconds. The file itself need not exist. A process that stands still for so
 * long while it holds the lock (a closed laptop) may lose it; its work is done to the end.
 * Throws the lock's own error: `ELOCKED` when it can't be had within half a minute, at once what
 * the file system says (`EACCES`, `ENOSPC`) where no lock can be made at all.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  let lost: Error | undefined;
  const release = await patiently(() =>
    lockfile.lock(path, {
      realpath: false,
      stale: ABANDONED,
      update: 2_000,
      retries: 0,
      // Left to itself, the library throws where nobody can catch it.
      onCompromised: (error) => {
        lost = error;
      },
    }),
  );
  try {
    return await work();
  } finally {
    // What was done is done, and what went wrong is told: a lock that stays goes stale by itself.
    if (lost === undefined) await release().catch(() => undefined);
  }
}

/** The library's own retries would also repeat what can't succeed, such as a read-only folder. */
async function patiently<T>(acquire: () => Promise<T>): Promise<T> {
  const started = performance.now();
  for (let pause = 2; ; pause = Math.min(pause * 1.5, 50)) {
    try {
      return await acquire();
    } catch (error) {
      const held = errorCode(error) === 'ELOCKED';
      if (!held || performance.now() - started > PATIENCE) throw error;
    }
    // Uneven pauses, so that of many processes none is always late.
    await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
  }
}
