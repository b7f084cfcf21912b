import { randomUUID } from 'node:crypto';
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
import { hostname } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CliError } from '../../errors.ts';
import { errorCode, faultOf } from '../../system/error-code.ts';
import { notStored, orUnwritable, unwritable } from './copy-failed.ts';
import type { Link } from './unpack.ts';

/** The process that copies. */
export interface Copier {
  readonly pid: number;
  /** Whether another process of this computer lives. */
  isAlive(pid: number): boolean;
}

/** Names this computer too, since several may copy to one network drive. */
function stagingPrefix(): string {
  return `.gpucloud-${hostname().replace(/[^\w.-]/g, '_')}-`;
}

/** Removes what killed processes have received beside the files. Everything is received again. */
async function removeAbandoned(parent: string, { pid, isAlive }: Copier): Promise<void> {
  const prefix = stagingPrefix();
  // If the folder can't be read, a new one in it may still be possible.
  const names = await readdir(parent).catch(() => []);
  const isAbandoned = (name: string) => {
    const [, owner] = /^(\d+)-[A-Za-z0-9]{6}$/.exec(name.slice(prefix.length)) ?? [];
    return owner !== undefined && Number(owner) !== pid && !isAlive(Number(owner));
  };
  const abandoned = names.filter((name) => name.startsWith(prefix) && isAbandoned(name));
  // The folder of another user stays. The copy does not need its space.
  await Promise.allSettled(abandoned.map((name) => removeStaging(join(parent, name))));
}

/**
 * Creates a private folder with a random name for each attempt. The folder is on the destination's
 * disk, so that a rename can move the files.
 */
export async function inStaging(
  parent: string,
  copier: Copier,
  receive: (staging: string) => Promise<void>,
  place: (staging: string) => Promise<void>,
  onUnplaced: (staging: string) => void,
): Promise<void> {
  await removeAbandoned(parent, copier);
  const name = `${stagingPrefix()}${copier.pid}-`;
  const staging = await orUnwritable(parent, mkdtemp(join(parent, name)));
  const whole = join(parent, hiddenName());
  try {
    await receive(staging);
    // No later process takes whole files for those of a killed process.
    await orUnwritable(parent, rename(staging, whole));
  } catch (error) {
    await removeStaging(staging);
    throw error;
  }
  try {
    await place(whole);
  } catch (error) {
    // Keeps files that could not be moved, since the instance may be terminated soon.
    onUnplaced(whole);
    throw unplaced(whole, error);
  }
  await rmdir(whole);
}

function unplaced(staging: string, error: unknown): CliError {
  const fault = error instanceof CliError ? error : unwritable(dirname(staging), error);
  return fault.with(`${fault.message}; files that were not moved are in ${staging}`);
}

/**
 * Moves the files that an earlier attempt has received but could not move, beside their folder.
 * Returns whether they were still there.
 */
export async function placeAgain(staging: string, home: string | undefined): Promise<boolean> {
  if ((await kindAt(staging)) !== 'folder') return false;
  try {
    await ensureApart(dirname(staging), home);
    await moveInto(dirname(staging), staging);
  } catch (error) {
    throw unplaced(staging, error);
  }
  await rmdir(staging);
  return true;
}

export function removeStaging(staging: string): Promise<void> {
  return rm(staging, { recursive: true, force: true });
}

/**
 * Moves folders and files into a folder. Merges existing folders, and replaces files and links.
 *
 * Follows no link below the folder, since an earlier job may have made it. A checked folder stays a
 * folder, even if other gpucloud processes run: `rename` and `unlink` refuse to replace a folder.
 */
export async function moveInto(folder: string, staging: string): Promise<void> {
  const [{ dev }, { dev: own }] = [await lstat(folder), await lstat(staging)];
  // A file can't be renamed to another disk, and a copy would not be complete at once.
  if (dev !== own) throw notStored(`another disk is mounted at ${folder}; fetch into that folder`);
  const faults: unknown[] = [];
  for (const one of await readdir(staging, { withFileTypes: true })) {
    const [from, to] = [join(staging, one.name), join(folder, one.name)];
    // Continues, since other entries can still be moved.
    await moveOne({ from, to, isFolder: one.isDirectory() }).catch((error: unknown) =>
      faults.push(error),
    );
  }
  if (faults.length > 0) throw faults[0];
}

interface Move {
  readonly from: string;
  readonly to: string;
  readonly isFolder: boolean;
}

async function moveOne(move: Move): Promise<void> {
  const { from, to, isFolder } = move;
  const there = await kindAt(to);
  if (there === 'folder' && isFolder) {
    await moveInto(to, from);
    return rmdir(from);
  }
  if (there === 'folder' || there === 'other') {
    const what =
      there === 'folder'
        ? 'a folder on this computer, but a file on the instance'
        : 'not a regular file';
    throw notStored(`${to} is ${what}`);
  }
  // rename can't replace a file with a folder.
  if (there === 'replaceable' && isFolder) await unlink(to);
  try {
    await rename(from, to);
  } catch (error) {
    // Another job has just moved a folder to this path.
    const isThere = ['ENOTEMPTY', 'EEXIST'].includes(faultOf(error));
    if (!isFolder || !isThere) throw unwritable(to, error);
    await moveOne(move);
  }
}

function hiddenName(): string {
  return `.gpucloud-${randomUUID()}`;
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
        .then(() => rename(made, to))
        // A link that could not be renamed, such as to too long a name.
        .finally(() => rm(made, { force: true }))
        .then(isDone, isFailed));
    if (!isMade) onSkipped(path);
  }
}

/**
 * Whether a link may be created at a path: not below another link, and not in place of a folder.
 */
async function isFree(path: string): Promise<boolean> {
  const parent = dirname(path);
  if ((await realPath(parent)) !== parent) return false;
  const kind = await kindAt(path).catch(() => 'other');
  return kind === 'nothing' || kind === 'replaceable';
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
  return place.split('/')[0] !== '..' && contains(root, await realPath(join(root, place)));
}

/**
 * Refuses to merge a folder into the home folder or a folder above it. This could replace files
 * that a shell or ssh reads. The instance decides whether it sends a file or a folder.
 */
export async function ensureApart(local: string, home: string | undefined): Promise<void> {
  if (!(await containsHome(local, home))) return;
  throw notStored(`can't merge a folder into ${local}, which contains your home folder`);
}

/** Whether a folder is the home folder or one above it. Follows links. */
export async function containsHome(folder: string, home: string | undefined): Promise<boolean> {
  return home !== undefined && contains(await realpath(folder), await realpath(home));
}

/** Whether a path is a folder or below it. Doesn't follow links. */
export function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Returns an absolute path, with the links of the part that exists resolved. */
export async function realPath(path: string): Promise<string> {
  const full = resolve(path);
  const parent = async () => join(await realPath(dirname(full)), basename(full));
  return realpath(full).catch(parent);
}
