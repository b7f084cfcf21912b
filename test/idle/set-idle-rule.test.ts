import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  CREATE,
  type DeadlineWorld,
  deadlineWorld,
  ID,
  recordsIn,
} from '../commands/instances/deadlines/world.ts';
import { errorOf, warningsOf } from '../support/stderr-lines.ts';

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
    const { code, stderr, requests } = await cli([...CREATE, ...RULE, '--json']);
    expect(code).toBe(2);
    expect(errorOf(stderr).message).toContain('Nothing on this computer enforces idle rules');
    expect(requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  test('rejects an idle rule below ten minutes', async () => {
    const { code, stderr } = await cli([...CREATE, '--if-idle', '9m', '--json']);
    expect({ code, message: errorOf(stderr).message }).toEqual({
      code: 2,
      message: '--if-idle "9m": must be at least 10m',
    });
  });

  test('stores an idle rule before the request, then assigns it to the instance', async () => {
    world.rented.posts.push(async () => {
      expect(recordsIn(world, 'requests')).toMatchObject([{ if_idle: 45 * MINUTE }]);
      return { status: 201, body: { success: true, data: world.rented.rent(ID, 'trainer') } };
    });
    const { stderr } = await cli([...CREATE, ...RULE]);
    expect(stderr).toContain('Idle rule:   terminated after 45 min without use.');
    expect(recordsIn(world, 'deadlines')).toMatchObject([
      { id: ID, deadline: null, if_idle: { after: 45 * MINUTE } },
    ]);
  });

  test('warns if --if-not-exists finds an instance without an idle rule', async () => {
    await rented();
    const { stderr } = await cli([...CREATE, ...RULE, '--if-not-exists', '--json']);
    expect(warningsOf(stderr)).toContain(
      'trainer has no idle rule. To set one: gpucloud instances expire trainer --if-idle 45m',
    );
  });

  test('changes an idle rule independently of the deadline, and removes both with --never', async () => {
    await rented('--terminate-after', '4h');
    const expire = async (...flags: string[]) =>
      JSON.parse((await cli(['instances', 'expire', 'trainer', ...flags, '--json'])).stdout);
    const ends_at = world.at(4);
    expect(await expire(...RULE)).toMatchObject({ ends_at, if_idle_seconds: 2700 });
    expect(await expire('--after', '8h')).toMatchObject({ if_idle_seconds: 2700 });
    const never = await cli(['instances', 'expire', 'trainer', '--never']);
    expect(never.stderr).toBe(
      'trainer has no deadline or idle rule now. It bills until you terminate it.\n',
    );
    expect(recordsIn(world, 'deadlines')).toMatchObject([{ deadline: null }]);
    expect(recordsIn(world, 'deadlines')[0]).not.toHaveProperty('if_idle');
    const both = await cli(['instances', 'expire', 'trainer', '--never', ...RULE]);
    expect(both.code).toBe(2);
  });
});
