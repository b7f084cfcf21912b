import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its parents with the mode, as far as the umask allows. Node's recursive mkdir
 * loops forever if an existing folder refuses new ones with ENOENT (`/proc`).
 *
 * Returns the first created folder; undefined if all existed. File system errors pass through.
 */
export function makeFolders(path: string, mode: number): string | undefined {
  const parent = dirname(path);
  let first: string | undefined;
  if (!isFolder(path) && parent !== path && !isFolder(parent)) first = makeFolders(parent, mode);
  try {
    mkdirSync(path, mode);
    return first ?? path;
  } catch (error) {
    // The folder exists, or another process just created it. A dangling link is not a folder.
    if (isFolder(path)) return first;
    throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
