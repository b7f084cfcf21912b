import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { syncFolder } from './replace.ts';

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
    return first ?? path;
  } catch (error) {
    // The folder exists: it did before, or another process just created it. A dangling link is not
    // a folder.
    if (isFolder(path)) return first;
    throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
