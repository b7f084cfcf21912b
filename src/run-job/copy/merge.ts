import {
  lstat,
  mkdtemp,
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
import type { Link } from './unpack.ts';

/**
 * Gives each attempt of a copy a folder of its own: only this user can enter it, and nobody can guess
 * its name. It is on the disk of the final place, so that a rename moves the files.
 */
export async function inStaging<T>(
  parent: string,
  receive: (staging: string) => Promise<T>,
  place: (staging: string, fetched: T) => Promise<void>,
): Promise<void> {
  const staging = await mkdtemp(join(parent, '.gpucloud-')).catch((error: unknown) => {
    throw unwritable(parent, error);
  });
  let fetched: T;
  try {
    fetched = await receive(staging);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  try {
    await place(staging, fetched);
  } catch (error) {
    const fault = error instanceof CliError ? error : unwritable(parent, error);
    // The instance, and the results on it, may be gone soon.
    throw fault.with(`${fault.message}; the fetched files are in ${staging}`);
  }
  await rmdir(staging);
}

/**
 * Moves folders and files into a folder. Folders that exist there are merged; files and links are
 * replaced.
 *
 * It follows no link below the folder, which an earlier job may have made. A folder that was checked
 * stays a folder, whatever other processes of ours do: `rename` and `unlink` refuse to replace one.
 */
export async function moveInto(folder: string, staging: string): Promise<void> {
  for (const one of await readdir(staging, { withFileTypes: true })) {
    await moveOne(join(staging, one.name), join(folder, one.name), one.isDirectory());
  }
}

async function moveOne(from: string, to: string, isFolder: boolean): Promise<void> {
  const there = await kindAt(to);
  if (there === 'folder' && isFolder) {
    await moveInto(to, from);
    return rmdir(from);
  }
  if (there === 'folder' || there === 'other') {
    const what = there === 'folder' ? 'a folder here, and a file there' : 'not a regular file';
    throw copyFailed('out', `${to} is ${what}`);
  }
  // rename would not put a folder in place of a file.
  if (there === 'replaceable' && isFolder) await unlink(to);
  try {
    await rename(from, to);
  } catch (error) {
    // Another job has moved a folder there meanwhile.
    const isMade = isFolder && ['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '');
    if (!isMade) throw unwritable(to, error);
    await moveOne(from, to, isFolder);
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
 * Makes the symlinks of an archive in the folder into which its files were moved. Skips those that
 * lead out of it, those in place of a folder, and all of them on Windows.
 */
export async function makeLinks(
  folder: string,
  staging: string,
  links: readonly Link[],
  onSkipped: (path: string) => void,
): Promise<void> {
  const root = await realpath(folder);
  const made = join(staging, 'link');
  for (const { path, target } of links) {
    const to = join(folder, path);
    const there = await kindAt(to);
    const isFree = there === 'nothing' || there === 'replaceable';
    const isSafe = isFree && sep === '/' && (await staysInside(root, path, target));
    // A disk may have no symlinks.
    if (!isSafe || !(await symlink(target, made).then(isDone, isFailed))) {
      onSkipped(path);
      continue;
    }
    await rename(made, to).catch((error: unknown) => {
      throw unwritable(to, error);
    });
  }
}

const [isDone, isFailed] = [() => true, () => false];

/**
 * Whether the target of a link is in the folder. In a target, `..` may only come first: after a name
 * it leaves the place to which another link of the archive leads. The user may have made links in the
 * folder that lead out of it.
 */
async function staysInside(root: string, path: string, target: string): Promise<boolean> {
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const [first = parts.length] = parts.flatMap((part, at) => (part === '..' ? [] : at));
  if (target === '' || isAbsolute(target) || parts.lastIndexOf('..') > first) return false;
  const place = join(dirname(path), ...parts);
  return place.split('/')[0] !== '..' && contains(root, await endOf(join(root, place)));
}

/** Whether a path is that of a folder, or below it. Follows no links. */
export function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The path without links; of a missing one, that of the nearest folder. */
async function endOf(path: string): Promise<string> {
  return realpath(path).catch(() => endOf(dirname(path)));
}
