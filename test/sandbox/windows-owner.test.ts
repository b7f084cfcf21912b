import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endStale } from '../../src/sandbox/ssh/index.ts';
import { temporaryFolder } from './support.ts';

// On Windows files have no owners to trust, and every mode bit.
test('accepts an instance folder on Windows that `sandbox gpu` has created', async () => {
  const file = join(await temporaryFolder(), 'sandbox.json');
  const folder = file.replace('.json', '-instances');
  await mkdir(folder);
  await chmod(folder, 0o777);
  await expect(endStale(file, undefined, new Map())).resolves.toEqual([]);
});
