import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface SmallDisk {
  readonly path: string;
  /** false where this computer lets nobody mount one; then `path` is a folder like any other. */
  readonly isMounted: boolean;
  /** Writes a file `ballast` until not one more byte fits. */
  fill(): Promise<void>;
  remove(): Promise<void>;
}

/** A file system of its own (tmpfs) that is soon full. `size` is mount's: `64k`. */
export async function mountSmallDisk(size: string): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'gpucloud-disk-'));
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]).then(
    () => true,
    () => false,
  );
  return {
    path,
    isMounted,
    async fill() {
      for (const bytes of [4096, 1]) {
        try {
          for (;;) await appendFile(join(path, 'ballast'), 'x'.repeat(bytes));
        } catch {
          // Full: that is what was wanted.
        }
      }
    },
    async remove() {
      if (isMounted) await run('umount', [path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}
