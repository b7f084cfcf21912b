import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './error-code.ts';
import { checkArrived, syncFolder } from './replace.ts';

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
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
    checkArrived(temporary, content);
    renameSync(temporary, path);
    syncFolder(dirname(path));
  } catch (error) {
    closeSync(file);
    for (const name of [temporary, path]) rmSync(name, { force: true });
    throw error;
  }
  return reserved(file, path);
}

function reserved(file: number, path: string): ReservedFile {
  let isOpen = true;
  return {
    async overwrite(offset, bytes) {
      let done = 0;
      while (done < bytes.length) {
        const taken = writeSync(file, bytes, done, bytes.length - done, offset + done);
        if (taken === 0) throw new Error('the file takes no more bytes');
        done += taken;
      }
      fdatasyncSync(file);
      if (!isThere(file, path)) throw new GoneError(path);
    },
    async close() {
      // By a second time, the number may be another file's.
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}

/** Whether a name still leads to an open file. A folder that can't be looked into has not lost it. */
function isThere(file: number, path: string): boolean {
  const open = fstatSync(file, { bigint: true });
  if (open.nlink === 0n) return false;
  try {
    const named = statSync(path, { bigint: true });
    return named.ino === open.ino && named.dev === open.dev;
  } catch (error) {
    return errorCode(error) !== 'ENOENT';
  }
}
