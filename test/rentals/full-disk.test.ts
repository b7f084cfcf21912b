import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRentals } from '../../src/rentals/index.ts';
import { manualClock } from '../support/clock.ts';

const run = promisify(execFile);
const ID = '3f0c5d9e-1111-4222-8333-444455556666';

let disk: string;
let isMounted = false;
beforeAll(async () => {
  disk = await mkdtemp(join(tmpdir(), 'gpucloud-disk-'));
  isMounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]).then(
    () => true,
    () => false,
  );
});
afterAll(async () => {
  if (isMounted) await run('umount', [disk]);
  await rm(disk, { recursive: true, force: true });
});

async function fill(): Promise<void> {
  for (const size of [4096, 1]) {
    try {
      for (;;) await appendFile(join(disk, 'ballast'), 'x'.repeat(size));
    } catch {
      // Full: that is what was wanted.
    }
  }
}

describe('a full disk', () => {
  test('lets no request out before, and loses no outcome after', async (task) => {
    task.skip(!isMounted, 'needs the right to mount a tmpfs');
    const journal = () =>
      openRentals({
        folder: join(disk, 'rentals'),
        scope: { service: 'https://api.example.com', apiKey: 'svc_sk_x' },
        clock: manualClock(),
        pid: 1,
        isAlive: () => false,
      });
    const request = { operation: 'create', name: 'trainer', offer_id: null } as const;
    const intent = await journal().intend(request);
    await fill();

    await expect(journal().intend({ ...request, name: 'second' })).rejects.toMatchObject({
      failure: 'storage',
      exitCode: 9,
    });
    expect(await journal().unknown()).toMatchObject([{ name: 'trainer' }]);

    await intent.settle('rented', { id: ID });
    await intent.close();
    expect(await journal().read()).toMatchObject({
      machines: [{ id: ID, name: 'trainer' }],
      unknown: [],
    });
    // There is room again: what could not be tidied up is, and nothing was lost by the attempts.
    await rm(join(disk, 'ballast'));
    await journal().read();
    expect(await journal().read()).toMatchObject({ machines: [{ id: ID }], unknown: [] });
  });
});
