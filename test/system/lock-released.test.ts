import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { withLock } from '../../src/system/lock.ts';

// Simulates a lock that is released and acquired again right after the attempt fails.
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const statSync = (path: string, options: object) =>
    path.endsWith('.lock') ? undefined : fs.statSync(path, options);
  return { ...fs, statSync };
});

test('does not take over a lock that another process has just acquired', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-lock-'));
  // This process has run longer than a lock lives without a refresh.
  let now = performance.now() + 60_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++now);
  try {
    const lock = join(folder, 'state.json.lock');
    await mkdir(lock);
    const { mtimeMs } = await stat(lock);
    const taken = withLock(join(folder, 'state.json'), async () => 'taken', {
      patience: 10,
      otherwise: async (_error, isHeld) => (isHeld ? 'held' : 'failed'),
    });
    await expect(taken).resolves.toBe('held');
    expect((await stat(lock)).mtimeMs).toBe(mtimeMs);
  } finally {
    clock.mockRestore();
    await rm(folder, { recursive: true });
  }
});
