import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from './replace.ts';

/** A file that is on disk in its final size, and stays open for a later change in place. */
export interface ReservedFile {
  /**
   * Writes bytes over those at `offset` and waits until they are on disk. It needs no space, no
   * larger file and no right to the folder any more.
   * Throws what the file system throws, and {@link GoneError} when the name does not lead to this
   * file any more, so that nobody would ever read what was written.
   */
  overwrite(offset: number, bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** The file was written to, but stands under its name no more: it was removed, or replaced. */
export class GoneError extends Error {
  constructor(path: string) {
    super(`${path} was removed or replaced in the meantime`);
    this.name = 'GoneError';
  }
}

/**
 * Puts a new file (0600) under a name, whole or not at all: written under a name that nobody reads,
 * fsynced and read back, renamed, then the folder fsynced. After that the file lasts through a power
 * cut. Its folder must be there.
 * Throws what the file system throws; then there is no file of that name.
 */
export async function reserveFile(path: string, content: string): Promise<ReservedFile> {
  const temporary = `${path}.new`;
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
    if ((await readFile(temporary, 'utf8')) !== content) {
      throw new Error(`${temporary} does not hold what was written to it`);
    }
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await handle.close();
    await Promise.all([rm(temporary, { force: true }), rm(path, { force: true })]);
    throw error;
  }
  return reserved(handle, path);
}

function reserved(handle: FileHandle, path: string): ReservedFile {
  return {
    async overwrite(offset, bytes) {
      let done = 0;
      while (done < bytes.length) {
        const { bytesWritten } = await handle.write(
          bytes,
          done,
          bytes.length - done,
          offset + done,
        );
        if (bytesWritten === 0) throw new Error('the file takes no more bytes');
        done += bytesWritten;
      }
      await handle.datasync();
      if (!(await isThere(handle, path))) throw new GoneError(path);
    },
    close: () => handle.close(),
  };
}

/** Whether a name still leads to an open file. A folder that can't be looked into has not lost it. */
async function isThere(handle: FileHandle, path: string): Promise<boolean> {
  const open = await handle.stat({ bigint: true });
  if (open.nlink === 0n) return false;
  try {
    const named = await stat(path, { bigint: true });
    return named.ino === open.ino && named.dev === open.dev;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}
