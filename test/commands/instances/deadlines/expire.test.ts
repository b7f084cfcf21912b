import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { HARDWARE } from '../../../support/sandbox-ids.ts';
import {
  type DeadlineWorld,
  deadlineWorld,
  ID,
  journalFolders,
  listed,
  recordsIn,
  rentForFourHours,
} from './world.ts';

let world: DeadlineWorld;
beforeEach(async () => {
  world = await deadlineWorld();
});

describe('expire', () => {
  beforeEach(() => rentForFourHours(world));

  test('moves a deadline, and warns that nothing enforces it', async () => {
    await world.cli([...['instances', 'expire', 'trainer', '--after', '8h', '--json']]);
    expect(await listed(world)).toMatchObject([{ ends_at: world.at(8) }]);
  });

  test('omits the warning about enforcement while a schedule runs', async () => {
    await world.arm();
    await world.cli([...['instances', 'expire', 'trainer', '--at', '2026-01-16T00:00Z', '-q']]);
  });

  test('names no disk if files of it are copied first', async () => {
    await world.arm();
    const [path = ''] = journalFolders(world, 'deadlines').map((one) => join(one, `${ID}.json`));
    const rescue = { uid: 'r', paths: [{ remote: 'out', local: '/out' }], budget: null, early: 60 };
    writeFileSync(path, JSON.stringify({ ...recordsIn(world, 'deadlines')[0], rescue }));
    const { stderr } = await world.cli(['instances', 'expire', 'trainer', '--after', '8h']);
    expect(stderr).not.toContain('disk');
  });

  const ends = (stdout: string): [string, string][] =>
    JSON.parse(stdout)
      .map(({ name, ends_at }: Record<string, string>) => [name, ends_at])
      .sort();

  test.each([
    ['ACTIVE', '89.90', 8],
    ['ACTIVE', '89.97', 1],
    ['ACTIVE', '0', 8],
    ['STOPPED', '89.90', 8],
    ['ACTIVE', undefined, 8],
  ])(
    'shows the old and the new deadline and the cost: %s, %s, %i h',
    async (status, price, hours) => {
      await world.arm();
      world.rented.rent(ID, 'trainer', {
        status,
        ...(price && { price_per_hour_snapshot: price }),
      });
      const argv = ['instances', 'expire', 'trainer', '--at', world.at(hours)];
      await world.cli(argv);
      await world.cli(['instances', 'expire', 'trainer', '--never']);
      await world.cli(argv);
      await world.cli(argv);
    },
  );

  test('warns that a time of day has passed today, also with the weekday of today', async () => {
    await world.arm();
    const now = new Date(world.clock.now());
    const past = `${now.getHours()}:${String(now.getMinutes()).padStart(2, '0')}`;
    const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
    const [day, next] = days.slice(now.getDay());
    const expire = (at: string, which = 'trainer') =>
      world.cli(['instances', 'expire', which, '--at', at]);
    await expire(past);
    await expire(`${day} ${past}`);
    await expire(`${next} ${past}`);
    await expire(`${day} ${past}`, '--all');
  });

  test('sets the deadline of all instances that may bill', async () => {
    await world.arm();
    const [OTHER, GONE] = [ID.replace(/6$/, '7'), ID.replace(/6$/, '8')];
    world.rented.rent(OTHER, 'other', { status: 'ACTIVE' });
    world.rented.rent(GONE, 'gone', { status: 'TERMINATED' });
    await world.cli(['instances', 'track', OTHER, GONE]);
    const argv = ['instances', 'expire', '--all', '--after', '2h', '--json'];
    const { stdout } = await world.cli(argv);
    expect(ends(stdout)).toEqual([
      ['other', world.at(2)],
      ['trainer', world.at(2)],
    ]);
  });

  test('keeps an earlier deadline with --all, and moves it later by name', async () => {
    await world.arm();
    const OTHER = ID.replace(/6$/, '7');
    world.rented.rent(OTHER, 'other', { status: 'STOPPED' });
    await world.cli(['instances', 'track', OTHER]);
    const all = ['instances', 'expire', '--all', '--after', '8h'];
    await world.cli(all);
    expect(ends((await world.cli([...all, '--json'])).stdout)).toEqual([
      ['other', world.at(8)],
      ['trainer', world.at(4)],
    ]);
    const named = ['instances', 'expire', 'other', 'trainer', '--after', '9h', '--json'];
    expect(ends((await world.cli(named)).stdout)).toEqual([
      ['other', world.at(9)],
      ['trainer', world.at(9)],
    ]);
  });

  test('keeps a shorter idle rule with --all, and lengthens it by name', async () => {
    await world.arm();
    for (const words of [
      ['trainer', '--if-idle', '30m'],
      ['--all', '--if-idle', '45m'],
      ['--all', '--if-idle', '30m'],
      ['trainer', '--if-idle', '30m'],
      ['--all', '--if-idle', '20m'],
      ['trainer', '--if-idle', '1h'],
    ])
      expect((await world.cli(['instances', 'expire', ...words])).code).toBe(0);
    const rule = () => recordsIn(world, 'deadlines')[0]?.if_idle;
    const before = rule();
    await world.cli(['instances', 'expire', '--all', '--if-idle', '1h']);
    expect(rule()).toEqual(before);
  });

  test('names an instance as the service does', async () => {
    await world.arm();
    const ids = ['7', '8', '9'].map((digit) => ID.replace(/6$/, digit));
    for (const id of ids) world.rented.rent(id, `lab-${id.at(-1)}`);
    world.rented.terminate(ids[1] ?? '');
    const [folder = ''] = journalFolders(world, 'deadlines');
    writeFileSync(join(folder, `${ids[2]}.json`), '{}');
    for (const id of ids) await world.cli(['instances', 'expire', id, '--if-idle', '45m']);
    const names = recordsIn(world, 'deadlines').map(({ name }) => name);
    expect(names.sort()).toEqual(['lab-7', 'trainer', undefined]);
  });

  test('reports an instance without an ID, which gets no deadline', async () => {
    await world.arm();
    world.rented.posts = [() => 'hangUp'];
    await world.cli(['instances', 'create', 'lost', ...HARDWARE]);
    await world.cli(['instances', 'expire', '--all', '--after', '8h', '-q']);
  });

  test.each([
    [['--after', '8h'], 'INSTANCE is missing: give names or IDs'],
    [['trainer', '--all', '--after', '8h'], "--all can't be used with INSTANCE"],
    [['--all', '--after', '8h', '--rescue', 'out'], "--all and --rescue can't be combined"],
    ...['frx 18:00', 'fri 18:000', 'at fri 18:00'].map((time): [string[], string] => [
      ['trainer', '--at', time],
      `--at "${time}": must be a time of day, such as 18:00 or "fri 18:00",`,
    ]),
  ])('rejects %j before any request', async (flags, message) => {
    const { code, stderr, requests } = await world.cli(['instances', 'expire', ...flags]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain(`error: ${message}`);
  });

  test('removes a deadline with expire --never', async () => {
    const argv = ['instances', 'expire', 'trainer', '--never', '--json'];
    const { code, stdout } = await world.cli(argv);
    expect({ code, rows: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      rows: { ends_at: null },
    });
    expect(await listed(world)).toMatchObject([{ ends_at: null }]);
  });

  test('exits with 5 for a terminating instance, and keeps its deadline', async () => {
    world.rented.terminate(ID);
    await world.cli(['instances', 'expire', 'trainer', '--after', '8h']);
    expect(recordsIn(world, 'deadlines')).toMatchObject([{ deadline: world.at(4) }]);
  });

  test('sets the deadline of the known instances, and exits with 3 for an unknown name', async () => {
    await world.cli([...['instances', 'expire', 'nobody', 'trainer', '--after', '8h', '--json']]);
  });

  test.each([[[]], [['--after', '8h', '--never']], [['--at', '2026-01-14T00:00Z']]])(
    'exits with 2 for the expire flags %j',
    async (flags) => {
      expect((await world.cli(['instances', 'expire', 'trainer', ...flags])).code).toBe(2);
      expect(recordsIn(world, 'deadlines')).toMatchObject([{ deadline: world.at(4) }]);
    },
  );
});
