import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname } from 'node:path';

export interface HowToReplace {
  /** 0600 where it is left out. */
  readonly mode?: number;
  /** The new file gets this owner where it would have another. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Runs last; what it throws leaves the old content where it is. */
  lastCheck?(): Promise<void>;
}

/**
 * Puts a whole new content under a name, so that after a crash at any point the old or the new
 * content stands there, never a part: a temporary file beside it, written, fsynced and read back,
 * then renamed over, then the folder fsynced.
 *
 * The reading back is for full disks, on which a buffered write can seem to succeed.
 * Of two writers at once, one content stands whole; whoever must not lose the other's takes a lock,
 * or looks again in `lastCheck`.
 * Throws what the file system throws; the temporary file is then gone and the old content stands.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, owner, lastCheck }: HowToReplace = {},
): Promise<void> {
  const temporary = `${path}.${Math.random().toString(36).slice(2)}.tmp`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      if (owner !== undefined) await handOver(handle, owner);
      // As it was asked for, whatever the umask; after the owner, whose change takes bits away.
      if (mode !== 0o600) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (!Buffer.from(content).equals(await readFile(temporary))) {
      throw new Error(`${temporary} does not hold what was written to it`);
    }
    await lastCheck?.();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

async function handOver(handle: FileHandle, { uid, gid }: { uid: number; gid: number }) {
  const now = await handle.stat();
  if (now.uid !== uid || now.gid !== gid) await handle.chown(uid, gid);
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
