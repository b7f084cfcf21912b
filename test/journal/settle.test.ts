import fs from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { OpenedRequest } from '../../src/journal/index.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { journalIn, RENTAL as request } from '../support/journal.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

let state: string;
beforeEach(async () => {
  state = await temporaryFolder();
});

const journal = () => journalIn(state);

async function opened(deadline?: string): Promise<OpenedRequest> {
  const ends = deadline === undefined ? {} : { deadline };
  const found = await journal().open({ ...request, ...ends }, new Set());
  if (found === undefined) throw new Error('trainer is taken');
  return found;
}

describe('settle', () => {
  const deadline = '2026-01-15T16:00:00.000Z';
  const ends = async () => (await journal().ends(ID)).deadline;

  test.each([
    ['agrees', true, deadline],
    ['refuses', false, null],
    ['was not asked', undefined, deadline],
  ])('sets the deadline unless the user declines it: %s', async (_what, answer, wanted) => {
    const { uid } = await opened(deadline);
    const path = join(state, 'journal', '@sandbox', 'user-1', 'requests', 'trainer.json');
    const text = await readFile(path, 'utf8');
    await journal().settle(uid, ID, answer);
    expect(await ends()).toBe(wanted);
    // Restores the file, as if the process was killed before it removed the file.
    await writeFile(path, text);
    expect(await journal().requests()).toEqual([]);
    expect(await ends()).toBe(wanted);
  });

  test.each([
    ['agrees', true, deadline],
    ['was not asked', undefined, null],
  ])(
    'sets the deadline after "expire --never" only if the user agrees: %s',
    async (_what, answer, wanted) => {
      const { uid } = await opened(deadline);
      await journal().withDeadline(ID, (held) => held.set('trainer', {}));
      await journal().settle(uid, ID, answer);
      expect(await ends()).toBe(wanted);
    },
  );

  test.each([true, false, undefined])(
    "keeps an instance's existing deadline: %s",
    async (answer) => {
      const { uid } = await opened(deadline);
      const later = '2026-01-15T20:00:00.000Z';
      await journal().withDeadline(ID, (held) => held.set('trainer', { deadline: later }));
      await journal().settle(uid, ID, answer);
      expect(await ends()).toBe(later);
    },
  );
});

test("keeps an instance's idle rule, though it has no deadline", async () => {
  const { uid } = await opened('2026-01-15T16:00:00.000Z');
  const if_idle = { after: 600_000, uid: 'i' };
  await journal().withDeadline(ID, (held) => held.set('trainer', { if_idle }));
  await journal().settle(uid, ID, true);
  expect(await journal().ends(ID)).toMatchObject({ deadline: null, if_idle });
});

test('resolves or forgets nothing that is no longer open', async () => {
  const { uid } = await opened();
  await journal().settle('nobody', ID);
  await journal().forget('nobody');
  expect(await journal().read()).toMatchObject({ instances: [], unknown: [{ uid }] });
});

test.each([
  ['has ended', async () => journal().observeStatus(ID, 'TERMINATED'), false],
  ['can not get its deadline', async () => {}, true],
])('removes the request of an instance that %s: %s', async (_what, change, isKept) => {
  const folder = join(state, 'journal', '@sandbox', 'user-1');
  const made = await opened('2026-01-15T16:00:00.000Z');
  const path = join(folder, 'requests', 'trainer.json');
  const text = await readFile(path, 'utf8');
  await made.made(ID);
  await change();
  await writeFile(path, text);
  await rm(join(folder, 'deadlines'), { recursive: true, force: true });
  if (isKept) await writeFile(join(folder, 'deadlines'), '');
  expect(await journal().requests()).toEqual([]);
  expect([fs.existsSync(path), fs.existsSync(join(folder, 'deadlines'))]).toEqual([isKept, isKept]);
});

test('throws wrongState for an instance that another request created', async () => {
  const first = await opened();
  const second = await journal().open(request, new Set([first.uid]));
  await second?.made(ID);
  await expect(journal().settle(first.uid, ID)).rejects.toMatchObject({ failure: 'wrongState' });
  expect(await journal().requests()).toMatchObject([{ uid: first.uid }]);
});

test('lists an instance whose request another process resolves during the read', async () => {
  const folder = join(state, 'journal', '@sandbox', 'user-1');
  const request = join(folder, 'requests', 'trainer.json');
  const [instance, aside] = [join(folder, 'instances', `${ID}.json`), join(state, 'aside')];
  const made = await opened();
  const text = await readFile(request, 'utf8');
  await made.made(ID);
  await rename(instance, aside);
  await writeFile(request, text);
  const { readdirSync } = fs;
  const settles = vi.spyOn(fs, 'readdirSync').mockImplementation(((
    ...given: Parameters<typeof readdirSync>
  ) => {
    const found = readdirSync(...given);
    if (/\/(requests|instances)$/.test(String(given[0])) && fs.existsSync(aside)) {
      fs.renameSync(aside, instance);
      fs.rmSync(request);
    }
    return found;
  }) as typeof readdirSync);
  syncBuiltinESMExports();
  try {
    expect((await journal().read()).instances).toMatchObject([{ id: ID }]);
  } finally {
    settles.mockRestore();
    syncBuiltinESMExports();
  }
});
