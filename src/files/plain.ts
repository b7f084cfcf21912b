import { isUtf8 } from 'node:buffer';
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

/**
 * Decodes UTF-8 without a byte order mark; returns undefined for invalid bytes. A strict TextDecoder
 * does the same, but takes longer to create than such a text takes to read.
 */
export function textOfUtf8(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
