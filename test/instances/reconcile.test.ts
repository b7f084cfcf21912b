import { beforeEach, describe, expect, test } from 'vitest';
import { reconcile } from '../../src/instances/recover/reconcile.ts';
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
import { atTerminal } from '../support/at-terminal.ts';
import { NEW } from '../support/renting-service.ts';

let world: DeadlineWorld;
beforeEach(async () => {
  world = await deadlineWorld();
});

async function lose(flags: readonly string[], id?: string): Promise<void> {
  world.rented.posts.push(() => {
    if (id !== undefined) world.rented.rent(id, 'trainer');
    return 'hangUp';
  });
  expect((await world.cli([...CREATE, ...flags])).code).toBe(7);
}

/** Recovers all requests in a terminal. */
async function recover(answers: readonly string[]) {
  const { context, said, printed, stderr } = atTerminal(world, answers);
  const journal = await context.journal();
  const resolutions = await reconcile(await journal.requests(), journal, context);
  return { said, printed, stderr: stderr(), ids: resolutions.map(({ instance }) => instance?.id) };
}

describe('reconcile', () => {
  test('matches two requests to two instances, the latest request first', async () => {
    await lose([], ID);
    world.clock.advance(60_000);
    await lose(['--yes'], NEW);
    world.rented.drives = [ID, NEW].map((id) => ({ id: `drive-${id}`, current_instance_id: id }));
    const { said, ids } = await recover(['no', 'yes', 'yes']);
    expect(said).toEqual([
      'Is it the instance you requested now?',
      'Is it the instance you requested now?',
      'Is it the instance you requested 1 min ago?',
    ]);
    expect(ids).toEqual([ID, NEW]);
    expect(recordsIn(world, 'requests')).toEqual([]);
  });

  test('resolves only one of two requests with an instance', async () => {
    await lose([], ID);
    await lose(['--yes']);
    world.rented.drives = [{ id: 'd1', current_instance_id: ID }];
    const { said, ids } = await recover(['yes', 'yes']);
    expect(said).toEqual(['Is it the instance you requested now?']);
    expect(ids.filter((id) => id === ID)).toHaveLength(1);
  });

  test.each([[[]], [[{ id: 'd1', current_instance_id: ID }]]])(
    "does not prompt for another request's instance, drives: %j",
    async (drives) => {
      await lose([]);
      world.clock.advance(60_000);
      expect((await world.cli([...CREATE, '--yes'])).code).toBe(0);
      world.rented.drives = drives;
      expect(await recover(['yes'])).toMatchObject({ said: [], ids: [undefined] });
    },
  );

  test('sets the requested deadline if the user agrees', async () => {
    await lose(IN_FOUR_HOURS, ID);
    world.rented.drives = [{ id: 'd1', current_instance_id: ID }];
    const ends_at = world.at(4);
    const { said } = await recover(['yes', 'yes']);
    expect(said).toEqual(['Is it the instance you requested now?', 'Apply it to the instance?']);
    expect(await listed(world)).toMatchObject([{ id: ID, ends_at }]);
  });

  test('does not set the requested deadline if the user declines it', async () => {
    await lose(IN_FOUR_HOURS, ID);
    world.rented.drives = [{ id: 'd1', current_instance_id: ID }];
    await recover(['yes', 'no']);
    expect(await listed(world)).toMatchObject([{ id: ID, ends_at: null }]);
    world.clock.advance(5 * HOUR);
    expect(await world.cli(['instances', 'reap', '--json'])).toMatchObject({
      code: 0,
      stdout: '[]\n',
    });
  });

  test.each([
    ['yes', { if_idle_seconds: 2700 }],
    ['no', { ends_at: null }],
  ])('asks before it sets an idle rule: %s', async (answer, row) => {
    await lose(['--if-idle', '45m', '--unenforced'], ID);
    world.rented.drives = [{ id: 'd1', current_instance_id: ID }];
    const { said, printed } = await recover(['yes', answer]);
    expect(printed.slice(1)).toEqual(['The request has an idle rule: after 45 min without use.']);
    expect(said).toEqual(['Is it the instance you requested now?', 'Apply it to the instance?']);
    const [listedRow] = await listed(world);
    expect(listedRow).toMatchObject(row);
    expect('if_idle_seconds' in listedRow).toBe(answer === 'yes');
  });

  test.each([4, -4])("matches by the service's clock, %i hours ahead", async (hours) => {
    await lose([], ID);
    const box = world.rented.instances.get(ID) ?? {};
    world.ahead = hours * HOUR;
    Object.assign(box, { created_at: world.at(0) });
    world.rented.drives = [{ id: 'd1', current_instance_id: ID }];
    expect((await recover(['yes'])).ids).toEqual([ID]);
  });

  test.each([
    [['--after', '8h'], { ends_at: '2026-01-15T20:00:00.000Z' }],
    [['--if-idle', '1h'], { ends_at: null, if_idle_seconds: 3600 }],
  ])('keeps what already ends the instance: %j', async (flags, ends) => {
    await lose(IN_FOUR_HOURS, ID);
    expect((await world.cli(['instances', 'expire', ID, ...flags])).code).toBe(0);
    world.rented.drives = [{ id: 'd1', current_instance_id: ID }];
    const { said } = await recover(['yes']);
    expect(said).toHaveLength(1);
    expect(await listed(world)).toMatchObject([{ id: ID, ...ends }]);
  });
});
