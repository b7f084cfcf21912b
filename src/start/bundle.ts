import { fstatSync, openSync, readSync } from 'node:fs';

/** The program, as scripts/parts.mjs writes it. */
export interface Bundle {
  readonly file: string;
  /** Hash of its content. */
  readonly hash: string;
  /** The part that contains a chunk, and the chunk's index there. */
  placeOf(chunk: number): readonly [part: number, index: number];
  /** Source of an array of functions, one per chunk of the part. */
  textOf(part: number): string;
}

/** Start and length of each part, and the number of its first chunk. */
type Table = readonly (readonly [at: number, length: number, first: number])[];

/** Limit for the first two lines: the hash in a comment, and the table. */
const HEAD_BYTES = 4 * 1024;

/**
 * Opens the file for the process's lifetime and reads the parts that the run needs. An upgrade during
 * the run replaces the file, and the run continues with the old one.
 *
 * File system errors pass through; throws SyntaxError for a file that is not a bundle.
 */
export function openBundle(file: string): Bundle {
  const fd = openSync(file, 'r');
  const head = read(fd, 0, Math.min(HEAD_BYTES, fstatSync(fd).size));
  const [comment = '', json = ''] = head.split('\n', 2);
  const table: Table = JSON.parse(json);
  const start = comment.length + json.length + 2;
  return {
    file,
    hash: comment.slice(2),
    placeOf(chunk) {
      const part = table.findLastIndex(([, , first]) => first <= chunk);
      const [, , first] = table[part] ?? [0, 0, 0];
      return [part, chunk - first];
    },
    textOf(part) {
      const [at, length] = table[part] ?? [0, 0];
      return read(fd, start + at, length);
    },
  };
}

/** The file is ASCII, which Node reads several times faster than UTF-8. */
function read(fd: number, from: number, length: number): string {
  const bytes = Buffer.allocUnsafeSlow(length);
  if (readSync(fd, bytes, 0, length, from) < length) throw new Error('the bundle is cut short');
  return bytes.toString('latin1');
}
