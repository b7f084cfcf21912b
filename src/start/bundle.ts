import { fstatSync, openSync, readSync, type Stats } from 'node:fs';
import type { Table } from './loader.ts';
import { scratch } from './scratch.ts';

/** The bundle, as scripts/parts.mjs writes it. */
export interface Bundle {
  readonly file: string;
  /** A hash of its bytes. */
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly table: Table;
  /** The source of an expression: a list of functions, one for each chunk of the part. */
  textOf(part: number): string;
}

/** The first line is `//` and the name. */
const NAME_AT = 2;
const TABLE_BEGINS = 'const table=';
const TABLE_ENDS = ';';
/** The first two lines are shorter. */
const HEAD_BYTES = 4 * 1024;

/**
 * Opens the file for as long as the process lives, and reads of it what the run needs. A machine may
 * be rented while an upgrade puts another gpucloud in its place: what is open stays the old one, of
 * which all code of the run then is.
 *
 * Throws what the file system throws, and what JSON.parse throws for a file that is none of ours;
 * so does `textOf` for a file that was written over in place, which no installer does.
 */
export function readBundle(file: string): Bundle {
  const fd = openSync(file, 'r');
  const opened = fstatSync(fd);
  const head = read(fd, 0, Math.min(HEAD_BYTES, opened.size));
  const nameEnd = head.indexOf('\n');
  const tableEnd = head.indexOf('\n', nameEnd + 1);
  const table: Table = JSON.parse(
    head.slice(nameEnd + 1 + TABLE_BEGINS.length, tableEnd - TABLE_ENDS.length),
  );
  return {
    file,
    name: head.slice(NAME_AT, nameEnd),
    size: opened.size,
    mtimeMs: opened.mtimeMs,
    table,
    textOf(part) {
      const [at, length] = table[part] ?? [0, 0];
      const text = read(fd, tableEnd + 1 + at, length);
      if (!isSame(fstatSync(fd), opened)) {
        throw new Error(
          `${file} was written over in place while it ran. What was done before stays done: look with "gpucloud instances list" before you do it again`,
        );
      }
      return text;
    },
  };
}

/** All of it is ASCII, which is read several times faster than UTF-8. */
function read(fd: number, from: number, length: number): string {
  const bytes = scratch(length);
  for (let at = 0; at < length; ) {
    const count = readSync(fd, bytes, at, length - at, from + at);
    if (count === 0) throw new Error('the bundle is cut short');
    at += count;
  }
  return bytes.toString('latin1');
}

function isSame(now: Stats, then: Stats): boolean {
  return now.size === then.size && now.mtimeMs === then.mtimeMs;
}
