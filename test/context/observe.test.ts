import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createObserver } from '../../src/context/observe.ts';
import { CliError } from '../../src/errors.ts';
import { temporaryFolder } from '../support/afterwards.ts';

let cache: string;
let calls: unknown[];
let fault: Error | undefined;
beforeEach(async () => {
  cache = await temporaryFolder();
  calls = [];
  fault = undefined;
});

/** Returns a function that records its calls. */
const recording =
  (name: string) =>
  async (...given: unknown[]) => {
    calls.push([name, ...given]);
    if (fault !== undefined) throw fault;
  };

const observer = () =>
  createObserver(
    {
      journal: async () => ({
        observe: recording('observe'),
        observeStatus: recording('observeStatus'),
      }),
      catalog: async () => ({ learn: recording('learn') }),
    } as never,
    {
      folders: async () => ({ cache }),
      resolved: async () => ({ settings: { sandbox: true } }),
    } as never,
    { err: { warn: (...given: unknown[]) => calls.push(['warn', ...given]) } } as never,
  );

const see = (title: string, result: unknown, input: unknown = {}) =>
  observer()({ title, input, result } as never);

const BOX = { id: 'i1', name: 'box', status: 'ACTIVE' };

test.each([
  [
    'GET /instances/{id}',
    [
      ['observe', BOX],
      ['learn', BOX],
    ],
  ],
  ['POST /instances', [['learn', BOX]]],
  ['POST /instances/{id}/reorder', [['learn', BOX]]],
  ['POST /instances/{id}/start', [['observeStatus', 'other', 'ACTIVE']]],
  ['POST /instances/{id}/stop', [['observeStatus', 'other', 'ACTIVE']]],
  ['POST /instances/{id}/terminate', []],
  ['GET /billing/balance', []],
])('stores of %s: %j', async (title, stored) => {
  await see(title, BOX, { id: 'other' });
  expect(calls).toEqual(stored);
});

test('only warns of a full disk, since the journal has stored a rented instance', async () => {
  fault = new CliError('storage', 'the disk is full');
  const warned = see('POST /instances', BOX);
  await expect(warned).resolves.toBe(undefined);
  expect(calls).toEqual([
    ['learn', BOX],
    ['warn', 'local_storage', 'the disk is full'],
  ]);
  fault = new TypeError('a bug');
  await expect(see('POST /instances', BOX)).rejects.toBe(fault);
});

test('caches the names of drives, keys and templates for Tab', async () => {
  const cached = async (kind: string) =>
    JSON.parse(await readFile(join(cache, 'names', 'sandbox', `${kind}.json`), 'utf8'));
  const data = { id: 'd1', name: 'data', state: 'ACTIVE' };
  const unnamed = { id: 'd2', name: 'd2', state: '' };
  await see('GET /storage/drives', [
    { ...data, status: 'ACTIVE' },
    { id: 'd2', name: null },
  ]);
  expect(await cached('drive')).toEqual([data, unnamed]);
  for (const [title, id] of [
    ['GET /storage/drives/{id}', 'd2'],
    ['POST /storage/drives', 'd3'],
    ['PATCH /storage/drives/{id}', 'd1'],
  ] as const) {
    const others = (await cached('drive')).filter((one: { id: string }) => one.id !== id);
    await see(title, { id, name: `new-${id}`, status: 'CREATING' });
    expect(await cached('drive')).toEqual([
      { id, name: `new-${id}`, state: 'CREATING' },
      ...others,
    ]);
  }

  await see('GET /ssh-keys', [{ id: 'k1', name: 'laptop', is_default: true }]);
  await see('POST /ssh-keys', { id: 'k2', name: 'desk', is_default: false });
  const [desk, laptop] = [
    { id: 'k2', name: 'desk', state: '' },
    { id: 'k1', name: 'laptop', state: 'default' },
  ];
  expect(await cached('ssh-key')).toEqual([desk, laptop]);
  await see('DELETE /ssh-keys/{id}', {}, { id: 'k2' });
  expect(await cached('ssh-key')).toEqual([laptop]);

  await see('GET /templates', [{ id: 't1', name: 'vLLM', slug: 'vllm', status: 'LIVE' }]);
  expect(await cached('template')).toEqual([{ id: 't1', name: 'vllm', state: 'LIVE' }]);
});
