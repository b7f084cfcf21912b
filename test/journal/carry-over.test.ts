import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openJournal, type Scope } from '../../src/journal/index.ts';
import { anyRequestOpen } from '../../src/journal/pending.ts';
import { manualClock } from '../support/clock.ts';

/** Written by version 0.1.0: a profile, two keys from the environment, and the sandbox. */
const OLD = fileURLToPath(new URL('rentals-0.1.0', import.meta.url));
const SERVICE = 'http://127.0.0.1:47017';
const ACCOUNT = { service: SERVICE, account: 'acct-1' };
/** The folder of the account acct-1. */
const OWNER = '88a8f26a0c0b65af7f2c2188';
const id = (number: number) => `0000000${number}-0000-4000-8000-00000000000${number}`;
const TRACKED = '77777777-0000-4000-8000-000000000007';

let state: string;
let warnings: string[];
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'gpucloud-carry-'));
  warnings = [];
  await cp(OLD, join(state, 'rentals'), { recursive: true });
});
afterEach(() => rm(state, { recursive: true, force: true }));

function journal(scope: Scope) {
  return openJournal({
    state,
    scope,
    clock: manualClock(),
    pid: 1,
    isAlive: () => false,
    warn: (text) => warnings.push(text),
  });
}

async function known(scope: Scope) {
  const { instances, unknown } = await journal(scope).read({ archived: true });
  return {
    living: instances.flatMap((one) => (one.archived ? [] : [one.id])).sort(),
    archived: instances.flatMap((one) => (one.archived ? [one.id] : [])).sort(),
    unknown: unknown.map(({ name }) => name).sort(),
  };
}

test('carries every instance, archived one and open request over to its account', async () => {
  expect(anyRequestOpen(state)).toBe(true);
  expect(await known(ACCOUNT)).toEqual({
    // One of the account, one of another key of it, and one of an unknown key.
    living: [id(1), id(4), id(5), TRACKED],
    archived: [id(2), id(3)],
    unknown: ['Lost-B', 'lost'],
  });
  const { instances, unknown } = await journal(ACCOUNT).read({ archived: true });
  const byId = new Map(instances.map((one) => [one.id, one]));
  expect(byId.get(id(1))).toMatchObject({
    name: 'trainer',
    origin: 'create',
    last: { status: 'ACTIVE' },
  });
  expect(byId.get(id(2))).toMatchObject({ name: 'ended', last: { status: 'TERMINATED' } });
  expect(byId.get(id(3))).toMatchObject({ name: 'again', origin: 'reorder', untracked: true });
  expect(byId.get(TRACKED)).toMatchObject({ name: 'tracked', origin: 'track' });
  expect(unknown.find(({ name }) => name === 'lost')).toMatchObject({
    uid: '2026-11-22T181418.982Z-7ecea7c7-8a33-40fe-9718-8fc00278e37b',
    asked_at: '2026-11-22T18:14:18.982Z',
    max_price: '55.5',
  });
});

test('carries the sandbox over', async () => {
  const account = '5a0293c9-d3e2-4dc5-a098-8a97a864c533';
  expect(await known({ service: 'sandbox', account })).toEqual({
    living: ['c6ae8236-46f6-4503-868d-8456dfa813af'],
    archived: ['4828519f-342f-4074-9fd6-4b89ae8150cd'],
    unknown: [],
  });
  expect((await readdir(state)).sort()).toEqual(['journal', 'rentals.carried-over']);
  expect(warnings).toEqual([]);
});

test('shows records without an account to every account of the service', async () => {
  expect(await known({ service: SERVICE, account: 'acct-2' })).toEqual({
    living: [id(4), id(5)],
    archived: [],
    unknown: ['Lost-B'],
  });
});

test('repeats after a crash, and keeps what was learned since', async () => {
  const before = await known(ACCOUNT);
  await journal(ACCOUNT).observe({ id: id(1), status: 'TERMINATED' }, 'read');
  await rename(join(state, 'rentals.carried-over'), join(state, 'rentals'));
  const after = await known(ACCOUNT);
  expect(after).toEqual({
    ...before,
    living: before.living.filter((one) => one !== id(1)),
    archived: [id(1), ...before.archived],
  });
});

test('leaves everything whole for several processes that start at once', async () => {
  const each = await Promise.all(Array.from({ length: 4 }, () => known(ACCOUNT)));
  const [first] = each;
  expect(first?.living).toHaveLength(4);
  for (const one of each) expect(one).toEqual(first);
});

test('leaves torn files in place, warns once of each, and carries the others over', async () => {
  const torn = '99999999-0000-4000-8000-000000000009';
  const uid = '2026-11-22T181419.000Z-aaaaaaaa-8a33-40fe-9718-8fc00278e37b';
  await writeFile(join(state, 'rentals', OWNER, 'machines', `${torn}.json`), '{"version":1,"na');
  await writeFile(join(state, 'rentals', OWNER, 'open', `${uid}.json`), '{"version":1,"uid":');
  const { living } = await known(ACCOUNT);
  await known(ACCOUNT);
  expect(living).toEqual([id(1), id(4), id(5), TRACKED]);
  const kept = join(state, 'rentals.carried-over', OWNER);
  expect(warnings).toEqual([
    `A record of version 0.1.0 can't be read: ${join(kept, 'machines', `${torn}.json`)}. Check your instances in the web console.`,
    `A record of version 0.1.0 can't be read: ${join(kept, 'open', `${uid}.json`)}. Check your instances in the web console.`,
  ]);
  expect(await readdir(join(kept, 'machines'))).toContain(`${torn}.json`);
});

test('keeps a request whose process ended after its outcome as the instance', async () => {
  const uid = '2026-11-22T181418.982Z-7ecea7c7-8a33-40fe-9718-8fc00278e37b';
  const path = join(state, 'rentals', OWNER, 'open', `${uid}.json`);
  const [intent = ''] = (await readFile(path, 'utf8')).split('\n');
  const outcome = { kind: 'rented', at: '2026-11-22T18:14:20.000Z', id: id(8) };
  await writeFile(path, `${intent}\n${JSON.stringify(outcome)}   \n`);
  expect(await known(ACCOUNT)).toMatchObject({
    living: expect.arrayContaining([id(8)]),
    unknown: ['Lost-B'],
  });
});

test('keeps every ID from a response in doubt, since each may be the instance', async () => {
  const uid = '2026-11-22T181418.982Z-7ecea7c7-8a33-40fe-9718-8fc00278e37b';
  const path = join(state, 'rentals', OWNER, 'open', `${uid}.json`);
  const [intent = ''] = (await readFile(path, 'utf8')).split('\n');
  const outcome = { kind: 'unknown', at: '2026-11-22T18:14:20.000Z', candidates: [id(8), id(1)] };
  await writeFile(path, `${intent}\n${JSON.stringify(outcome)}   \n`);
  expect(await known(ACCOUNT)).toMatchObject({
    living: expect.arrayContaining([id(8)]),
    unknown: ['Lost-B', 'lost'],
  });
  const { instances } = await journal(ACCOUNT).read();
  expect(instances.find((one) => one.id === id(1))).toMatchObject({ name: 'trainer' });
});
