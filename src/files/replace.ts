import { open, readFile, rename, rm } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname } from 'node:path';

/**
 * Puts a whole new content under a name, so that after a crash at any point the old or the new
 * content stands there, never a part: a temporary file beside it (0600), written, fsynced and read
 * back, then renamed over, then the folder fsynced.
 *
 * The reading back is for full disks, on which a buffered write can seem to succeed.
 * Of two writers at once, one content stands whole; whoever must not lose the other's takes a lock.
 * Throws what the file system throws; the temporary file is then gone and the old content stands.
 */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = `${path}.${Math.random().toString(36).slice(2)}.tmp`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if ((await readFile(temporary, 'utf8')) !== content) {
      throw new Error(`${temporary} does not hold what was written to it`);
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes a new, renamed or removed name in a folder last through a power cut. */
export async function syncFolder(path: string): Promise<void> {
  // Windows can't open a folder, and keeps names safe without it.
  if (platform() === 'win32') {
    return;
  }
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
