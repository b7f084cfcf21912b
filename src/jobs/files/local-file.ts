import { type FileHandle, lstat, open, realpath, stat, statfs, unlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { errorCode } from '../../system/error-code.ts';
import { sizeText } from '../phases.ts';
import { notStored, orUnwritable, unwritable } from './copy-failed.ts';

/** The local destination of a fetched file. */
export interface Place {
  /** For a regular file, the path contains no symlinks. */
  readonly path: string;
  /**
   * `file`: missing, or a regular file, which is replaced once the new one is complete. `other`: a
   * device, a pipe or a socket, to which nothing is fetched.
   */
  readonly kind: 'file' | 'folder' | 'other' | 'dangling link';
}

/** Names of a process's own streams. Behind such a name may be a file, which others write. */
const STREAM = /^\/(?:dev\/(?:std\w+|fd\/.*)|proc\/.*)$/;

/**
 * Chooses the destination as cp does: into a folder that exists or ends with a slash, otherwise
 * under that name.
 */
export async function placeOf(local: string, name: string): Promise<Place> {
  const path = (await isFolder(local)) ? join(local, name) : local;
  if (STREAM.test(path)) return { path, kind: 'other' };
  // If the path can't be read, its folder can't be written either, and the next check reports that.
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    const link = await lstat(path).catch(() => undefined);
    return { path, kind: link?.isSymbolicLink() === true ? 'dangling link' : 'file' };
  }
  if (found.isFile()) return { path: await realpath(path), kind: 'file' };
  return { path, kind: found.isDirectory() ? 'folder' : 'other' };
}

/** A trailing slash means a folder, whether it exists or not. */
export async function isFolder(path: string): Promise<boolean> {
  if (path.endsWith(sep)) return true;
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** In bytes. Smaller files need no check of the free space. */
const LARGE = 1_000_000;

/** Refuses a file that does not fit on the disk of a folder. */
export async function ensureRoom(folder: string, path: string, size: number): Promise<void> {
  const lack = await lackOfRoom(folder, path, size);
  if (lack !== undefined) throw notStored(lack);
}

/** Explains why a file does not fit on the disk of a folder; undefined if it may fit. */
export async function lackOfRoom(
  folder: string,
  path: string,
  size: number,
): Promise<string | undefined> {
  if (size < LARGE) return undefined;
  const disk = await statfs(folder).catch(() => undefined);
  // Some file systems don't report their size.
  if (disk === undefined || disk.blocks === 0) return undefined;
  const free = disk.bfree * disk.bsize;
  if (size <= free) return undefined;
  return `no space for ${path}: it has ${sizeText(size)}, and the disk has ${sizeText(free)} left`;
}

interface NewFile {
  /** The umask further restricts this mode. */
  readonly mode: number;
  readonly mtime?: Date | undefined;
}

/**
 * Writes a new file, and removes it if it is incomplete. Throws EEXIST, unwrapped, if the path
 * exists, even as a dangling link.
 */
export async function writeNew(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  { mode, mtime }: NewFile,
): Promise<void> {
  const file = await unlessThere(path, open(path, 'wx', mode));
  try {
    await writeAll(file, chunks, path, mtime);
  } catch (error) {
    await orUnwritable(path, unlink(path));
    throw error;
  }
}

/** Throws EEXIST, unwrapped, or else that a path can't be written. */
export function unlessThere<T>(path: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw errorCode(error) === 'EEXIST' ? error : unwritable(path, error);
  });
}

async function writeAll(
  file: FileHandle,
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  mtime: Date | undefined,
): Promise<void> {
  try {
    for await (const chunk of chunks) await orUnwritable(path, writeWhole(file, chunk));
    if (mtime !== undefined) await orUnwritable(path, file.utimes(mtime, mtime));
  } finally {
    // Some file systems report a full disk only on close.
    await orUnwritable(path, file.close());
  }
}

async function writeWhole(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
}
