import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { platform } from 'node:os';
import { dirname } from 'node:path';
import { readPlain } from './plain.ts';

interface HowToReplace {
  /** 0600 where it is left out. */
  readonly mode?: number;
  /** The new file gets this owner where it would have another. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/**
 * Puts a whole new content under a name, so that after a crash at any point the old or the new
 * content stands there, never a part: a temporary file beside it, written, fsynced and read back,
 * then renamed over, then the folder fsynced.
 *
 * The reading back is for full disks, on which a buffered write can seem to succeed.
 * Of two writers at once, one content stands whole; whoever must not lose the other's takes a
 * lock.
 * Throws what the file system throws; the temporary file is then gone and the old content stands.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, owner }: HowToReplace = {},
): Promise<void> {
  const temporary = temporaryName(path);
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(file, content);
      if (owner !== undefined) handOver(file, owner);
      // As it was asked for, whatever the umask; after the owner, whose change takes bits away.
      if (mode !== 0o600) fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    checkArrived(temporary, content);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** A name beside a file that nobody reads, for what is written before it takes the file's place. */
export function temporaryName(path: string): string {
  return `${path}.${Math.random().toString(36).slice(2)}.tmp`;
}

/** Reads a file that was just written. Throws where it does not hold all of its content. */
export function checkArrived(path: string, content: string | Uint8Array): void {
  if (readPlain(path)?.equals(Buffer.from(content)) !== true) {
    throw new Error(`${path} does not hold what was written to it`);
  }
}

function handOver(file: number, { uid, gid }: { uid: number; gid: number }) {
  const now = fstatSync(file);
  if (now.uid !== uid || now.gid !== gid) fchownSync(file, uid, gid);
}

/** Makes a new, renamed or removed name in a folder last through a power cut. */
export function syncFolder(path: string): void {
  // Windows can't open a folder, and keeps names safe without it.
  if (platform() === 'win32') {
    return;
  }
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
