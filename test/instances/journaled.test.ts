import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallOptions } from '../../src/api/index.ts';
import type { Context } from '../../src/context.ts';
import { journaled } from '../../src/instances/journaled.ts';
import { type Journal, openJournal } from '../../src/journal/index.ts';
import { manualClock } from '../support/clock.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const REQUEST = { operation: 'create', name: 'trainer', offer_id: null } as const;

let home: string;
let rentals: Journal;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpucloud-journaled-'));
  rentals = openJournal({
    folder: join(home, 'rentals'),
    scope: { service: 'https://api.example.com', apiKey: 'svc_sk_x' },
    clock: manualClock(),
    pid: 1,
    isAlive: () => false,
  });
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** What of a Context a request needs, around a real journal. */
function context(): Context {
  const never = () => new AbortController().signal;
  const parts = {
    api: async () => ({}),
    journal: async () => rentals,
    interrupts: { first: never(), second: never() },
    flags: {},
    prompts: async () => undefined,
    err: { warn: () => undefined },
  };
  return parts as unknown as Context;
}

const send = (work: (options: CallOptions) => Promise<{ id: string }>) =>
  journaled(REQUEST, context(), (_api, options) => work(options));

test('a fault of gpucloud itself after the request has left: the outcome is unknown, exit 7', async () => {
  const fault = send(async (options) => {
    options.onSending?.();
    throw new TypeError('x is not a function');
  });
  await expect(fault).rejects.toMatchObject({
    exitCode: 7,
    mayBeBilling: true,
    hint: expect.stringContaining('gpucloud instances recover'),
    message: expect.stringContaining('x is not a function'),
  });
  expect(await rentals.unknown()).toMatchObject([{ name: 'trainer' }]);
});

test('one before it has left: nothing was made', async () => {
  await expect(
    send(async () => {
      throw new TypeError('x is not a function');
    }),
  ).rejects.toThrow(TypeError);
  expect(await rentals.unknown()).toEqual([]);
});

test('one after the id has come: the id is told, and on the disk', async () => {
  const fault = send(async (options) => {
    options.onSending?.();
    await options.onAnswer?.({ status: 201, headers: {}, text: `{"data":{"id":"${ID}"}}` });
    throw new TypeError('x is not a function');
  });
  await expect(fault).rejects.toMatchObject({
    exitCode: 10,
    resource: ID,
    mayBeBilling: true,
    message: expect.stringContaining(ID),
  });
  expect((await rentals.read()).instances).toMatchObject([{ id: ID }]);
});
