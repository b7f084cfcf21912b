import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Table } from './loader.ts';

/** The bundle, as scripts/parts.mjs writes it. */
export interface Bundle {
  readonly file: string;
  /** A hash of its bytes. */
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly table: Table;
  /** The source of an object of functions, one for each chunk of the part. */
  textOf(part: number): string;
}

/** The first line is `//` and the name. */
const NAME_AT = 2;
const TABLE_BEGINS = 'const table=';
const TABLE_ENDS = ';';

/**
 * Reads the whole file, though a run needs parts of it only: a machine may be rented while an
 * upgrade puts another gpucloud in its place, and what is done next must be code of the same one.
 *
 * Throws what the file system throws, and what JSON.parse throws for a file that is none of ours.
 */
export function readBundle(file: string): Bundle {
  const { bytes, mtimeMs } = read(file);
  const nameEnd = bytes.indexOf('\n');
  const tableEnd = bytes.indexOf('\n', nameEnd + 1);
  // All of it is ASCII, which is read several times faster than UTF-8.
  const text = (from: number, to: number) => bytes.toString('latin1', from, to);
  const table: Table = JSON.parse(
    text(nameEnd + 1 + TABLE_BEGINS.length, tableEnd - TABLE_ENDS.length),
  );
  return {
    file,
    name: text(NAME_AT, nameEnd),
    size: bytes.length,
    mtimeMs,
    table,
    textOf(part) {
      const [at, length] = table[part] ?? [0, 0];
      return text(tableEnd + 1 + at, tableEnd + 1 + at + length);
    },
  };
}

function read(file: string): { bytes: Buffer; mtimeMs: number } {
  const fd = openSync(file, 'r');
  try {
    const { size, mtimeMs } = fstatSync(fd);
    const bytes = Buffer.allocUnsafeSlow(size);
    for (let at = 0; at < size; ) {
      const count = readSync(fd, bytes, at, size - at, at);
      if (count === 0) throw new Error(`${file} is cut short`);
      at += count;
    }
    return { bytes, mtimeMs };
  } finally {
    closeSync(fd);
  }
}
