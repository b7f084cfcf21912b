import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

// Small files of our own are read and written at once, without a thread beside: a way to one and
// back takes longer than the file does, and a run takes dozens of them. What a person names may be
// a pipe or a terminal that has to be waited for, and is not read with this.

/**
 * The bytes of a plain file; undefined for anything else of that name (a folder, a pipe), which is
 * never waited for, and for a file of more than `most` bytes.
 * Throws what the file system throws.
 */
export function readPlain(path: string, most = Number.POSITIVE_INFINITY): Buffer | undefined {
  // Opening a pipe would wait for somebody who writes into it. Windows has no such flag, nor pipes.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    return found.isFile() && found.size <= most ? readFileSync(file) : undefined;
  } finally {
    closeSync(file);
  }
}
