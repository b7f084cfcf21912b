import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { intendAlone } from '../../src/instances/intend-alone.ts';
import { type Intent, openJournal, type RentalRequest } from '../../src/journal/index.ts';
import { type ManualClock, manualClock } from '../support/clock.ts';

const DRIVE: RentalRequest = { operation: 'drive', name: 'race', offer_id: null };

let home: string;
let clock: ManualClock;
let alive: boolean;
let questions: number;
let intents: Intent[];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpucloud-alone-'));
  clock = manualClock();
  alive = true;
  questions = 0;
  intents = [];
});
afterEach(async () => {
  for (const intent of intents) await intent.close();
  await rm(home, { recursive: true, force: true });
});

function journal() {
  return openJournal({
    folder: join(home, 'rentals'),
    scope: { service: 'https://api.example.com', apiKey: 'svc_sk_x' },
    clock,
    pid: process.pid,
    isAlive: () => alive,
  });
}

async function kept(intent: Promise<Intent>): Promise<Intent> {
  intents.push(await intent);
  return intent;
}

/** The request of another process. */
const rival = (request = DRIVE) => kept(journal().intend(request));

interface Racing {
  /** After its own request is on disk. */
  readonly meanwhile?: () => Promise<unknown>;
  /** Instead of each sleep. */
  readonly sleep?: () => Promise<void>;
  readonly yes?: boolean;
  readonly person?: boolean;
}

function racing({ meanwhile, sleep, yes, person }: Racing): Context {
  const own = journal();
  const rentals = {
    ...own,
    async intend(request: RentalRequest) {
      const intent = await own.intend(request);
      await meanwhile?.();
      return intent;
    },
  };
  const confirm = async () => {
    questions += 1;
    return true;
  };
  return {
    journal: async () => rentals,
    clock: sleep === undefined ? clock : { ...clock, sleep },
    flags: yes === true ? { yes } : {},
    prompts: async () => (person === true ? { confirm } : undefined),
    interrupts: { first: new AbortController().signal },
    err: { warn: () => undefined },
  } as unknown as Context;
}

const inFlight = async () => (await journal().read()).inFlight.map(({ uid }) => uid);

test('one that alone asks goes on at once', async () => {
  const intent = await kept(intendAlone(DRIVE, racing({})));
  expect(await inFlight()).toEqual([intent.uid]);
  expect(clock.slept).toEqual([]);
});

test('steps back from an earlier request at once, and leaves nothing to settle', async () => {
  const first = await rival();
  clock.advance(1);
  await expect(intendAlone(DRIVE, racing({}))).rejects.toMatchObject({
    exitCode: 7,
    mayBeBilling: true,
    message: expect.stringContaining('the answer has not come yet'),
    hint: expect.stringContaining('--yes'),
  });
  expect(await inFlight()).toEqual([first.uid]);
  expect(await journal().unknown()).toEqual([]);
  expect(clock.slept).toEqual([]);
});

test('steps back from one of lost outcome, however late', async () => {
  const meanwhile = async () => {
    clock.advance(1);
    await (await rival()).settle('unknown');
  };
  await expect(intendAlone(DRIVE, racing({ meanwhile }))).rejects.toMatchObject({
    exitCode: 7,
    hint: expect.stringContaining('gpucloud instances recover race'),
  });
  expect(await inFlight()).toEqual([]);
  expect(clock.slept).toEqual([]);
});

test('waits for a later one to step back, and goes on', async () => {
  let later: Intent | undefined;
  const intent = await kept(
    intendAlone(
      DRIVE,
      racing({
        async meanwhile() {
          clock.advance(1);
          later = await rival();
        },
        async sleep() {
          await later?.settle('not_sent');
        },
      }),
    ),
  );
  expect(await inFlight()).toEqual([intent.uid]);
});

test('steps back from a later one that stays, since that has looked before', async () => {
  const uids: string[] = [];
  const meanwhile = async () => {
    clock.advance(1);
    uids.push((await rival()).uid);
  };
  await expect(intendAlone(DRIVE, racing({ meanwhile }))).rejects.toMatchObject({ exitCode: 7 });
  expect(await inFlight()).toEqual(uids);
  expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(3000);
});

test('a request that was left by its process is in the way, as it is at the first look', async () => {
  await rival();
  alive = false;
  await expect(intendAlone(DRIVE, racing({}))).rejects.toMatchObject({ exitCode: 7 });
});

test('an interrupt while it waits says that nothing was created, and leaves nothing open', async () => {
  const meanwhile = async () => {
    clock.advance(1);
    await rival();
  };
  const { CliError } = await import('../../src/errors.ts');
  const sleep = () => Promise.reject(new CliError('interrupted', 'Interrupted.'));
  await expect(intendAlone(DRIVE, racing({ meanwhile, sleep }))).rejects.toMatchObject({
    exitCode: 130,
    message: 'Interrupted. Nothing was sent, so nothing was created.',
  });
  expect(await inFlight()).toEqual(intents.map(({ uid }) => uid));
});

test.each<[string, RentalRequest, Racing]>([
  ['of another name', { ...DRIVE, name: 'other' }, {}],
  ['of another kind', { ...DRIVE, operation: 'create' }, {}],
  ['that is meant', DRIVE, { yes: true }],
])('one %s goes on', async (_which, request, how) => {
  await rival();
  clock.advance(1);
  await kept(intendAlone(request, racing(how)));
  expect(await inFlight()).toHaveLength(2);
});

test('a reorder is of the kind of a create', async () => {
  await rival({ ...DRIVE, operation: 'reorder' });
  clock.advance(1);
  const create: RentalRequest = { ...DRIVE, operation: 'create' };
  await expect(intendAlone(create, racing({}))).rejects.toMatchObject({ exitCode: 7 });
});

test('API keys are asked for as often as they are', async () => {
  const key: RentalRequest = { ...DRIVE, operation: 'api_key' };
  await rival(key);
  clock.advance(1);
  await kept(intendAlone(key, racing({})));
  expect(await inFlight()).toHaveLength(2);
});

test('a person is not asked again of what was there before', async () => {
  await rival();
  clock.advance(5000);
  await kept(intendAlone(DRIVE, racing({ person: true })));
  expect(questions).toBe(0);
});

test('a person is asked once of one that came about since, with nothing of theirs open', async () => {
  const context = racing({ person: true });
  clock.advance(5000);
  await rival();
  clock.advance(1);
  await kept(intendAlone(DRIVE, context));
  expect(questions).toBe(1);
  expect(await inFlight()).toHaveLength(2);
});
