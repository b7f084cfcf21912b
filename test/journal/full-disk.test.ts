import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { journalIn, RENTAL as request } from '../support/journal.ts';
import { needs } from '../support/needs.ts';
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

let disk: SmallDisk;
beforeAll(async () => {
  disk = await mountSmallDisk('64k');
});
afterAll(() => disk.remove());

describe('a full disk', needs('the right to mount'), () => {
  test("rejects a request that can't be stored, and keeps earlier requests", async () => {
    const journal = () => journalIn(join(disk.path, 'state'));
    const nobody = new Set<string>();
    const opened = await journal().open(request, nobody);
    await disk.fill();

    await expect(journal().open({ ...request, name: 'second' }, nobody)).rejects.toMatchObject({
      failure: 'storage',
      exitCode: 9,
    });
    expect(await journal().requests()).toMatchObject([{ name: 'trainer' }]);

    // The caller prints the ID. The stored request counts as UNKNOWN.
    await expect(opened?.made(ID)).rejects.toMatchObject({ failure: 'storage' });
    expect(await journal().read()).toMatchObject({ instances: [], unknown: [{ name: 'trainer' }] });
    await rm(join(disk.path, 'ballast'));
    await opened?.made(ID);
    expect(await journal().read()).toMatchObject({ instances: [{ id: ID }], unknown: [] });
  });
});
