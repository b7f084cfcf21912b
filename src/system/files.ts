import { isUtf8 } from 'node:buffer';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { platform } from 'node:os';
import { dirname, relative, sep } from 'node:path';
import { errorCode } from './error-code.ts';

// Reads and writes gpucloud's own small files synchronously. A thread pool round trip costs more
// than the I/O, and a run needs dozens. Not for paths from users, which may be pipes or terminals.

/**
 * Returns the bytes of a regular file of at most `most` bytes, otherwise undefined. `isOf` checks
 * its owner. Throws file system errors.
 */
export function readPlain(
  path: string,
  most = Number.POSITIVE_INFINITY,
  isOf: (owner: number) => boolean = () => true,
): Buffer | undefined {
  // Without this flag, opening a pipe waits for a writer. Windows has neither the flag nor such
  // pipes.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    const isWanted = found.isFile() && found.size <= most && isOf(found.uid);
    return isWanted ? readFileSync(file) : undefined;
  } finally {
    closeSync(file);
  }
}

/**
 * As {@link readPlain}, but only for a file of root or of its folder's owner. Another user may have
 * put a file into the folder while others could write to it.
 */
export function readOwn(path: string, most?: number): Buffer | undefined {
  return readPlain(path, most, (owner) => owner === 0 || owner === statSync(dirname(path)).uid);
}

/**
 * Decodes UTF-8 without a byte order mark, or returns undefined for invalid bytes. Creating a
 * strict TextDecoder takes longer than reading a short text.
 */
export function textOfUtf8(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** Returns the error of a path that is a device, a pipe or a folder. */
export function notRegular(path: string): Error {
  const code = 'not a regular file';
  return Object.assign(new Error(`${path} is ${code}`), { code });
}

/** Names the path in its code too, since the messages name only a file in the folder. */
function notFolder(path: string): Error {
  const code = `${path} is not a folder`;
  return Object.assign(new Error(code), { code });
}

interface HowToReplace {
  /** Default: 0600. */
  readonly mode?: number;
  /** Sets the new file's owner; by default, {@link takeFolderOwner} decides. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/**
 * Replaces a file's content atomically: after a crash the file has the old or the new content,
 * never a part. Writes a temporary file next to it, fsyncs it, reads it back, renames it and fsyncs
 * the folder. Reads it back because a buffered write can seem to succeed on a full disk.
 *
 * Of two concurrent writes, one wins completely; use a lock to keep both changes. After a file system
 * error, removes the temporary file, keeps the old content and throws the error. Throws for a path that
 * is a device or a pipe: root would replace `/dev/null` for all programs.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, owner }: HowToReplace = {},
): Promise<void> {
  const old = lstatSync(path, { throwIfNoEntry: false });
  if (old?.isCharacterDevice() || old?.isBlockDevice() || old?.isFIFO() || old?.isSocket())
    throw notRegular(path);
  const temporary = temporaryName(path);
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(file, content);
      if (owner === undefined) takeFolderOwner(temporary);
      else handOver(file, owner);
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

/**
 * Gives what root has just made to the owner of its folder, who could not read or replace it
 * otherwise: with sudo, root works in the home folder of another user. Does nothing for other users.
 * Throws file system errors.
 */
export function takeFolderOwner(path: string): void {
  if (lstatSync(path).uid !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid !== 0) lchownSync(path, uid, gid);
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

/**
 * Creates a folder and its parents for their owner only (0700), durably. Leaves an existing folder
 * unchanged.
 */
export async function privateFolder(path: string): Promise<void> {
  const first = makeFolders(path, 0o700);
  if (first === undefined) {
    return;
  }
  const made = relative(dirname(first), path)
    .split(sep)
    .map((_name, at, names) => [dirname(first), ...names.slice(0, at + 1)].join(sep));
  for (const folder of made) {
    // Sets the mode again, since mkdir applies the umask.
    chmodSync(folder, 0o700);
    syncFolder(dirname(folder));
  }
}

/**
 * Creates a folder and its parents with the mode, as far as the umask allows. Node's recursive
 * mkdir loops forever if an existing folder refuses new ones with ENOENT (`/proc`).
 *
 * Returns the first folder that it created, or undefined if all existed. Throws file system errors.
 */
export function makeFolders(path: string, mode: number): string | undefined {
  const parent = dirname(path);
  let first: string | undefined;
  if (!isFolder(path) && parent !== path && !isFolder(parent)) first = makeFolders(parent, mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // The folder exists: it did before, or another process just created it. A dangling link is not
    // a folder.
    if (isFolder(path)) return first;
    throw errorCode(error) === 'EEXIST' ? notFolder(path) : error;
  }
  try {
    takeFolderOwner(path);
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  return first ?? path;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
