import { once } from 'node:events';
import fs from 'node:fs';
import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { JournalSettings } from '../../src/journal/index.ts';
import { openNamedInstances } from '../../src/journal/names.ts';
import { requestNamed } from '../../src/journal/requests.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { manualClock } from '../support/clock.ts';
import { journalIn, RENTAL as request } from '../support/journal.ts';
import { runs } from '../support/random.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const OTHER = '3f0c5d9e-1111-4222-8333-444455557777';
const NOBODY = new Set<string>();

let state: string;
let clock: ReturnType<typeof manualClock>;
beforeEach(async () => {
  state = await temporaryFolder();
  clock = manualClock();
});

const journal = (settings: Partial<JournalSettings> = {}) =>
  journalIn(state, { clock, ...settings });

async function opened(own = journal()) {
  const found = await own.open(request, NOBODY);
  if (found === undefined) throw new Error('trainer is taken');
  return found;
}

const folder = (...names: string[]) => join(state, 'journal', '@sandbox', 'user-1', ...names);
const requestPath = (file: string) => folder('requests', `${file}.json`);

test('ignores a copied request, since its name is not that of its file', async () => {
  await journal().open(request, NOBODY);
  await copyFile(requestPath('trainer'), requestPath('box'));
  const warnings: string[] = [];
  const own = journal({ warn: (text) => warnings.push(text) });
  expect(await own.requests()).toMatchObject([{ name: 'trainer' }]);
  expect(warnings).toEqual([expect.stringContaining(requestPath('box'))]);
});

test('reserves a name for one of several requests, without hard links', async () => {
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  vi.spyOn(fs, 'linkSync').mockImplementation(() => {
    throw Object.assign(new Error('not supported'), { code: 'ENOTSUP' });
  });
  syncBuiltinESMExports();
  const opened = await Promise.all([1, 2, 3].map(() => journal().open(request, NOBODY)));
  expect(opened.filter((one) => one !== undefined)).toHaveLength(1);
  expect(await journal().requests()).toMatchObject([{ name: 'trainer', offer_id: 'offer-1' }]);
});

test.each([
  ['openSync', 'EACCES'],
  ['openSync', 'EEXIST'],
  ['writeFileSync', 'ENOSPC'],
  ['fsyncSync', 'EIO'],
] as const)('leaves no request if %s fails with %s, without hard links', async (step, code) => {
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  await opened();
  await journal().forget((await journal().requests())[0]?.uid ?? '');
  const fail = (failing: string) => () => {
    throw Object.assign(new Error(failing), { code: failing });
  };
  vi.spyOn(fs, 'linkSync').mockImplementation(() => {
    vi.spyOn(fs, step).mockImplementationOnce(fail(code));
    syncBuiltinESMExports();
    return fail('ENOTSUP')();
  });
  syncBuiltinESMExports();
  const outcome = await journal()
    .open(request, NOBODY)
    .catch(({ failure, cause }) => [failure, cause.code]);
  expect(outcome).toEqual(code === 'EEXIST' ? undefined : ['storage', code]);
  expect(fs.readdirSync(dirname(requestPath('trainer')))).toEqual([]);
});

test('finds a name free or taken while other processes create and resolve its request', async () => {
  await journal().open(request, NOBODY);
  const path = requestPath('trainer');
  await rename(path, `${path}.whole`);
  const other = new Worker(
    `const { linkSync, rmSync } = require('node:fs');
    const { path } = require('node:worker_threads').workerData;
    for (;;) { linkSync(path + '.whole', path); rmSync(path); }`,
    { eval: true, workerData: { path } },
  );
  await once(other, 'online');
  const alive = { clock, isAlive: () => false };
  const folder = dirname(dirname(path));
  const length = runs(10_000, 3_000);
  const found = Array.from({ length }, () => requestNamed(folder, 'trainer', alive)?.name);
  await other.terminate();
  expect(new Set(found)).toEqual(new Set([undefined, 'trainer']));
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

test("counts another process's request as in flight until 10 s after its timeout", async () => {
  const alive = journal({ isAlive: () => true });
  await opened(alive);
  clock.advance(request.timeout_ms + 9_999);
  expect(await alive.requests()).toMatchObject([{ isInFlight: true }]);
  clock.advance(1);
  expect(await alive.requests()).toMatchObject([{ isInFlight: false }]);
});

test("frees a request's name for only one of two new requests", async () => {
  const { uid } = await opened();
  const agreed = new Set([uid]);
  const both = await Promise.all([
    journal().open(request, agreed),
    journal().open(request, agreed),
  ]);
  expect(both.filter((one) => one !== undefined)).toHaveLength(1);
  expect(await journal().requests()).toHaveLength(2);
});

test('keeps a request if an untracked earlier request is refused late', async () => {
  const first = await opened();
  await journal().forget(first.uid);
  const second = await opened();
  await first.notMade();
  expect(await journal().requests()).toMatchObject([{ uid: second.uid }]);
});

test('reads an instance of two folders once, and its deadline without its account', async () => {
  const deadline = '2026-01-15T16:00:00.000Z';
  await journal().add(ID, 'track', { id: ID, name: 'one', status: 'ACTIVE' });
  await journal().withDeadline(ID, ({ set }) => set('one', { deadline }));
  await mkdir(folder('archive'));
  const text = await readFile(folder('instances', `${ID}.json`), 'utf8');
  await writeFile(folder('archive', `${ID}.json`), text.replaceAll('one', 'two'));
  await writeFile(folder('instances', 'notes.txt'), text);
  await writeFile(folder('archive', 'a.json'), '{"name":"no ID"}');
  await writeFile(folder('archive', 'b.json'), text.replace('{', '{"untracked_at":"now",'));
  const { instances } = await journal().read({ archived: true });
  expect(instances).toMatchObject([{ name: 'one', archived: false, deadline }]);
  const scope = { service: 'sandbox', apiKey: 'k' };
  const names = openNamedInstances({ state, scope, clock });
  const named = (name: string) => ({ id: ID, name, status: 'ACTIVE' });
  expect([names.in('instances'), names.in('archive')]).toEqual([[named('one')], [named('two')]]);
  expect(names.find(ID)).toEqual(named('one'));
  const ofAll = journal({ scope });
  expect([await ofAll.ends(ID), await ofAll.ends(OTHER)]).toMatchObject([
    { deadline },
    { deadline: null },
  ]);
});

test('is not archived over a folder, nor judged by two processes at once', async () => {
  await journal().add(ID, 'track');
  await mkdir(folder('archive', `${ID}.json`, 'x'), { recursive: true });
  await expect(journal().untrack(ID)).rejects.toMatchObject({ failure: 'storage' });
  const judge = (work: () => Promise<unknown>) =>
    journal().withIdle(ID, { after: 60_000, uid: 'r' }, work);
  expect(await judge(() => judge(async () => 'judged twice'))).toBeUndefined();
  expect(await judge(async () => 'judged')).toBe('judged');
});
