import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Instance } from '../../src/api/index.ts';
import { OPERATIONS } from '../../src/sandbox/http/operations.ts';
import { Refusal, refusalBody } from '../../src/sandbox/refusal.ts';
import { freshState } from '../../src/sandbox/seed.ts';
import { instanceView } from '../../src/sandbox/service/instance-view.ts';
import { createInstance } from '../../src/sandbox/service/instances.ts';
import { settle } from '../../src/sandbox/service/settle.ts';
import type { State } from '../../src/sandbox/store/state.ts';
import { life, take } from '../sandbox/lives.ts';
import { HOUR, RTX_4090, UBUNTU } from '../sandbox/support.ts';
import { fc, runs } from '../support/random.ts';
import { createWorld, journalOf, type World } from '../support/run-cli.ts';
import type { Answer, RecordedRequest } from '../support/service.ts';

const API_KEY = 'svc_sk_sandbox_any_key';

/** The sandbox's current account. */
let state: State;
let world: World;
beforeAll(async () => {
  world = await createWorld({ handler, apiKey: API_KEY });
});
afterAll(() => world.close());

/** The sandbox's own operations, without its file. */
function handler({ method, path, body }: RecordedRequest): Answer {
  const url = new URL(path, 'http://service');
  for (const operation of OPERATIONS) {
    const pattern = new RegExp(`^${operation.path.replace('{id}', '([^/]+)')}$`);
    const match = operation.method === method ? pattern.exec(url.pathname) : null;
    if (match === null) continue;
    try {
      const { code, data, meta } = operation.answer({
        state,
        now: world.clock.now(),
        id: match[1] ?? '',
        query: (name) => url.searchParams.get(name) ?? undefined,
        body: { text: body === undefined ? '' : JSON.stringify(body), isJson: true },
      });
      return { status: code, body: { status: 'success', code, data, meta } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: error.status, body: refusalBody(error) };
    }
  }
  throw new Error(`${method} ${path} is not documented`);
}

const history = fc.record({
  life,
  /** The seconds between the last step and the audit. */
  rest: fc.integer({ min: 0, max: 100_000 }),
  /** Whether this computer saw each instance after its creation. */
  seen: fc.infiniteStream(fc.boolean()),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

/** Plays a history. This computer sees only the output of its own commands. */
async function live({ life: { opening, steps }, rest, seen }: History): Promise<void> {
  let now = world.clock.now();
  const passTo = (time: number) => {
    now = time;
    world.clock.advance(Math.max(0, time - world.clock.now()));
  };
  state = freshState(now, { token: API_KEY, balance: opening });
  const journal = journalOf(world, { service: world.service.url, apiKey: API_KEY });
  await journal.learnAccount(state.account.id);
  for (const [number, step] of steps.entries()) {
    const before = state.instances.length;
    passTo(take(state, now, number, step));
    for (const instance of state.instances.slice(before)) {
      await journal.add(instance.id, 'create', observed(instance.id));
    }
  }
  passTo(now + rest * 1000);
  settle(state, now);
  const picks = seen[Symbol.iterator]();
  for (const { id } of state.instances) {
    if (picks.next().value === true) await journal.observe(observed(id));
  }
}

function observed(id: string): Instance {
  const instance = state.instances.find((one) => one.id === id);
  if (instance === undefined) throw new Error(`no instance ${id}`);
  return instanceView(state, instance) as Instance;
}

interface Row {
  readonly check: string;
  readonly result: string;
  readonly per_hour: string | null;
}

async function audit(): Promise<Row[]> {
  const { stdout, stderr } = await world.cli(['audit', '--exact', '--json']);
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout);
}

/**
 * Returns the checks that are not ok, except three expected ones: `running_long`, charges without a
 * verdict since a drive changed in the last day, and the debt of a deleted drive, which no list
 * shows.
 */
async function doubts(): Promise<Row[]> {
  const now = world.clock.now();
  const isForgotten = state.instances.some(
    ({ status, createdAt }) =>
      !['STOPPED', 'TERMINATING', 'TERMINATED', 'ERROR'].includes(status) &&
      now - createdAt >= 24 * HOUR,
  );
  const rows = (await audit()).filter(({ result }) => result !== 'ok');
  const isLong = ({ check }: Row) => check === 'running_long';
  expect(rows.some(isLong)).toBe(isForgotten);
  const isChanged = state.drives.some(
    ({ createdAt, updatedAt }) => updatedAt !== createdAt && now - updatedAt <= 25 * HOUR,
  );
  const isDeleted = state.drives.some(({ status }) => status === 'DELETED');
  const isUnjudged = ({ check, result }: Row) =>
    check === 'unexplained_charges' && (result === 'unknown' ? isChanged : isDeleted);
  return rows.filter((row) => !isLong(row) && !isUnjudged(row));
}

test('passes the audit for any history of tracked instances', {
  timeout: 1_200_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(history, async (one) => {
      await live(one);
      expect(await doubts()).toEqual([]);
    }),
    { numRuns: runs(100, 25) },
  );
});

test('reports an untracked instance in any history, with its price if no other instance explains the amount', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(history, async (one) => {
      await live(one);
      state.account.available = '1000000.00';
      const wish = { offer_id: RTX_4090, image_id: UBUNTU, instance_name: 'rogue' };
      createInstance(state, wish, world.clock.now());
      const found = (await doubts()).find(({ check }) => check === 'reserved_balance');
      // A stopped or failed instance may also reserve this amount.
      const isClear = state.instances.every(
        ({ status }) => !['STOPPING', 'STOPPED', 'ERROR'].includes(status),
      );
      expect(found).toMatchObject(
        isClear ? { result: 'finding', per_hour: '89.90' } : { check: 'reserved_balance' },
      );
    }),
    { numRuns: runs(30, 10) },
  );
});
