import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { costAtMost } from '../../src/run-job/end/terminate.ts';
import { endUnusable } from '../../src/run-job/rent.ts';
import { createStops } from '../../src/run-job/stops.ts';
import { atTerminal } from '../support/at-terminal.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { no } from '../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

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
  ])('is the price of every hour that began, after %i ms', (passed, cost) => {
    expect(costAtMost(instance, start + passed)).toBe(cost);
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

  test('does not take the name of its instance for an ID', async () => {
    const interrupted = new CliError('interrupted', 'Interrupted.', {
      mayBeBilling: true,
      resource: 'job',
    });
    const request = { instance_name: 'job', offer_id: 'a-1', image_id: 'b-1' };
    const end = await endUnusable(interrupted, { request, maxPrice: undefined }, context);
    expect(end).toMatchObject({ instance: { id: null, name: 'job' }, terminated: 'unknown' });
    expect(world.service.requests).toEqual([]);
  });

  test.each([
    ['terminated', true],
    ['hungUp', true],
    ['interrupted', false],
  ] as const)('skips the copy at its first signal: %s, %s', (failure, isLast) => {
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
