import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath, stat, statfs, unlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Clock } from '../../clock.ts';
import { errorCode } from '../../files/error-code.ts';
import { sizeText } from '../phases.ts';
import { copyFailed, notStored, unwritable } from './copy-failed.ts';

/** The local destination of a fetched file. */
export interface Place {
  /** For a regular file, the path contains no symlinks. */
  readonly path: string;
  /**
   * `file`: missing, or a regular file, which is replaced once the new one is complete. `stream`: a
   * device or a pipe, which receives the bytes as they arrive.
   */
  readonly kind: 'file' | 'folder' | 'stream' | 'dangling link' | 'stdout' | 'stderr';
}

/**
 * Names of gpucloud's own streams. Opening such a name fails for a socket, and overwrites a file
 * from its start.
 */
const STANDARD = /^\/(?:dev\/std(out|err)|(?:dev|proc\/self)\/fd\/([12]))$/;

/**
 * Chooses the destination as cp does: into a folder that exists or ends with a slash, otherwise
 * under that name.
 */
export async function placeOf(local: string, name: string): Promise<Place> {
  const path = (await isFolder(local)) ? join(local, name) : local;
  const [isStandard, word, number] = STANDARD.exec(path) ?? [];
  if (isStandard !== undefined) {
    return { path, kind: word === 'out' || number === '1' ? 'stdout' : 'stderr' };
  }
  // If the path can't be read, its folder can't be written either, and the next check reports that.
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    const link = await lstat(path).catch(() => undefined);
    return { path, kind: link?.isSymbolicLink() === true ? 'dangling link' : 'file' };
  }
  if (found.isFile()) return { path: await realpath(path), kind: 'file' };
  return { path, kind: found.isDirectory() ? 'folder' : 'stream' };
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
  const file = await open(path, 'wx', mode).catch((error: unknown) => {
    throw errorCode(error) === 'EEXIST' ? error : unwritable(path, error);
  });
  try {
    await writeAll(file, chunks, path, mtime);
  } catch (error) {
    await unlink(path).catch((cause: unknown) => {
      throw unwritable(path, cause);
    });
    throw error;
  }
}

async function writeAll(
  file: FileHandle,
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  mtime: Date | undefined,
): Promise<void> {
  try {
    for await (const chunk of chunks) await writeWhole(file, chunk, path);
    if (mtime !== undefined) {
      await file.utimes(mtime, mtime).catch((error: unknown) => {
        throw unwritable(path, error);
      });
    }
  } finally {
    // Some file systems report a full disk only on close.
    await file.close().catch((error: unknown) => {
      throw unwritable(path, error);
    });
  }
}

async function writeWhole(file: FileHandle, chunk: Uint8Array, path: string): Promise<void> {
  try {
    for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Pause before a retry on a full pipe, in milliseconds. */
const FULL = 1;

interface Writing {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Writes to a device or a pipe. Never blocks in a system call, since no signal could interrupt it.
 * A pipe without a reader is an error, and a full pipe is retried.
 */
export async function writeInto(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  { clock, signal }: Writing,
): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      throw errorCode(error) === 'ENXIO'
        ? copyFailed('out', `nothing reads ${path}`, { cause: error, retryable: true })
        : unwritable(path, error);
    },
  );
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; ) {
        const taken = await file.write(chunk, at).catch((error: unknown) => {
          if (errorCode(error) === 'EAGAIN') return undefined;
          throw unwritable(path, error);
        });
        if (taken === undefined) await clock.sleep(FULL, signal);
        else at += taken.bytesWritten;
      }
    }
  } finally {
    await file.close();
  }
}
