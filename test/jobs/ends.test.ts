import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError, type Failure } from '../../src/errors.ts';
import { ownJournal } from '../../src/instances/recover/pending.ts';
import { OverMaxPrice } from '../../src/instances/rent/max-price.ts';
import { costAtMost } from '../../src/jobs/end/cost.ts';
import { NO_RECEIPT } from '../../src/jobs/end/report.ts';
import type { JobPlan } from '../../src/jobs/job.ts';
import { newRecord } from '../../src/jobs/new-record.ts';
import type { Noted } from '../../src/jobs/record/note.ts';
import { endUnusable, rentFor } from '../../src/jobs/rent.ts';
import { createStops } from '../../src/jobs/stops.ts';
import type { Clock } from '../../src/system/clock.ts';
import { atTerminal } from '../support/at-terminal.ts';
import { RentingService } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { no, ok } from '../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

/** A job that has rented nothing yet. */
async function jobOf(context: Context): Promise<Noted> {
  const given = { command: ['true'], toStart: { words: ['true'], variables: [] } };
  const rest = { exclude: [], fetch: [], how: { options: [], words: [] }, report_file: null };
  const start = { id: null, name: 'job', on: false, here: false, sync: null, grace: 0 };
  const plan = { ...given, ...rest } as unknown as JobPlan;
  return { record: await newRecord(plan, start, context) };
}

describe('the cost of a job', () => {
  const start = Date.UTC(2026, 0, 15, 10);
  const instance = {
    id: ID,
    status: 'TERMINATING',
    created_at: '2026-01-15T10:00:00.000Z',
    price_per_hour_snapshot: '89.90',
  };

  test.each([
    [0, '89.90'],
    [3_600_000, '89.90'],
    [3_600_001, '179.80'],
    [7_100_000, '179.80'],
  ])('charges every started hour of a job, after %i ms', (passed, cost) => {
    expect(costAtMost(instance, start + passed)).toBe(cost);
  });

  test.each([
    ['2026-01-15T11:30:00.000Z', '179.80'],
    ['2026-01-15T23:30:00.000Z', '449.50'],
    [null, '449.50'],
  ])('charges no hour after the termination at %s', (terminated_at, cost) => {
    expect(costAtMost({ ...instance, terminated_at }, start + 5 * 3_600_000)).toBe(cost);
  });

  test.each([
    ['10.1234', '10.1234'],
    ['0.004', '0.004'],
    ['90', '90.00'],
  ])('never rounds the highest possible cost below the price %s', (price, cost) => {
    expect(costAtMost({ ...instance, price_per_hour_snapshot: price }, start)).toBe(cost);
  });
});

describe('a job that ends early', () => {
  let world: World;
  let context: Context;
  beforeEach(async () => {
    world = await createWorld({ handler: () => no(500, 'unexpected') });
    ({ context } = atTerminal(world, []));
  });
  afterEach(() => world.close());

  const plan = { request: { instance_name: 'job', offer_id: 'a-1', image_id: 'b-1' } };
  const errorOf = (failure: Failure, message: string, resource?: string) =>
    expect.objectContaining({ failure, message, resource, mayBeBilling: resource !== undefined });
  const start = { command_exit_code: null, stage: 'renting', fetched: [], ...NO_RECEIPT };
  const unknown = { ...start, instance: { id: null, name: 'job' }, terminated: 'unknown' };

  test('does not send a request for an instance known only by name', async () => {
    const interrupted = new CliError('interrupted', 'Interrupted.', {
      mayBeBilling: true,
      resource: 'job',
    });
    const end = await endUnusable(interrupted, plan, context);
    expect(end).toEqual({ ...unknown, error: errorOf('outcomeUnknown', 'Interrupted.', 'job') });
    expect(world.service.requests).toEqual([]);
  });

  test.each([400, 409])(
    'does not terminate the instance that a %i response names',
    async (code) => {
      const refused = new CliError('refused', 'Taken.', {
        httpStatus: code,
        mayBeBilling: true,
        resource: ID,
      });
      const end = await endUnusable(refused, plan, context);
      expect(end).toEqual({ ...unknown, error: errorOf('outcomeUnknown', 'Taken.', ID) });
      expect(world.service.requests).toEqual([]);
    },
  );

  test.each([
    [
      'terminates the instance if its ID is known',
      [],
      {
        terminated: true,
        cost_at_most: '89.90',
        error: errorOf('runFailed', 'The disk is full.'),
      },
    ],
    [
      'reports an unknown outcome if the service refuses to terminate',
      Array.from({ length: 20 }),
      {
        terminated: 'unknown',
        error: errorOf(
          'outcomeUnknown',
          `Could not terminate job (${ID}): The service does not permit this request with the API key (403): Forbidden. It may still be billing.`,
          ID,
        ),
      },
    ],
  ])('%s', async (_what, refusals, how) => {
    const renting = new RentingService();
    renting.rent(ID, 'job', { status: 'ACTIVE', price_per_hour_snapshot: '89.90' });
    renting.terminations = refusals.map(() => () => no(403, 'Forbidden'));
    await world.close();
    world = await createWorld({ handler: renting.handler });
    ({ context } = atTerminal(world, []));
    const full = new CliError('storage', 'The disk is full.', { mayBeBilling: true, resource: ID });
    const end = await endUnusable(full, plan, context);
    const instance = { id: ID, name: 'job' };
    expect(end).toEqual({ ...start, instance, ...how });
    const status = how.terminated === true ? 'TERMINATING' : 'ACTIVE';
    expect(renting.instances.get(ID)?.status).toBe(status);
  });

  test('reports what an instance over --max-price cost, which has ended', async () => {
    const price = { price_per_hour_snapshot: '89.90', created_at: '2026-01-15T10:30:00.000Z' };
    const over = new OverMaxPrice('Too dear.', { ...price, id: ID, name: 'shown' });
    expect(await endUnusable(over, plan, context)).toEqual({
      ...start,
      instance: { id: ID, name: 'job' },
      terminated: true,
      cost_at_most: '179.80',
      error: expect.objectContaining({ failure: 'runFailed', message: 'Too dear.' }),
    });
  });

  test('reports an unexpected error as a CliError without an instance', async () => {
    const end = await endUnusable(new Error('a bug'), plan, context);
    expect(end).toEqual({
      ...start,
      instance: null,
      terminated: false,
      error: expect.any(CliError),
    });
  });

  test('stops immediately if Ctrl-C was already pressed twice', () => {
    const interrupts = {
      first: AbortSignal.abort(new CliError('interrupted', 'first')),
      second: AbortSignal.abort(new CliError('interrupted', 'second')),
    };
    const stops = createStops({ id: ID, grace: 0, leaves: false }, { ...context, interrupts });
    expect(stops.last.reason).toMatchObject({ message: 'second' });
    stops.close();
    const once = { ...interrupts, second: new AbortController().signal };
    const first = createStops(
      { id: ID, grace: 0, leaves: false },
      { ...context, interrupts: once },
    );
    expect([first.any.aborted, first.interrupt.aborted, first.last.aborted]).toEqual([
      true,
      true,
      false,
    ]);
    first.close();
    const leaving = createStops(
      { id: ID, grace: 0, leaves: true },
      { ...context, interrupts: once },
    );
    expect(leaving.last.aborted).toBe(true);
    leaving.close();
  });

  test.each([
    ['terminated', true],
    ['hungUp', true],
    ['interrupted', false],
  ] as const)('skips the copy at the first %s signal: %s', (failure, isLast) => {
    const [first, second] = [new AbortController(), new AbortController()];
    const interrupts = { first: first.signal, second: second.signal };
    const stops = createStops({ id: ID, grace: 0, leaves: false }, { ...context, interrupts });
    first.abort(new CliError(failure, 'stopped'));
    expect({ any: stops.any.aborted, last: stops.last.aborted }).toEqual({
      any: true,
      last: isLast,
    });
    second.abort(new CliError(failure, 'stopped'));
    expect(stops.last.aborted).toBe(true);
    stops.close();
  });
});

describe('the deadline of a job', () => {
  const MINUTE = 60_000;
  let world: World;
  let isDown: boolean;
  let context: Context;
  beforeEach(async () => {
    isDown = false;
    const user = { id: 'user-1' };
    world = await createWorld({ handler: () => (isDown ? no(503, 'Down.') : ok(user)) });
    ({ context } = atTerminal(world, []));
  });
  afterEach(() => world.close());

  const later = (minutes: number) =>
    new Date(Date.UTC(2026, 0, 15, 12) + minutes * MINUTE).toISOString();
  const set = async (deadline: string | undefined) =>
    (await ownJournal(context)).withDeadline(ID, (held) =>
      held.set('job', deadline === undefined ? {} : { deadline }),
    );
  const minutes = () => Math.round((world.clock.now() - Date.UTC(2026, 0, 15, 12)) / MINUTE);
  const aborted = (signal: AbortSignal) =>
    new Promise<number>((resolve) =>
      signal.addEventListener('abort', () => resolve(minutes()), { once: true }),
    );
  const stopsFor = (deadline: string, clock: Clock = world.clock, triesLast = true) =>
    createStops(
      { id: ID, deadline, grace: 4 * MINUTE, leaves: false, triesLast },
      { ...context, clock },
    );

  test('interrupts the command before the stored deadline if it is later than the original', async () => {
    await set(later(60));
    const { near, half, last, close } = stopsFor(later(10));
    const times = await Promise.all([near, half, last].map(aborted));
    close();
    expect(times).toEqual([56, 58, 60]);
  });

  test('interrupts the command before the original deadline if no other deadline is stored', async () => {
    const { near, half, last, close } = stopsFor(later(10));
    const times = await Promise.all([near, half, last].map(aborted));
    close();
    expect(times).toEqual([6, 8, 10]);
  });

  test('looks every second for a deadline that is set later', async () => {
    const slept: number[] = [];
    const sleep: Clock['sleep'] = async (milliseconds, signal) => {
      slept.push(milliseconds);
      if (slept.length === 5) await set(later(1));
      await world.clock.sleep(milliseconds, signal);
    };
    const how = { id: ID, grace: 30_000, leaves: false };
    const { near, last, close } = createStops(how, {
      ...context,
      clock: { ...world.clock, sleep },
    });
    await aborted(last);
    close();
    expect(near.aborted).toBe(true);
    const [unknown, most] = [Array.from({ length: 5 }, () => 1_000), 10_000];
    // To 30 s and 15 s before the deadline, and to it.
    expect(slept).toEqual([...unknown, most, most, 5_000, most, 5_000, most, 5_000]);
  });

  test('keeps the deadline if the journal can not be read, and ends the job at a bug', async () => {
    const times = async (fault: Error) => {
      const journal = { account: async () => 'user-1', ends: () => Promise.reject(fault) };
      const own = { ...context, journal: async () => journal } as unknown as Context;
      const how = { id: ID, deadline: later(10), grace: 4 * MINUTE, leaves: false };
      const { near, last, close } = createStops(how, own);
      await aborted(last);
      close();
      return [minutes(), near.aborted, last.reason.message];
    };
    const bug = new TypeError('a bug');
    expect(await times(bug)).toEqual([0, false, 'a bug']);
    const full = new CliError('storage', 'No journal.');
    expect(await times(full)).toEqual([10, true, 'The deadline has passed.']);
  });

  test.each([
    ['leaves time to copy the results', true, 90, 94],
    ['leaves time to copy the results after a few seconds too', true, 60, 64],
    ['ends a run on this computer', false, 90, 90],
  ])('%s if the computer slept past the deadline', async (_what, triesLast, awake, end) => {
    await set(later(60));
    const sleep: Clock['sleep'] = (milliseconds, signal) =>
      world.clock.sleep(minutes() < awake ? awake * MINUTE + 5_000 : milliseconds, signal);
    const stops = stopsFor(later(60), { ...world.clock, sleep }, triesLast);
    const times = await Promise.all([stops.past, stops.any, stops.last].map(aborted));
    stops.close();
    expect(times).toEqual([awake, awake, end]);
    expect([stops.near.aborted, stops.half.aborted]).toEqual([false, false]);
  });

  test("waits until the service's clock can be read before it interrupts the command", async () => {
    isDown = true;
    const { near, last, close } = stopsFor(later(10));
    while (minutes() < 15 && !last.aborted) await new Promise((resolve) => setImmediate(resolve));
    expect({ near: near.aborted, last: last.aborted }).toEqual({ near: false, last: false });
    // Allows at most three tries every ten seconds.
    expect(world.service.requests.length).toBeLessThanOrEqual(15 * 6 * 3);
    isDown = false;
    await aborted(last);
    close();
    expect(last.reason).toMatchObject({ failure: 'deadline' });
  });

  test('skips the final stop after the deadline is removed', async () => {
    await set(later(60));
    let removed = Promise.resolve();
    // Waits for the removal to reach the disk before time passes.
    const sleep: Clock['sleep'] = async (milliseconds, signal) => {
      await removed;
      await world.clock.sleep(milliseconds, signal);
    };
    const { near, last, close } = stopsFor(later(60), { ...world.clock, sleep });
    near.addEventListener('abort', () => {
      removed = set(undefined);
    });
    while (minutes() < 65 && !last.aborted) await new Promise((resolve) => setImmediate(resolve));
    expect({ near: near.aborted, last: last.aborted }).toEqual({ near: true, last: false });
    close();
  });

  test('warns if the instance costs more than its offer when last seen', async () => {
    const renting = new RentingService();
    renting.shows = () => ({ price_per_hour_snapshot: '89.90' });
    const own = await createWorld({ handler: renting.handler });
    const terminal = atTerminal(own, []);
    const request = { instance_name: 'job', offer_id: 'a-1', image_id: 'b-1' };
    const ends = { terminateAfter: 60 * MINUTE, unenforced: true } as const;
    const offers = [{ id: 'a-1', known: { price_per_hour: '80.00' } }];
    const plan = { request, offers, ends, names: ['job'], how: {} } as unknown as JobPlan;
    const { stops } = await rentFor(await jobOf(terminal.context), plan, terminal.context);
    stops.close();
    expect(terminal.stderr()).toMatch(
      /^warning: job costs 89\.90 ₽ per hour, more than the 80\.00 ₽/m,
    );
  });

  test('rejects a --grace that equals --terminate-after', async () => {
    const request = { instance_name: 'job', offer_id: 'a-1', image_id: 'b-1' };
    const ends = { terminateAfter: 60 * MINUTE, unenforced: true } as const;
    const offers = [{ id: 'a-1', known: undefined }];
    const given = { from: (flag: string) => `--${flag}` };
    const job = { names: ['job'], how: {}, grace: 60 * MINUTE, given };
    const plan = { request, offers, ends, ...job } as unknown as JobPlan;
    await expect(rentFor(await jobOf(context), plan, context)).rejects.toMatchObject({
      failure: 'usage',
      message: expect.stringContaining('--grace'),
    });
  });
});
