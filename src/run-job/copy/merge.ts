import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { CliError } from '../../errors.ts';
import { errorCode } from '../../files/error-code.ts';
import { copyFailed, unwritable } from './copy-failed.ts';
import { writeNew } from './local-file.ts';
import type { Link } from './unpack.ts';

/**
 * Creates a private folder with a random name for each attempt. The folder is on the destination's
 * disk, so that a rename can move the files.
 */
export async function inStaging(
  parent: string,
  receive: (staging: string) => Promise<void>,
  place: (staging: string) => Promise<void>,
): Promise<void> {
  const staging = await mkdtemp(join(parent, '.gpucloud-')).catch((error: unknown) => {
    throw unwritable(parent, error);
  });
  try {
    await receive(staging);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  try {
    await place(staging);
  } catch (error) {
    const fault = error instanceof CliError ? error : unwritable(parent, error);
    // Keeps files that could not be moved, since the instance may be terminated soon.
    throw fault.with(`${fault.message}; files that were not moved are in ${staging}`);
  }
  await rmdir(staging);
}

/**
 * Moves folders and files into a folder. Merges existing folders, and replaces files and links.
 *
 * Follows no link below the folder, since an earlier job may have made it. A checked folder stays a
 * folder, even if other gpucloud processes run: `rename` and `unlink` refuse to replace a folder.
 */
export async function moveInto(
  folder: string,
  staging: string,
  signal: AbortSignal,
): Promise<void> {
  const faults: unknown[] = [];
  for (const one of await readdir(staging, { withFileTypes: true })) {
    const move = moveOne(
      { from: join(staging, one.name), to: join(folder, one.name), isFolder: one.isDirectory() },
      signal,
    );
    // Continues, since other entries can still be moved.
    await move.catch((error: unknown) => faults.push(error));
  }
  if (faults.length > 0) throw faults[0];
}

interface Move {
  readonly from: string;
  readonly to: string;
  readonly isFolder: boolean;
}

async function moveOne(move: Move, signal: AbortSignal): Promise<void> {
  const { from, to, isFolder } = move;
  const there = await kindAt(to);
  if (there === 'folder' && isFolder) {
    await moveInto(to, from, signal);
    return rmdir(from);
  }
  if (there === 'folder' || there === 'other') {
    const what =
      there === 'folder'
        ? 'a folder on this computer, but a file on the instance'
        : 'not a regular file';
    throw copyFailed('out', `${to} is ${what}`);
  }
  // rename can't replace a file with a folder.
  if (there === 'replaceable' && isFolder) await unlink(to);
  try {
    await rename(from, to);
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'EXDEV' && !isFolder) return moveAcross(from, to, signal);
    if (code === 'EXDEV') await makeLike(from, to);
    // Another job has just moved a folder to this path.
    else if (!isFolder || !['ENOTEMPTY', 'EEXIST'].includes(code)) throw unwritable(to, error);
    await moveOne(move, signal);
  }
}

/** Makes a folder on another disk. */
async function makeLike(from: string, to: string): Promise<void> {
  const { mode } = await lstat(from);
  await mkdir(to, mode & 0o777).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw unwritable(to, error);
  });
}

/**
 * Moves a file to another disk that is mounted below the folder. The file appears only when
 * complete.
 */
async function moveAcross(from: string, to: string, signal: AbortSignal): Promise<void> {
  const beside = join(dirname(to), hiddenName());
  const { mode, mtime } = await lstat(from);
  try {
    await writeNew(beside, bytesOf(from, signal), { mode: mode & 0o777, mtime });
    await renameOrRemove(beside, to);
  } catch (error) {
    signal.throwIfAborted();
    throw unwritable(to, error instanceof CliError ? error.cause : error);
  }
  await unlink(from);
}

/** Bytes to read at once. */
const PIECE = 2 ** 20;

async function* bytesOf(path: string, signal: AbortSignal) {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (;;) {
      // Stops at the signal, so that a slow disk does not delay the instance's deadline.
      signal.throwIfAborted();
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(PIECE) });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

function hiddenName(): string {
  return `.gpucloud-${randomUUID()}`;
}

async function renameOrRemove(made: string, to: string): Promise<void> {
  try {
    await rename(made, to);
  } catch (error) {
    await unlink(made);
    throw error;
  }
}

async function kindAt(path: string): Promise<'nothing' | 'folder' | 'replaceable' | 'other'> {
  const there = await lstat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unwritable(path, error);
  });
  if (there === undefined) return 'nothing';
  if (there.isDirectory()) return 'folder';
  return there.isFile() || there.isSymbolicLink() ? 'replaceable' : 'other';
}

/**
 * Makes the symlinks of an archive in the folder into which its files were moved. Skips links that
 * lead out of the folder, links in place of a folder or below another link, and all links on
 * Windows.
 */
export async function makeLinks(
  folder: string,
  links: readonly Link[],
  onSkipped: (path: string) => void,
): Promise<void> {
  const root = await realpath(folder);
  for (const { path, target } of links) {
    const to = join(root, path);
    const made = join(dirname(to), hiddenName());
    const isSafe = sep === '/' && (await isFree(to)) && (await staysInside(root, path, target));
    // Some file systems don't support symlinks.
    const isMade =
      isSafe &&
      (await symlink(target, made)
        .then(() => renameOrRemove(made, to))
        .then(isDone, isFailed));
    if (!isMade) onSkipped(path);
  }
}

/**
 * Whether a link may be created at a path: not below another link, and not in place of a folder.
 */
async function isFree(path: string): Promise<boolean> {
  const parent = dirname(path);
  if ((await realpath(parent).catch(() => undefined)) !== parent) return false;
  const there = await kindAt(path).catch(() => 'other');
  return there === 'nothing' || there === 'replaceable';
}

const [isDone, isFailed] = [() => true, () => false];

/**
 * Whether the target of a link is in the folder. A target may contain `..` only at its start. After
 * a name, `..` could leave the folder through another link of the archive. The user's own links in
 * the folder may lead out of it.
 */
async function staysInside(root: string, path: string, target: string): Promise<boolean> {
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const [first = parts.length] = parts.flatMap((part, at) => (part === '..' ? [] : at));
  if (target === '' || isAbsolute(target) || parts.lastIndexOf('..') > first) return false;
  const place = join(dirname(path), ...parts);
  return place.split('/')[0] !== '..' && contains(root, await endOf(join(root, place)));
}

/** Whether a path is a folder or below it. Doesn't follow links. */
export function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Resolves the links of a path, or of its nearest existing folder if the path is missing. */
async function endOf(path: string): Promise<string> {
  return realpath(path).catch(() => endOf(dirname(path)));
}
