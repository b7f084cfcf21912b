import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../files/error-code.ts';
import { readPlain } from '../files/plain.ts';
import { textOfUtf8 } from '../files/utf8.ts';
import { isUuid } from '../rules/ids.ts';
import { sha256 } from './sha256.ts';

/** The places in the folder of one owner. */
export const PLACES = ['open', 'settled', 'machines', 'archive'] as const;
export type Place = (typeof PLACES)[number];

/** Larger files are not ours. */
const LARGEST = 1024 * 1024;

/** Files after which a signal is heard that came meanwhile. */
const AT_ONCE = 256;

export interface FoundFile {
  readonly path: string;
  /** Without the folder. */
  readonly name: string;
  /** undefined for what is no file, too large, unreadable, or not UTF-8. */
  readonly text: string | undefined;
}

/**
 * The `.json` files of a folder, by name; no files where there is no folder. Names of other endings
 * are files that are being written, or were when a process was killed.
 * Throws what the file system throws when the folder itself can't be read.
 */
export async function filesIn(folder: string): Promise<FoundFile[]> {
  const entries = entriesOf(folder).sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: FoundFile[] = [];
  for (const [at, entry] of entries.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    const { name } = entry;
    const path = join(folder, name);
    const text = entry.isFile() ? readText(path) : undefined;
    // Another process may have moved it on just now: then it is no file of this folder any more.
    if (text !== undefined || exists(path)) found.push({ path, name, text });
  }
  return found;
}

function entriesOf(folder: string): Dirent[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter(({ name }) => name.endsWith('.json'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') {
      return [];
    }
    throw error;
  }
}

export function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ENOENT';
  }
}

/** The text of a file of ours; undefined when it is none, or is not there. */
export function readText(path: string): string | undefined {
  try {
    const bytes = readPlain(path, LARGEST);
    return bytes && textOfUtf8(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The name of a machine's file. Ids of the service are UUIDs; any other is hashed, since file
 * systems know names that are no names (`con`), and some see no difference between `A` and `a`.
 */
export function machineFile(id: string): string {
  const plain = isUuid(id) && id === id.toLowerCase();
  return `${plain ? id : `x${sha256(id).slice(0, 32)}`}.json`;
}
