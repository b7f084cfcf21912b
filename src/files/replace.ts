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
import { errorCode } from './error-code.ts';
import { readPlain } from './plain.ts';

interface HowToReplace {
  /** Default: 0600. */
  readonly mode?: number;
  /** Sets the new file's owner; by default, the current user. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/**
 * Replaces a file's content atomically: after a crash the file has the old or the new content,
 * never a part. Writes a temporary file next to it, fsyncs it, reads it back, renames it and fsyncs
 * the folder. Reads it back because a buffered write can seem to succeed on a full disk.
 *
 * Of two concurrent writes, one wins completely; use a lock to keep both changes. After a file system
 * error, removes the temporary file, keeps the old content and throws the error.
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
      // Sets the mode despite the umask, and after the owner, since changing the owner clears bits.
      if (mode !== 0o600) fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    checkArrived(temporary, content);
    await renameOver(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** Milliseconds that another program may hold a file open on Windows. */
const LONGEST_HELD = 1_000;

/**
 * Renames over a file. Retries on Windows, where a file that a virus scanner or a reader holds open
 * can't be renamed.
 */
export async function renameOver(from: string, to: string): Promise<void> {
  const until = performance.now() + LONGEST_HELD;
  for (let pause = 2; ; pause *= 2) {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      const isHeld = /^(?:EPERM|EACCES|EBUSY)$/.test(errorCode(error) ?? '');
      if (platform() !== 'win32' || !isHeld || performance.now() > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Returns a temporary path next to a file that its content will replace. */
export function temporaryName(path: string): string {
  return `${path}.${Math.random().toString(36).slice(2)}.tmp`;
}

/** Reads a new file back. Throws if its content is incomplete. */
export function checkArrived(path: string, content: string | Uint8Array): void {
  if (readPlain(path)?.equals(Buffer.from(content)) !== true) {
    throw new Error(`${path} does not contain what was written to it`);
  }
}

function handOver(file: number, { uid, gid }: { uid: number; gid: number }) {
  const now = fstatSync(file);
  if (now.uid !== uid || now.gid !== gid) fchownSync(file, uid, gid);
}

/** Makes a new, renamed or removed file in a folder durable. */
export function syncFolder(path: string): void {
  // Windows can't open folders, and makes such changes durable without fsync.
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
