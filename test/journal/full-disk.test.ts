import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openJournal } from '../../src/journal/index.ts';
import { manualClock } from '../support/clock.ts';
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

let disk: SmallDisk;
beforeAll(async () => {
  disk = await mountSmallDisk('64k');
});
afterAll(() => disk.remove());

describe('a full disk', () => {
  test('lets no request out before, and loses no outcome after', async (task) => {
    task.skip(!disk.isMounted, 'needs the right to mount a tmpfs');
    const journal = () =>
      openJournal({
        folder: join(disk.path, 'rentals'),
        scope: { service: 'https://api.example.com', apiKey: 'svc_sk_x' },
        clock: manualClock(),
        pid: 1,
        isAlive: () => false,
      });
    const request = { operation: 'create', name: 'trainer', offer_id: null } as const;
    const intent = await journal().intend(request);
    await disk.fill();

    await expect(journal().intend({ ...request, name: 'second' })).rejects.toMatchObject({
      failure: 'storage',
      exitCode: 9,
    });
    expect(await journal().unknown()).toMatchObject([{ name: 'trainer' }]);

    await intent.settle('rented', { id: ID });
    await intent.close();
    expect(await journal().read()).toMatchObject({
      instances: [{ id: ID, name: 'trainer' }],
      unknown: [],
    });
    // There is room again: what could not be tidied up is, and nothing was lost by the attempts.
    await rm(join(disk.path, 'ballast'));
    await journal().read();
    expect(await journal().read()).toMatchObject({ instances: [{ id: ID }], unknown: [] });
  });
});
