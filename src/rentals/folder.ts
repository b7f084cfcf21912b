import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '../rules/ids.ts';

/** The places in the folder of one owner. */
export const PLACES = ['open', 'settled', 'machines', 'archive'] as const;
export type Place = (typeof PLACES)[number];

/** Larger files are not ours. */
const LARGEST = 1024 * 1024;

/** As many files at once as are quick and stay far from any limit on open ones. */
const AT_ONCE = 32;

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
  const entries = (await entriesOf(folder)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const found = new Array<FoundFile | undefined>(entries.length);
  const waiting = entries.entries();
  async function work(): Promise<void> {
    for (const [at, entry] of waiting) {
      const path = join(folder, entry.name);
      const text = await textOf(entry, path);
      // Another process may have moved it on just now: then it is no file of this folder any more.
      const isThere = text !== undefined || (await exists(path));
      found[at] = isThere ? { path, name: entry.name, text } : undefined;
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, entries.length) }, work));
  return found.filter((file) => file !== undefined);
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter(({ name }) => name.endsWith('.json'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return [];
    }
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}

async function textOf(entry: Dirent, path: string): Promise<string | undefined> {
  // A pipe would be waited for without an end.
  return entry.isFile() ? readText(path) : undefined;
}

/** The text of a file of ours; undefined when it is none, or is not there. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    const handle = await open(path, 'r');
    try {
      const { size } = await handle.stat();
      if (size > LARGEST) return undefined;
      return new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile());
    } finally {
      await handle.close();
    }
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
  return `${plain ? id : `x${createHash('sha256').update(id).digest('hex').slice(0, 32)}`}.json`;
}
