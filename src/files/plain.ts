import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

// Reads and writes gpucloud's own small files synchronously. A thread pool round trip costs more
// than the I/O, and a run needs dozens. Not for paths from users, which may be pipes or terminals.

/**
 * Returns the bytes of a regular file of at most `most` bytes, otherwise undefined. Throws file
 * system errors.
 */
export function readPlain(path: string, most = Number.POSITIVE_INFINITY): Buffer | undefined {
  // Without this flag, opening a pipe waits for a writer. Windows has neither the flag nor such
  // pipes.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    return found.isFile() && found.size <= most ? readFileSync(file) : undefined;
  } finally {
    closeSync(file);
  }
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
