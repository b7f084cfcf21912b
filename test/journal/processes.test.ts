import { copyFile, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Journal, type JournalSettings, openJournal } from '../../src/journal/index.ts';
import { manualClock } from '../support/clock.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const NOBODY = new Set<string>();
const request = {
  operation: 'create',
  name: 'trainer',
  offer_id: 'offer-1',
  timeout_ms: 60_000,
} as const;

let state: string;
let clock: ReturnType<typeof manualClock>;
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'gpucloud-journal-'));
  clock = manualClock();
});
afterEach(() => rm(state, { recursive: true, force: true }));

const journal = (settings: Partial<JournalSettings> = {}): Journal =>
  openJournal({
    state,
    scope: { service: 'sandbox', account: 'user-1' },
    clock,
    pid: 1,
    isAlive: () => false,
    warn: () => undefined,
    ...settings,
  });

const requestPath = (file: string) =>
  join(state, 'journal', '@sandbox', 'user-1', 'requests', `${file}.json`);

test('lists an unreadable request as UNKNOWN immediately if its name was freed', async () => {
  const first = await journal().open(request, NOBODY);
  await journal().open(request, new Set([first?.uid ?? '']));
  await writeFile(requestPath(`trainer~${first?.uid}`), '{');
  const { unknown, inFlight } = await journal().read();
  expect(unknown.map(({ uid }) => uid)).toContain(first?.uid);
  expect(inFlight).toEqual([]);
});

test('lists a copied request under the name of its file', async () => {
  await journal().open(request, NOBODY);
  const copy = requestPath('box');
  await copyFile(requestPath('trainer'), copy);
  await utimes(copy, 1_000_000_000, 1_000_000_000);
  expect(await journal().requests()).toMatchObject([
    { name: 'box', isTorn: true },
    { name: 'trainer', isTorn: false },
  ]);
});

test('hides a resolved request while another request is in flight', async () => {
  const first = await journal().open(request, NOBODY);
  const text = await readFile(requestPath('trainer'), 'utf8');
  await first?.made(ID);
  await writeFile(requestPath('trainer'), text);
  const alive = journal({ pid: 2, isAlive: (pid) => pid === 2 });
  await alive.open({ ...request, name: 'box' }, NOBODY);
  expect(await alive.requests()).toMatchObject([{ name: 'box', isInFlight: true }]);
});

test('lets only one process change a deadline at a time', async () => {
  const error = await journal().withDeadline(ID, async () => {
    // Skips the wait for the lock.
    let now = performance.now();
    const skips = vi.spyOn(performance, 'now').mockImplementation(() => (now += 31_000));
    const second = journal().withDeadline(ID, (held) => held.set('trainer', {}));
    return second.catch((fault: unknown) => fault).finally(() => skips.mockRestore());
  });
  expect(error).toMatchObject({ failure: 'storage', retryable: true });
});

test('keeps the time when an instance was first read as TERMINATED', async () => {
  await journal().add({ id: ID, status: 'TERMINATED' }, 'track');
  const seen = (await journal().instance(ID))?.last?.seen_at;
  clock.advance(11 * 60_000);
  await journal().observe({ id: ID, status: 'TERMINATED' });
  expect((await journal().instance(ID))?.last?.seen_at).toBe(seen);
});

test('reports a doubt about an instance that was known before the request', async () => {
  await journal().add({ id: ID }, 'track');
  const made = await journal().open(request, NOBODY);
  expect(await made?.doubt(ID, 'trainer')).toContain('known before');
});
