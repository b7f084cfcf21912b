import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, TestRunner } from 'vitest';

/**
 * Returns a function that closes something once, and calls it after the test that opened it. What
 * `beforeAll` opens, `afterAll` closes.
 */
export function afterwards(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const closeOnce = () => {
    closed ??= close();
    return closed;
  };
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(closeOnce);
  return closeOnce;
}

/** Removes a folder in which a process that was just killed may still write for a moment. */
export async function removeFolder(path: string): Promise<void> {
  try {
    // Takes a third of the CPU of `rm`, which most tests call.
    rmSync(path, { recursive: true, force: true });
  } catch {
    await rm(path, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Creates a folder, and removes it after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-'));
  afterwards(() => removeFolder(folder));
  return folder;
}
