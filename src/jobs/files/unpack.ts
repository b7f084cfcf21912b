import { constants, copyFile, link, lstat, mkdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { CliError } from '../../errors.ts';
import { errorCode } from '../../system/error-code.ts';
import { copyFailed, isNotStored, notStored, unwritable } from './copy-failed.ts';
import { ensureRoom, unlessThere, writeNew } from './local-file.ts';
import { type Entry, extract, type Headers } from './tar.ts';

/** A symlink of an archive. */
export interface Link {
  /** Relative to the folder, with slashes. */
  readonly path: string;
  /** Link target, as the instance sent it. */
  readonly target: string;
}

/** Maximum bytes without an entry, since the archive reader keeps a long header in memory. */
const LONGEST_HEADER = 2 ** 20;
/** Maximum bytes of all links, since they are kept in memory, and the overhead per link. */
const [MOST_LINK_TEXT, PER_LINK] = [100_000_000, 200];

/** An archive's destination and the received entries. */
export interface Unpacking {
  /** An initially empty folder. Every file in it is complete, even if the copy fails. */
  readonly folder: string;
  readonly links: Link[];
  hasFiles: boolean;
  /** Whether the first segment of an entry's path may be this name. Undefined allows any name. */
  readonly mayBe?: ((name: string) => boolean) | undefined;
  /** The last entry of a broken archive. */
  at?: string | undefined;
  /** Reports a skipped entry, such as a device. */
  onSkipped(path: string): void;
  /** Reports an entry that this computer can't store. */
  onFailed(path: string, fault: CliError): void;
}

/**
 * Writes the folders and files of a tar archive into an empty folder. The archive comes from an
 * instance that may be hostile:
 *
 * - A path that leaves the folder is an error.
 * - Symlinks are not created but returned, so that no link can redirect a later entry.
 * - It ignores owners, set-uid and set-gid, and skips devices, pipes and duplicate names.
 *
 * Throws CliError, or the error of the reader for a broken archive.
 */
export async function unpack(chunks: AsyncIterable<Uint8Array>, into: Unpacking): Promise<void> {
  const { folder, links, mayBe } = into;
  const archive = extract();
  let sinceEntry = 0;
  async function* bounded() {
    for await (const chunk of chunks) {
      sinceEntry += chunk.length;
      if (sinceEntry > LONGEST_HEADER) throw copyFailed('out', 'the archive has too long a header');
      yield chunk;
    }
  }
  async function* contentOf(entry: Entry) {
    for await (const chunk of entry) {
      sinceEntry = 0;
      yield chunk;
    }
  }
  const fed = pipeline(bounded(), archive);
  // The loop rethrows the reader's errors.
  fed.catch(() => undefined);
  let linkText = 0;
  let made = folder;
  async function isTaken(header: Headers, content: AsyncIterable<Uint8Array>): Promise<boolean> {
    const path = inside(header.name);
    if (mayBe?.(path.replace(/\/.*/s, '')) === false) {
      throw copyFailed('out', `the instance sent "${path}", which does not match`);
    }
    const parent = join(folder, dirname(path));
    // Remembers the last folder, since an archive usually lists a folder's entries together.
    if (parent !== made) await makeFolder(parent);
    made = parent;
    if (header.type !== 'symlink') return path === '' || isMade(folder, path, header, content);
    const target = header.linkname ?? '';
    linkText += path.length + target.length + PER_LINK;
    if (linkText > MOST_LINK_TEXT) throw copyFailed('out', 'the archive has too many symlinks');
    links.push({ path, target });
    return true;
  }
  for await (const entry of archive) {
    sinceEntry = 0;
    const path = entry.header.name.replace(/^(?:\.\/+)+/, '');
    into.at = path;
    const content = contentOf(entry);
    // Omits `return`, so that a file that can't be written doesn't close the archive.
    const unclosed = { [Symbol.asyncIterator]: () => ({ next: () => content.next() }) };
    try {
      if (!(await isTaken(entry.header, unclosed))) into.onSkipped(path);
      else if (entry.header.type !== 'directory') into.hasFiles = true;
    } catch (error) {
      if (!isNotStored(error)) throw error;
      into.onFailed(path, error.cause === undefined ? error : unwritable(path, error.cause));
    }
    for await (const _rest of content);
  }
  await fed;
  into.at = undefined;
}

/**
 * Matches names that are unsafe on Windows: `\` and `:` change the path, and Windows drops final
 * dots and spaces.
 */
const UNSAFE = sep === '/' ? /\0/ : /[\0-\x1f\\:*?"<>|]|[. ]$/;

/**
 * Removes `./` and double slashes from a path; '' is the folder itself. Throws if the path leaves
 * the folder.
 */
function inside(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (name.startsWith('/') || parts.includes('..')) {
    throw copyFailed('out', `the instance sent "${name}", which is not a path in the folder`);
  }
  if (parts.some((part) => UNSAFE.test(part))) {
    throw notStored(`"${name}" can't be a path on this computer`);
  }
  return parts.join('/');
}

/** Creates an entry in an existing folder. Returns false if it skips the entry. */
async function isMade(
  folder: string,
  path: string,
  { type, mode = 0, size = 0, mtime, linkname }: Headers,
  content: AsyncIterable<Uint8Array>,
): Promise<boolean> {
  const made = join(folder, path);
  try {
    switch (type) {
      case 'directory':
        // Keeps the folder writable, so that its entries can be created.
        await makeFolder(made, (mode & 0o777) | 0o700);
        return true;
      case 'file':
      case 'contiguous-file':
        // The reader treats a negative or missing size as an endless file.
        if (!(size >= 0)) throw copyFailed('out', `the instance sent "${path}" without a size`);
        await ensureRoom(folder, path, size);
        await writeNew(made, content, {
          mode: mode & 0o777,
          mtime: validTime(mtime),
        });
        return true;
      case 'link':
        return await isLinked(join(folder, inside(linkname ?? '')), made);
      default:
        return false;
    }
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function validTime(time: Date | undefined): Date | undefined {
  return Number.isNaN(time?.getTime()) ? undefined : time;
}

export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  await mkdir(path, { recursive: true, mode }).catch((error: unknown) => {
    const isThere = errorCode(error) === 'EEXIST';
    throw isThere ? notStored(`${path} is not a folder`, error) : unwritable(path, error);
  });
}

/** Makes a hard link to an earlier entry, or a copy: some file systems don't support hard links. */
async function isLinked(from: string, to: string): Promise<boolean> {
  const there = await lstat(from).catch(() => undefined);
  if (there?.isFile() !== true) return false;
  const copied = () => copyFile(from, to, constants.COPYFILE_EXCL);
  await unlessThere(to, link(from, to).catch(copied));
  return true;
}
