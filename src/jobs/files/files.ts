import { lstat, readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { usageError } from '../../errors.ts';
import { errorCode, faultOf } from '../../system/error-code.ts';
import { textOfUtf8 } from '../../system/files.ts';

/** Of the top folder only. Its patterns count instead of those of all .gitignore files. */
const [OWN, GIT] = ['.gpucloudignore', '.gitignore'] as const;

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
  /** Files and folders that a pattern leaves out, except `.git`. A folder ends with a slash. */
  readonly leftOut: readonly string[];
  /** The files whose patterns count. */
  readonly rules: typeof OWN | typeof GIT | undefined;
}

/** What `--sync` leaves out. */
export interface Selection {
  /** Patterns of `--exclude`. */
  readonly exclude: readonly string[];
  /** Whether .gitignore files count. */
  readonly gitignore: boolean;
  /** The flag or field of the folder, for messages. */
  readonly flag?: string;
}

/**
 * Lists the files that `--sync` copies: all except `.git`, the patterns of .gpucloudignore or else of
 * the .gitignore files, and `exclude`.
 *
 * @throws a usage error for a folder that can't be read.
 */
export async function listFiles(folder: string, selection: Selection): Promise<FileList> {
  const own = await patternsIn(join(folder, OWN));
  const rules = own === undefined ? (selection.gitignore ? GIT : undefined) : OWN;
  const found: Found = { entries: [], special: [], leftOut: [] };
  const { exclude, flag = '--sync' } = selection;
  await walk({ folder, rules, exclude, found, flag }, '', patternsOf(own ?? [], exclude));
  return { folder, ...found, ...listOf(found.entries), rules };
}

/** Counts the files and links of a list. */
export function listOf(entries: readonly Entry[]): Pick<FileList, 'entries' | 'count' | 'bytes'> {
  const files = entries.filter(({ kind }) => kind !== 'folder');
  return { entries, count: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}

/** Returns undefined for a missing file. */
async function patternsIn(path: string): Promise<string[] | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    // If the folder itself is a file, listing it fails with a clearer message.
    if (['ENOENT', 'ENOTDIR'].includes(faultOf(error))) return undefined;
    throw usageError(`${path} can't be read (${faultOf(error)})`);
  }
  const text = textOfUtf8(bytes);
  // PowerShell may write UTF-16, in which no pattern would match.
  if (text === undefined) throw usageError(`${path}: must be UTF-8`);
  return text.split(/\r?\n/);
}

/** Makes a pattern of a .gitignore file in the folder `below` relative to the top folder. */
function inTop(line: string, below: string): string[] {
  const not = line.startsWith('!') ? '!' : '';
  const pattern = line.slice(not.length).replace(/ +$/, '');
  if (line.startsWith('#') || /^\/*$/.test(pattern)) return [];
  // A pattern with a slash, except at its end, is relative to its file's folder.
  const isAnchored = pattern.slice(0, -1).includes('/');
  const folder = below.replace(/[\\*?[\]]/g, '\\$&');
  return [`${not}/${folder}/${isAnchored ? pattern.replace(/^\//, '') : `**/${pattern}`}`];
}

interface Found {
  readonly entries: Entry[];
  readonly special: string[];
  readonly leftOut: string[];
}

interface Walk {
  readonly folder: string;
  readonly rules: FileList['rules'];
  readonly exclude: readonly string[];
  readonly found: Found;
  readonly flag: string;
}

interface Patterns {
  readonly lines: readonly string[];
  readonly matcher: Ignore;
}

/** A later pattern takes precedence over an earlier one. */
function patternsOf(lines: readonly string[], exclude: readonly string[]): Patterns {
  const matcher = ignore({ allowRelativePaths: false, ignorecase: false })
    .add('.git')
    .add([...lines])
    .add([...exclude]);
  return { lines, matcher };
}

/** `above`: the patterns of the folders above. */
async function walk(one: Walk, below: string, above: Patterns): Promise<void> {
  const { folder, rules, exclude, found, flag } = one;
  const content = await inFolder(join(folder, below), below === '', flag);
  let patterns = above;
  // As git does, reads no .gitignore that is a link.
  const isThere = rules === GIT && content.some((entry) => entry.name === GIT && entry.isFile());
  const own = isThere ? await patternsIn(join(folder, below, GIT)) : undefined;
  if (own !== undefined) {
    const lines = below === '' ? own : own.flatMap((line) => inTop(line, below));
    patterns = patternsOf([...above.lines, ...lines], exclude);
  }
  for (const entry of content) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    const isFolder = entry.isDirectory();
    const matched = isFolder ? `${path}/` : path;
    if (patterns.matcher.ignores(matched)) {
      if (entry.name !== '.git') found.leftOut.push(matched);
    } else if (entry.name.includes(UNREADABLE)) {
      found.special.push(path);
    } else if (isFolder) {
      found.entries.push({ path, kind: 'folder', size: 0 });
      await walk(one, path, patterns);
    } else if (entry.isSymbolicLink()) {
      found.entries.push({ path, kind: 'link', size: 0 });
    } else if (entry.isFile()) {
      const size = await sizeOf(join(folder, path), flag);
      if (size !== undefined) found.entries.push({ path, kind: 'file', size });
    } else {
      found.special.push(path);
    }
  }
}

/** Replaces bytes that are not UTF-8; a name with this character can't be opened. */
const UNREADABLE = '\uFFFD';

/** Treats a folder that vanished during listing as empty. */
async function inFolder(path: string, isRoot: boolean, flag: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (!isRoot && errorCode(error) === 'ENOENT') return [];
    throw usageError(`${flag}: the folder "${path}" can't be read (${faultOf(error)})`);
  }
}

async function sizeOf(path: string, flag: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw usageError(`${flag}: the file "${path}" can't be read (${faultOf(error)})`);
  }
}

/** An entry of the top folder, or one that is left out, with the size of its content. */
export interface Sized {
  readonly path: string;
  readonly bytes: number;
}

/** What the plan of a job says about the files. */
export interface Overview {
  readonly largest: readonly Sized[];
  readonly leftOut: {
    readonly count: number;
    readonly bytes: number;
    readonly largest: readonly Sized[];
    /** Whether there are more files than it counted. */
    readonly isPart: boolean;
  };
}

const NAMED = 3;

/** Maximum number of left-out files to count, since `data/` may have millions on a slow disk. */
const MOST_COUNTED = 20_000;

/** Names the largest entries, and counts what is left out. */
export async function overviewOf(
  { folder, entries, leftOut }: Pick<FileList, 'folder' | 'entries' | 'leftOut'>,
  most = MOST_COUNTED,
): Promise<Overview> {
  const tops = new Map<string, number>();
  for (const { path, size } of entries) {
    const [top = ''] = path.split('/');
    tops.set(top, (tops.get(top) ?? 0) + size);
  }
  let count = 0;
  const sizes = new Map<string, number>();
  for (const path of leftOut) {
    let bytes = 0;
    for await (const size of sizesIn(join(folder, path))) {
      count += 1;
      bytes += size;
      if (count === most) break;
    }
    sizes.set(path, bytes);
    if (count === most) break;
  }
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const left = { count, bytes, largest: largestOf(sizes), isPart: count === most };
  return { largest: largestOf(tops), leftOut: left };
}

function largestOf(sizes: ReadonlyMap<string, number>): Sized[] {
  const sorted = [...sizes].sort(([, one], [, other]) => other - one);
  return sorted.slice(0, NAMED).map(([path, bytes]) => ({ path, bytes }));
}

/** Sizes of the files at a path; a folder ends with `sep`. What can't be read is not copied either. */
async function* sizesIn(path: string): AsyncGenerator<number> {
  if (!path.endsWith(sep)) {
    const found = await lstat(path).catch(() => undefined);
    if (found !== undefined) yield found.isFile() ? found.size : 0;
    return;
  }
  for (const entry of await readdir(path, { withFileTypes: true }).catch(() => []))
    yield* sizesIn(`${path}${entry.name}${entry.isDirectory() ? sep : ''}`);
}
