import { execFile } from 'node:child_process';
import { appendFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeFolder } from './afterwards.ts';

const run = promisify(execFile);

export interface SmallDisk {
  readonly path: string;
  /** Fills the disk to the last byte with the file `ballast`. */
  fill(): Promise<void>;
  remove(): Promise<void>;
}

/** Mounts a small tmpfs, which needs the right to mount. `size` is in mount's format: `64k`. */
export async function mountSmallDisk(size: string): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'gpucloud-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
  return {
    path,
    async fill() {
      for (const bytes of [4096, 1]) {
        try {
          for (;;) await appendFile(join(path, 'ballast'), 'x'.repeat(bytes));
        } catch {
          // The disk is full, as intended.
        }
      }
    },
    async remove() {
      // Unmounts lazily: a process that has just ended may still hold the folder.
      await run('umount', ['-l', path]);
      await removeFolder(path);
    },
  };
}
