import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { marked } from '../../src/context/key-in-use.ts';
import { createStores } from '../../src/context/stores.ts';
import type { Host } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { manualClock } from '../support/clock.ts';
import { journalIn, RENTAL } from '../support/journal.ts';

const SERVICE = 'https://api.example.com';
const KEY = 'svc_sk_test_0123456789';
const REFUSED = new CliError('authentication', 'You are not signed in.');

/** Opens the stores of a state folder. Returns what they warn of, in order. */
async function storesOf({ state = '', settings = {}, isSignedIn = true, isKeyAtHand = true } = {}) {
  const noted: string[] = [];
  // Without the mark of a command whose profile is still missing.
  const warn = (code: string, text: string) =>
    void noted.push(`${code}: ${text.replaceAll('\ufdd0', '')}`);
  const folder = state === '' ? await temporaryFolder() : state;
  const found = { sandbox: false, baseUrl: { value: SERVICE }, account: 'user-1', ...settings };
  const stores = createStores(
    { clock: manualClock(), pid: 1, isAlive: (pid: number) => pid === 7 } as unknown as Host,
    {
      folders: async () => ({ state: folder }),
      owners: () => undefined,
      resolved: async () => ({ settings: found, storedKey: { account: 'user-2' } }),
      settings: async () => found,
      ensureSignedIn: async () => {
        if (!isSignedIn) throw REFUSED;
      },
      isKeyAtHand: async () => isKeyAtHand,
      warnOfEnv: async () => void noted.push('environment'),
    } as never,
    { err: { warn } as never },
  );
  return { stores, noted, state: folder };
}

const HOUR = 3_600_000;
const NOW = Date.parse('2026-01-15T12:00:00.000Z');
const at = (hours: number) => new Date(NOW + hours * HOUR).toISOString();

/** Stores instances with deadlines, in hours from now, and their statuses. */
async function deadlinesOf(state: string, account: string, given: [number, string | null][]) {
  const own = journalIn(state, { scope: { service: SERVICE, account } });
  for (const [index, [hours, status]] of given.entries()) {
    const id = `box-${index}`;
    await own.add(id, 'track', status === null ? undefined : { id, name: id, status });
    await own.withDeadline(id, (held) => held.set(id, { deadline: at(hours) }));
  }
}

test.each<[what: string, given: [number, string | null][]]>([
  ['none', []],
  ['one that is due now', [[0, 'ACTIVE']]],
  ['one that is not due', [[0.001, 'ACTIVE']]],
  ['one that is stopped', [[-3, 'STOPPED']]],
  ['one that was never read', [[-26, null]]],
  [
    'several, the oldest last',
    [
      [-1, 'ACTIVE'],
      [-2, 'STOPPING'],
      [-3.5, null],
      [5, 'ACTIVE'],
    ],
  ],
])('warns of instances past their deadline: %s', async (_what, given) => {
  const { stores, noted, state } = await storesOf();
  await deadlinesOf(state, 'user-1', given);
  await stores.warnOfOverdue(NOW);
  expect(noted).toMatchSnapshot();
});

test.each<[what: string, requests: number, parts: object]>([
  ['none', 0, {}],
  ['one', 1, {}],
  ['two', 2, {}],
  ['two, of the account of a key that is not fetched', 2, { isKeyAtHand: false }],
  ['two, not signed in', 2, { isSignedIn: false }],
])('warns of requests with an unknown outcome: %s', async (_what, requests, parts) => {
  const { stores, noted, state } = await storesOf(parts);
  for (let number = 0; number < requests; number += 1) {
    // One of them is in flight.
    for (const [account, pid] of [
      ['user-1', 1],
      ['user-2', 7],
    ] as const) {
      const own = journalIn(state, { scope: { service: SERVICE, account }, pid });
      await own.open({ ...RENTAL, name: `box-${number}` }, new Set());
    }
  }
  await stores.warnOfUnknown();
  await stores.warnOfUnknown();
  expect(noted).toMatchSnapshot();
});

test('warns that billing instances may be missing without the journal', async () => {
  const { stores, noted, state } = await storesOf();
  const own = journalIn(state, { scope: { service: SERVICE, account: 'user-1' } });
  await own.open(RENTAL, new Set());
  const file = join(state, 'journal', 'api.example.com', 'user-1', 'requests', 'newer.json');
  writeFileSync(file, '{"version":2}');
  await stores.warnOfUnknown();
  expect(noted.map((line) => line.replace(file, 'FILE'))).toEqual([
    'local_storage: Could not read the journal, so billing instances may be missing: FILE was written by a newer gpucloud.',
  ]);
});

test('opens the journal and the catalog of a service only if signed in', async () => {
  const out = await storesOf({ isSignedIn: false });
  await expect(out.stores.journal()).rejects.toBe(REFUSED);
  await expect(out.stores.catalog()).rejects.toBe(REFUSED);
  expect([await out.stores.isKeyKnown(), out.noted]).toEqual([false, ['environment']]);
  const nowhere = await storesOf({ settings: { baseUrl: undefined } });
  await expect(nowhere.stores.catalog()).rejects.toMatchObject({ failure: 'usage' });
  const { stores, noted } = await storesOf({ settings: { apiKey: { value: KEY } } });
  const journal = await stores.journal();
  expect([await journal.account(), await stores.isKeyKnown()]).toEqual(['user-1', false]);
  await journal.learnAccount('user-1');
  expect([await stores.isKeyKnown(), noted]).toEqual([true, ['environment']]);
  await (await stores.catalog()).add('offer', 'offer-1', 'mine');
  expect(await (await stores.catalog()).known()).toMatchObject([{ name: 'mine' }]);
});

test.each<[prefixes: (string | null)[], marks: (boolean | null)[]]>([
  [[], []],
  [['svc_sk_te…'], [true]],
  [['s'], [true]],
  [
    ['', null, '…'],
    [false, false, false],
  ],
  [
    ['svc_sk_tx', 'SVC', `${KEY}x`],
    [false, false, false],
  ],
  [
    ['svc_sk_...', 'svc_sk_test_0***', 'svc_'],
    [false, true, false],
  ],
  [
    ['svc_sk_te', 'svc_sk_te…', 'svc'],
    [null, null, false],
  ],
  [[KEY], [true]],
])('marks the keys %j: %j', async (prefixes, marks) => {
  const keys = prefixes.map((key_prefix, id) => ({ id: `${id}`, key_prefix }));
  const own = { settings: async () => ({ sandbox: false, apiKey: { value: KEY } }) };
  const built = {
    settings: async () => ({ sandbox: true }),
    sandbox: async () => ({ apiKey: () => KEY }),
  };
  for (const context of [own, built]) {
    expect(await marked(keys as never, context as never)).toEqual(
      keys.map((key, index) => ({ ...key, in_use: marks[index] })),
    );
  }
  const none = { settings: async () => ({ sandbox: false }) };
  const unmarked = await marked(keys as never, none as never);
  expect(unmarked.map(({ in_use }) => in_use)).toEqual(keys.map(() => false));
});
