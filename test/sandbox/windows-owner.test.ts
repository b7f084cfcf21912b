import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { endStale } from '../../src/sandbox/ssh/index.ts';
import { temporaryFolder } from './support.ts';

// Simulates Windows, where the user ID is -1 and files have the owner 0 and every mode bit.
vi.mock('node:os', async (original) => {
  const os = await original<typeof import('node:os')>();
  return { ...os, userInfo: () => ({ ...os.userInfo(), uid: -1, gid: -1 }) };
});

test('accepts an instance folder that `sandbox gpu` has created', async () => {
  const file = join(await temporaryFolder(), 'sandbox.json');
  await mkdir(file.replace('.json', '-instances'), { mode: 0o777 });
  await expect(endStale(file, new Map())).resolves.toEqual([]);
});
