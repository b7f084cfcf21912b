import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder with its parents, as `mkdir -p` does, each of the mode as far as the umask lets it.
 * Node's own way goes round for ever where a folder that is there refuses new ones as if it were not
 * (`/proc`).
 * Answers the first folder that was made; undefined where all were there. Throws what the file system
 * throws.
 */
export function makeFolders(path: string, mode: number): string | undefined {
  const parent = dirname(path);
  let first: string | undefined;
  if (!isFolder(path) && parent !== path && !isFolder(parent)) first = makeFolders(parent, mode);
  try {
    mkdirSync(path, mode);
    return first ?? path;
  } catch (error) {
    // It was there, or another process was quicker. A link to nowhere is no folder.
    if (isFolder(path)) return first;
    throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
