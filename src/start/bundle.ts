import { fstatSync, openSync, readSync } from 'node:fs';

/** gpucloud's code, as scripts/modules.mjs writes it. */
export interface Bundle {
  readonly file: string;
  /** Hash of the file's content. */
  readonly hash: string;
  /** Returns the source of a module's function. */
  textOf(number: number): string;
}

/** Limit for the first two lines: the hash in a comment, and the modules' lengths. */
const HEAD_BYTES = 8 * 1024;

/**
 * Opens the file for the process's lifetime and reads the modules that the run needs. If an upgrade
 * replaces the file, the run continues with the old file.
 *
 * Passes on file system errors; throws SyntaxError for a file that is not a bundle.
 */
export function openBundle(file: string): Bundle {
  const fd = openSync(file, 'r');
  let bytes = Buffer.allocUnsafeSlow(HEAD_BYTES);
  const head = bytes.toString('latin1', 0, readSync(fd, bytes, 0, HEAD_BYTES, 0));
  const [comment = '', json = ''] = head.split('\n', 2);
  const lengths: readonly number[] = JSON.parse(json);
  const places: number[] = [];
  let end = comment.length + json.length + 2;
  for (const length of lengths) {
    places.push(end);
    end += length;
  }
  // Check the size before running anything.
  if (fstatSync(fd).size !== end) throw new Error('the bundle is cut short');
  bytes = Buffer.allocUnsafeSlow(Math.max(...lengths));
  return {
    file,
    hash: comment.slice(2),
    textOf(number) {
      const length = Number(lengths[number]);
      if (readSync(fd, bytes, 0, length, Number(places[number])) < length) {
        throw new Error('the bundle is cut short');
      }
      // Reads ASCII: Node does that several times faster than UTF-8.
      return bytes.toString('latin1', 0, length);
    },
  };
}
