import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives a run its own temporary folder, and fails the run if a test leaves something there. */
export default function setup(): (() => void) | undefined {
  // Each project of vitest calls this; the first call serves all.
  if (process.env.GPUCLOUD_TEST_FOLDER !== undefined) return undefined;
  // A short name, since socket paths are limited to 108 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'gc-'));
  // Some tests start programs of another user, who must reach a folder in here.
  chmodSync(folder, 0o711);
  process.env.GPUCLOUD_TEST_FOLDER = folder;
  process.env.TMPDIR = folder;

  return () => {
    const left = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    if (left.length === 0) return;
    process.stderr.write(`Tests left these files in TMPDIR:\n${left.join('\n')}\n`);
    process.exitCode = 1;
  };
}
