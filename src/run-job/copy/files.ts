import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { usageError } from '../../errors.ts';
import { errorCode, faultOf } from '../../files/error-code.ts';
import { textOfUtf8 } from '../../files/plain.ts';

/** Uses .gitignore syntax. Only the file in the top folder is read. */
const IGNORE_FILE = '.gpucloudignore';

/** A file or folder to copy, by its path relative to the folder, with slashes. */
export interface Entry {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'folder';
  /** Size in bytes; 0 for anything except a file. */
  readonly size: number;
}

export interface FileList {
  readonly folder: string;
  /** Folders come before their content. */
  readonly entries: readonly Entry[];
  /** Files and links. */
  readonly count: number;
  readonly bytes: number;
  /** Skipped entries: sockets, pipes, devices, and names that are not UTF-8. */
  readonly special: readonly string[];
}

/**
 * Lists the files that `--sync` copies: all except `.git` and the patterns of .gpucloudignore and
 * `exclude`.
 *
 * @throws a usage error for a folder that can't be read.
 */
export async function listFiles(folder: string, exclude: readonly string[]): Promise<FileList> {
  const ignored = ignore({ allowRelativePaths: false, ignorecase: false })
    .add('.git')
    .add(await patternsIn(folder))
    .add([...exclude]);
  const found: Found = { entries: [], special: [] };
  await walk(folder, '', ignored, found);
  const files = found.entries.filter(({ kind }) => kind !== 'folder');
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return { folder, ...found, count: files.length, bytes };
}

async function patternsIn(folder: string): Promise<string> {
  const path = join(folder, IGNORE_FILE);
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    // If the folder itself is a file, listing it fails with a clearer message.
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return '';
    throw usageError(`${path} can't be read (${faultOf(error)})`);
  }
  const text = textOfUtf8(bytes);
  // PowerShell may write UTF-16, in which no pattern would match.
  if (text === undefined) throw usageError(`${path}: must be UTF-8`);
  return text;
}

interface Found {
  readonly entries: Entry[];
  readonly special: string[];
}

async function walk(folder: string, below: string, ignored: Ignore, found: Found): Promise<void> {
  for (const one of await inFolder(join(folder, below), below === '')) {
    const path = below === '' ? one.name : `${below}/${one.name}`;
    const isFolder = one.isDirectory();
    if (ignored.ignores(isFolder ? `${path}/` : path)) continue;
    if (one.name.includes(UNREADABLE)) {
      found.special.push(path);
    } else if (isFolder) {
      found.entries.push({ path, kind: 'folder', size: 0 });
      await walk(folder, path, ignored, found);
    } else if (one.isSymbolicLink()) {
      found.entries.push({ path, kind: 'link', size: 0 });
    } else if (one.isFile()) {
      const size = await sizeOf(join(folder, path));
      if (size !== undefined) found.entries.push({ path, kind: 'file', size });
    } else {
      found.special.push(path);
    }
  }
}

/** Replaces bytes that are not UTF-8; a name with this character can't be opened. */
const UNREADABLE = '\uFFFD';

/** Treats a folder that vanished during listing as empty. */
async function inFolder(path: string, isRoot: boolean) {
  try {
    return (await readdir(path, { withFileTypes: true })).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  } catch (error) {
    if (!isRoot && errorCode(error) === 'ENOENT') return [];
    throw usageError(`--sync: the folder "${path}" can't be read (${faultOf(error)})`);
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw usageError(`--sync: the file "${path}" can't be read (${faultOf(error)})`);
  }
}
