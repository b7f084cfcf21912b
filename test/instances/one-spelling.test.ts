import { beforeEach, describe, expect, test } from 'vitest';
import {
  CREATE,
  type DeadlineWorld,
  deadlineWorld,
  HOUR,
  ID,
  IN_FOUR_HOURS,
  listed,
  recordsIn,
} from '../commands/instances/deadlines/world.ts';

const CAPITALS = ID.toUpperCase();

let world: DeadlineWorld;
beforeEach(async () => {
  world = await deadlineWorld();
});

const ids = async () => (await listed(world)).map(({ id }: { id: string }) => id);

describe('an ID in capital letters', () => {
  beforeEach(() => {
    world.rented.rent(ID, 'trainer', { status: 'ACTIVE' });
    world.rented.drives = [{ id: 'drive-1', current_instance_id: ID }];
  });

  test.each([
    [CAPITALS, ID],
    [ID, CAPITALS],
  ])('sets a deadline for %s, and removes it for %s', async (set, removed) => {
    for (const argv of [
      [set, '--after', '4h'],
      [removed, '--never'],
    ]) {
      expect((await world.cli(['instances', 'expire', ...argv])).code).toBe(0);
    }
    expect(recordsIn(world, 'deadlines')).toMatchObject([{ id: ID, deadline: null }]);
    world.clock.advance(5 * HOUR);
    await world.cli(['instances', 'reap', '--json']);
    expect(world.rented.instances.get(ID)?.status).toBe('ACTIVE');
  });

  test('lists a known instance only once', async () => {
    for (const id of [CAPITALS, ID]) {
      await world.cli(['instances', 'track', id, '-q']);
    }
    expect(await ids()).toEqual([ID]);
    await world.cli(['instances', 'track', '-', '-q'], {
      stdin: `${CAPITALS}\n${ID}\n`,
    });
    expect((await world.cli(['instances', 'untrack', CAPITALS, '--yes'])).code).toBe(0);
    expect(await world.cli(['instances', 'list', '-q'])).toMatchObject({ code: 0, stdout: '' });
  });

  test('sends and prints an unknown ID in lower case', async () => {
    const got = await world.cli(['instances', 'get', CAPITALS, '-q']);
    expect(got.requests.map(({ path }) => path)).toContain(`/instances/${ID}`);
    expect(recordsIn(world, 'instances')).toMatchObject([{ id: ID }]);
  });
});

describe('a service that returns IDs in capital letters', () => {
  /** Returns all IDs in capital letters, and finds an instance by its ID in any case. */
  const loud = (body: unknown) =>
    JSON.parse(JSON.stringify(body).replaceAll(ID, CAPITALS)) as Record<string, unknown>;

  beforeEach(async () => {
    await world.close();
    world = await deadlineWorld();
    const { handler } = world.rented;
    Object.assign(world.rented, {
      handler: async (request: Parameters<typeof handler>[0]) => {
        const answer = await handler(request);
        return answer === 'hangUp' ? answer : { ...answer, body: loud(answer.body) };
      },
    });
  });

  test('lists an instance that is attached to a drive only once', async () => {
    const { code, stdout } = await world.cli([...CREATE, ...IN_FOUR_HOURS, '--json']);
    expect({ code, id: JSON.parse(stdout).id }).toEqual({ code: 0, id: ID });
    world.rented.drives = [{ id: 'drive-1', current_instance_id: ID }];
    expect(await ids()).toEqual([ID]);
    const drives = await world.cli(['drives', 'list', '--json']);
    expect(JSON.parse(drives.stdout)).toMatchObject([{ current_instance_id: ID }]);
    expect(recordsIn(world, 'instances')).toMatchObject([{ id: ID, origin: 'create' }]);
    expect(recordsIn(world, 'deadlines')).toMatchObject([{ id: ID }]);
    world.clock.advance(5 * HOUR);
    expect((await world.cli(['instances', 'reap'])).code).toBe(0);
    expect(world.rented.instances.get(ID)?.status).toBe('TERMINATING');
  });

  test('recovers a lost request, and prints the ID in lower case', async () => {
    world.rented.posts.push(() => {
      world.rented.rent(ID, 'trainer');
      return 'hangUp';
    });
    expect((await world.cli(CREATE)).code).toBe(7);
    world.rented.drives = [{ id: 'drive-1', current_instance_id: ID }];
    await world.cli(['instances', 'recover', '--yes', '-q']);
  });
});
