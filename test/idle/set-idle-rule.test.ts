import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  CREATE,
  type DeadlineWorld,
  deadlineWorld,
  ID,
  recordsIn,
} from '../commands/instances/deadlines/world.ts';

const MINUTE = 60_000;
const RULE = ['--if-idle', '45m'];

let world: DeadlineWorld;

beforeEach(async () => {
  world = await deadlineWorld();
  await world.arm();
});
afterEach(() => world.close());

const cli = (argv: readonly string[]) => world.cli(argv);

async function rented(...more: string[]): Promise<void> {
  expect((await cli([...CREATE, ...more])).code).toBe(0);
  world.rented.rent(ID, 'trainer', { status: 'ACTIVE' });
}

describe('an idle rule', () => {
  test('rejects an idle rule without a scheduled reap', async () => {
    await cli(['instances', 'reap', '--uninstall']);
    world.clock.advance(60 * MINUTE);
    await cli([...CREATE, ...RULE, '--json']);
  });

  test('rejects an idle rule below ten minutes', async () => {
    await cli([...CREATE, '--if-idle', '9m', '--json']);
  });

  test('stores an idle rule before the request, then assigns it to the instance', async () => {
    world.rented.posts.push(async () => {
      expect(recordsIn(world, 'requests')).toMatchObject([{ if_idle: 45 * MINUTE }]);
      return { status: 201, body: { success: true, data: world.rented.rent(ID, 'trainer') } };
    });
    await cli([...CREATE, ...RULE]);
    expect(recordsIn(world, 'deadlines')).toMatchObject([
      { id: ID, deadline: null, if_idle: { after: 45 * MINUTE } },
    ]);
  });

  test('warns if --if-not-exists finds an instance without an idle rule', async () => {
    await rented();
    await cli([...CREATE, ...RULE, '--if-not-exists', '--json']);
  });

  test('changes an idle rule independently of the deadline, and removes both with --never', async () => {
    await rented('--terminate-after', '4h');
    const expire = (...flags: string[]) => cli(['instances', 'expire', 'trainer', ...flags]);
    await expire(...RULE, '--json');
    await expire('--after', '8h', '--json');
    await expire('--never');
    expect(recordsIn(world, 'deadlines')).toMatchObject([{ deadline: null }]);
    expect(recordsIn(world, 'deadlines')[0]).not.toHaveProperty('if_idle');
    await expire('--never', ...RULE);
  });
});
