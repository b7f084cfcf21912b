import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

// Small files of our own are read and written synchronously: a thread pool round trip takes longer
// than the file, and a run needs dozens. Files that a person names may be pipes or terminals, and
// are not read with this.

/**
 * Returns the bytes of a regular file; undefined for anything else (a folder, a pipe) and for a file
 * of more than `most` bytes. File system errors pass through.
 */
export function readPlain(path: string, most = Number.POSITIVE_INFINITY): Buffer | undefined {
  // Opening a pipe would wait for a writer. Windows has neither the flag nor such pipes.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    return found.isFile() && found.size <= most ? readFileSync(file) : undefined;
  } finally {
    closeSync(file);
  }
}
