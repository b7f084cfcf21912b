import { copyFileSync, type Dirent, lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../files/error-code.ts';
import { readPlain } from '../files/plain.ts';
import { privateFolder } from '../files/private-folder.ts';
import { replaceFile, syncFolder } from '../files/replace.ts';
import { textOfUtf8 } from '../files/utf8.ts';

/** Bytes; a file of the journal is a hundredth of that. */
const LARGEST = 1024 * 1024;

/** Files after which a signal is heard that came while reading. */
const AT_ONCE = 256;

export interface FoundFile {
  readonly path: string;
  /** Without the folder and `.json`. */
  readonly name: string;
  /** undefined for one that can't be read. */
  readonly text: string | undefined;
}

/**
 * The `.json` files of a folder, by name; none if there is no folder. Throws what the file system
 * throws if the folder itself can't be read.
 */
export async function filesIn(folder: string): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  for (const [at, file] of namesIn(folder).sort().entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    if (!file.endsWith('.json')) continue;
    const path = join(folder, file);
    const text = readText(path);
    // Another process may have moved it since the folder was read.
    if (text !== undefined || exists(path)) found.push({ path, name: file.slice(0, -5), text });
  }
  return found;
}

/** The names in a folder; none if there is no folder. */
export function namesIn(folder: string): string[] {
  return entriesIn(folder).map(({ name }) => name);
}

/** The folders in a folder, without files of other programs, such as `.DS_Store`. */
export function foldersIn(folder: string): string[] {
  return entriesIn(folder).flatMap((entry) => (entry.isFile() ? [] : entry.name));
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

export function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The text of a file of ours; undefined if it can't be read, or is not there. */
export function readText(path: string): string | undefined {
  try {
    const bytes = readPlain(path, LARGEST);
    return bytes && textOfUtf8(bytes);
  } catch {
    return undefined;
  }
}

/** Writes a whole record: after a crash the old or the new one is there. */
export async function writeRecord(path: string, record: object): Promise<void> {
  await privateFolder(dirname(path));
  await replaceFile(path, textOfRecord(record));
}

export function textOfRecord(record: object): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** Keeps a copy of a file that can't be understood, before another is written in its place. */
export function keepUnreadable(path: string): void {
  copyFileSync(path, `${path}.unreadable`);
}

/** Removes a file for good: it doesn't come back after a power cut. */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
  syncFolder(dirname(path));
}
