import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../system/error-code.ts';
import type { FileList } from './files.ts';
import { type Headers, type Pack, pack } from './tar.ts';

/** Callbacks during packing, and the time in milliseconds. */
export interface PackListener {
  /** Reports a file that vanished or changed its size. The other files are copied. */
  onChanged(path: string): void;
  /** Reports the bytes of files in the archive so far. */
  onProgress(bytes: number): void;
  now(): number;
}

/** Streams a tar archive of the listed files. An error destroys the stream. */
export function packed(files: FileList, listener: PackListener): Pack {
  const archive = pack();
  const closed = new AbortController();
  archive.once('close', () => closed.abort());
  fill(archive, files, listener, closed.signal).then(
    () => archive.finalize(),
    (error: Error) => archive.destroy(error),
  );
  return archive;
}

async function fill(
  archive: Pack,
  { folder, entries }: FileList,
  { onChanged, onProgress, now }: PackListener,
  closed: AbortSignal,
): Promise<void> {
  let bytes = 0;
  for (const { path, kind } of entries) {
    const file = join(folder, path);
    try {
      const stats = await lstat(file);
      if (kind === 'file' && stats.isFile()) {
        const headers = { ...headersOf(path, stats), mtime: settledTime(stats, now()) };
        const onBytes = (count: number) => onProgress(bytes + count);
        if (await addFile(archive, { file, headers, onBytes }, closed)) onChanged(path);
        bytes += stats.size;
      } else if (kind === 'link' && stats.isSymbolicLink()) {
        const linkname = await readlink(file);
        archive.entry({ ...headersOf(path, stats), type: 'symlink', linkname });
      } else if (kind === 'folder' && stats.isDirectory()) {
        archive.entry({ ...headersOf(path, stats), type: 'directory', size: 0 });
      } else {
        onChanged(path);
      }
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      onChanged(path);
    }
  }
}

/** Omits owners, since the instance has other users. */
function headersOf(name: string, { mode, mtime, size }: Stats): Headers {
  return { name, mode: mode & 0o7777, mtime, size };
}

/**
 * Sets back the time of a file modified in the current second, since it may change again within
 * that second. An archive stores whole seconds, and an earlier time makes the next run send the
 * file again.
 */
function settledTime({ mtime, mtimeMs }: Stats, now: number): Date {
  const isSettled = Math.floor(mtimeMs / 1000) < Math.floor(now / 1000);
  return isSettled ? mtime : new Date(mtimeMs - 1000);
}

const CHUNK = 256 * 1024;

interface Added {
  readonly file: string;
  readonly headers: Headers;
  /** Reports the bytes of the file so far. */
  onBytes(count: number): void;
}

/**
 * Adds a file. If the file has shrunk, fills it with zeros, since the header promises the size, and
 * returns true. Throws once the archive is closed.
 */
async function addFile(
  archive: Pack,
  { file: path, headers, onBytes }: Added,
  closed: AbortSignal,
): Promise<boolean> {
  const { size = 0 } = headers;
  const file = await open(path, 'r');
  try {
    let isShort = false;
    const entry = archive.entry(headers);
    // The archive reports the same error.
    entry.on('error', () => undefined);
    for (let at = 0; at < size; ) {
      const chunk = Buffer.alloc(Math.min(CHUNK, size - at));
      const { bytesRead } = await file.read(chunk);
      isShort ||= bytesRead === 0;
      const bytes = isShort ? chunk : chunk.subarray(0, bytesRead);
      at += bytes.length;
      if (!entry.write(bytes)) await once(entry, 'drain', { signal: closed });
      onBytes(at);
    }
    const finished = once(entry, 'finish', { signal: closed });
    entry.end();
    await finished;
    return isShort;
  } finally {
    await file.close();
  }
}
