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
  /** Default 0600. */
  readonly mode?: number;
  /** Owner for the new file, if it would have another. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Begins the ending of the temporary file, which a killed process leaves behind. Has no dot. */
  readonly mark?: string | undefined;
}

/**
 * Replaces a file's content atomically: after a crash the old or the new content is there, never a
 * part. It writes a temporary file beside it, fsyncs it, reads it back, renames it and fsyncs the
 * folder. On a full disk a buffered write can seem to succeed, hence the read.
 *
 * Of two writers at once, one wins completely; take a lock to keep both. File system errors pass
 * through, with the temporary file removed and the old content in place.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, owner, mark }: HowToReplace = {},
): Promise<void> {
  const temporary = temporaryName(path, mark);
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(file, content);
      if (owner !== undefined) handOver(file, owner);
      // Set the requested mode despite the umask, and after the owner, whose change clears bits.
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

/** Milliseconds that another program may hold a file on Windows. */
const LONGEST_HELD = 1_000;

/** On Windows, a virus scanner or a reader holds a file for a moment, which can't be renamed then. */
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

/** A temporary name beside a file, for content that will replace it. */
export function temporaryName(path: string, mark = ''): string {
  return `${path}.${mark}${Math.random().toString(36).slice(2)}.tmp`;
}

/** Reads a new file back. Throws if it does not hold all of its content. */
export function checkArrived(path: string, content: string | Uint8Array): void {
  if (readPlain(path)?.equals(Buffer.from(content)) !== true) {
    throw new Error(`${path} does not hold what was written to it`);
  }
}

function handOver(file: number, { uid, gid }: { uid: number; gid: number }) {
  const now = fstatSync(file);
  if (now.uid !== uid || now.gid !== gid) fchownSync(file, uid, gid);
}

/** Makes a new, renamed or removed name in a folder durable. */
export function syncFolder(path: string): void {
  // Windows can't open a folder, and keeps names without it.
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
