import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { minuteText } from '../../../../src/output/time.ts';
import { addKey } from '../../../jobs/rescue/rented.ts';
import {
  CREATE,
  type DeadlineWorld,
  deadlineWorld,
  HOUR,
  ID,
  IN_FOUR_HOURS,
  listed,
  recordsIn,
  rentForFourHours,
} from './world.ts';

let world: DeadlineWorld;
beforeEach(async () => {
  world = await deadlineWorld();
});

const OLD = '99999999-2222-4333-8444-555555555555';
const posts = ({ method }: { method: string }) => method === 'POST';

test('reorders an instance with --rescue', async () => {
  const own = addKey(world.home);
  world.rented.sshKeys = [own];
  Object.assign(world.rented.rent(OLD, 'old', { status: 'TERMINATED' }), { ssh_keys: [own] });
  await world.cli(['instances', 'track', OLD]);
  const local = join(world.home, 'got');
  const rescue = ['--rescue', `out:${local}`, ...IN_FOUR_HOURS];
  await world.cli(['instances', 'reorder', 'old', 'trainer', ...rescue]);
  expect(recordsIn(world, 'deadlines')).toMatchObject([
    { deadline: world.at(4), rescue: { paths: [{ remote: 'out', local }] } },
  ]);
});

describe('a deadline', () => {
  test.each([
    ['create', CREATE],
    ['reorder', ['instances', 'reorder', OLD, 'trainer']],
  ])('rejects a deadline in %s without a schedule, and sends nothing', async (_verb, argv) => {
    for (const flag of [
      ['--terminate-after', '4h'],
      ['--terminate-at', '2026-01-15T18:00Z'],
    ]) {
      const { code, requests } = await world.cli([...argv, ...flag]);
      expect({ code, requests }).toEqual({ code: 2, requests: [] });
    }
  });

  test('rejects a deadline if the heartbeat is older than two intervals or in the future', async () => {
    await world.arm();
    world.clock.advance(10 * 60_000);
    await world.cli([...CREATE, '--terminate-after', '4h']);
    world.clock.advance(-26 * HOUR);
    expect((await world.cli([...CREATE, '--terminate-after', '4h'])).code).toBe(2);
  });

  test('rejects a deadline if the heartbeat is for another account', async () => {
    await world.arm('work', 'user-2');
    const { code, requests } = await world.cli([...CREATE, '--terminate-after', '4h']);
    expect({ code, posts: requests.filter(posts) }).toEqual({ code: 2, posts: [] });
  });

  test('rejects a deadline if the heartbeat is for another service', async () => {
    await world.arm('work', 'user-1', 'https://other.example.com');
    const { code, requests } = await world.cli([...CREATE, '--terminate-after', '4h']);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    await world.arm('@environment', 'user-1', 'https://other.example.com');
    await world.cli(['instances', 'reap', '--status', '--json']);
  });

  test('accepts a deadline with a recent heartbeat', async () => {
    await world.arm();
    world.clock.advance(9 * 60_000);
    await world.cli([...CREATE, '--terminate-after', '4h']);
  });

  test('rejects a deadline without a schedule also in a terminal', async () => {
    const argv = ['instances', 'create', '--terminate-after', '4h'];
    const { code, requests } = await world.cli(argv, { terminal: true });
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
  });
});

describe('create with a deadline', () => {
  test.each([0, 26, -26])(
    "stores the deadline before the request, by the service's clock, %i hours ahead",
    async (ahead) => {
      world.ahead = ahead * HOUR;
      let before: unknown[] = [];
      world.rented.posts.push(({ body }) => {
        before = recordsIn(world, 'requests').map(({ deadline }) => deadline);
        const { instance_name } = body as { instance_name: string };
        return { status: 201, body: { data: world.rented.rent(ID, instance_name) } };
      });
      const { stderr } = await world.cli([...CREATE, ...IN_FOUR_HOURS]);
      expect(before).toEqual([world.at(4)]);
      expect(recordsIn(world, 'deadlines')).toMatchObject([{ id: ID, deadline: world.at(4) }]);
      expect(stderr.includes("The service's clock is 1 day 2 h")).toBe(ahead !== 0);
      expect(await listed(world)).toMatchObject([{ id: ID, ends_at: world.at(4) }]);
    },
  );

  test('prints the deadline, and the command that moves it', async () => {
    await world.cli([...[...CREATE, '--terminate-at', '2026-01-15T15:30Z', '--unenforced']]);
  });

  test.each([
    [2, 2],
    [-1, 23],
    [0, 24],
  ])(
    "resolves a time of day by the service's clock: %i h from now is in %i h",
    async (from, hours) => {
      world.ahead = 26 * HOUR;
      const now = new Date(world.clock.now() + world.ahead);
      const [hour, minute] = [(now.getHours() + from + 24) % 24, now.getMinutes()];
      const time = [hour, minute].map((one) => String(one).padStart(2, '0')).join(':');
      const { stderr } = await world.cli([...CREATE, '--terminate-at', time, '--unenforced']);
      const end = new Date(world.clock.now() + world.ahead + hours * HOUR).setSeconds(0, 0);
      const day = `so the deadline is tomorrow: ${minuteText(end)}.`;
      expect(stderr.includes(day)).toBe(from <= 0);
      expect(await listed(world)).toMatchObject([{ ends_at: new Date(end).toISOString() }]);
      await world.cli(['instances', 'expire', 'trainer', '--at', time]);
      expect(await listed(world)).toMatchObject([{ ends_at: new Date(end).toISOString() }]);
    },
  );

  test('warns that nothing enforces the deadline of --unenforced', async () => {
    await world.cli([...CREATE, ...IN_FOUR_HOURS]);
    await world.cli(['instances', 'terminate', 'trainer', '--yes']);
    await world.arm();
    await world.cli([...CREATE, '--name', 'trainer', ...IN_FOUR_HOURS, '--dry-run']);
  });

  test('rejects an invalid deadline, and rents nothing', async () => {
    for (const flags of [
      ['--terminate-at', '2026-01-15T11:59Z'],
      ['--terminate-at', '2026-01-16'],
      ['--terminate-after', '0s'],
      ['--terminate-after', '9999d'],
      ['--terminate-after', '4h', '--terminate-at', '2026-01-15T18:00Z'],
    ]) {
      const { code, requests } = await world.cli([...CREATE, ...flags, '--unenforced']);
      expect({ flags, code, posts: requests.filter(posts) }).toEqual({ flags, code: 2, posts: [] });
    }
    expect(recordsIn(world, 'requests')).toEqual([]);
  });

  test('exits with 10 if the service sends no Date header', async () => {
    await world.close();
    world = await deadlineWorld({
      handler: () => ({ status: 200, headers: { date: '' }, body: { data: { id: 'user-1' } } }),
    });
    const { code, requests } = await world.cli([...CREATE, ...IN_FOUR_HOURS, '--json']);
    expect({ code, posts: requests.filter(posts) }).toEqual({ code: 10, posts: [] });
  });

  test('prints the deadline with --dry-run, and sends nothing', async () => {
    const { code, requests } = await world.cli([...CREATE, ...IN_FOUR_HOURS, '--dry-run']);
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
  });

  test('ignores a deadline for an existing instance with --if-not-exists, and prints a note', async () => {
    world.rented.rent(ID, 'trainer');
    await world.cli(['instances', 'track', ID]);
    await world.cli([...CREATE, ...IN_FOUR_HOURS, '--if-not-exists']);
    expect(await listed(world)).toMatchObject([{ id: ID, ends_at: null }]);
  });

  test('prints the deadline as ends_at in create, get and --if-not-exists', async () => {
    const ends_at = world.at(4);
    const deadlineIn = async (...argv: string[]) =>
      JSON.parse((await world.cli([...argv, '--json'])).stdout).ends_at;
    expect(await deadlineIn(...CREATE, ...IN_FOUR_HOURS)).toBe(ends_at);
    expect(await deadlineIn('instances', 'get', 'trainer')).toBe(ends_at);
    expect(await deadlineIn(...CREATE, '--if-not-exists')).toBe(ends_at);
    await world.cli(['instances', 'get', 'trainer']);
    world.rented.terminate(ID);
    expect(await deadlineIn('instances', 'get', 'trainer')).toBeNull();
  });

  test('warns before a reorder of a deadline on a later day and of a low balance', async () => {
    await world.arm();
    world.rented.rent(OLD, 'old', { status: 'TERMINATED', price_per_hour_snapshot: '100.00' });
    world.rented.balance = '2399.99';
    const now = new Date(world.clock.now());
    const past = now.toTimeString().slice(0, 5);
    const tomorrow = minuteText(new Date(now).setDate(now.getDate() + 1));
    const argv = ['instances', 'reorder', OLD, 'trainer', '--terminate-at', past, '--json'];
    const { stderr } = await world.cli(argv);
    expect(
      stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).warning),
    ).toEqual([
      {
        code: 'deadline_later',
        message: `${past} has passed today, so the deadline is tomorrow: ${tomorrow}. Cost: up to 2,500.00 ₽ in total at the last known price (25 started hours, up to 10 min past the deadline; unused time is returned); --max-price sets a limit.`,
      },
      {
        code: 'balance_low',
        message:
          'The balance is 2,399.99 ₽, but the hours until the deadline cost 2,400.00 ₽ at the last known price. It is not documented what happens to an instance if the balance is empty: results may be lost.',
      },
    ]);
  });

  test('sets the deadline of a reordered instance', async () => {
    world.rented.rent(OLD, 'old', { status: 'TERMINATED' });
    const argv = ['instances', 'reorder', OLD, 'trainer', ...IN_FOUR_HOURS, '--json'];
    const { code, stdout } = await world.cli(argv);
    expect({ code, ends_at: JSON.parse(stdout).ends_at }).toEqual({
      code: 0,
      ends_at: world.at(4),
    });
    expect(recordsIn(world, 'deadlines')).toMatchObject([{ id: ID, deadline: world.at(4) }]);
  });
});

describe('the deadline of a request with a lost response', () => {
  const lose = async () => {
    world.rented.posts.push(() => {
      world.rented.rent(ID, 'trainer');
      return 'hangUp';
    });
    expect((await world.cli([...CREATE, ...IN_FOUR_HOURS])).code).toBe(7);
  };

  test('lists the deadline with the UNKNOWN request', async () => {
    await lose();
    expect(await listed(world)).toMatchObject([{ status: 'UNKNOWN', ends_at: world.at(4) }]);
  });

  test('assigns the deadline to the instance tracked for the request', async () => {
    await lose();
    await world.cli(['instances', 'track', ID, '--yes']);
    expect(await listed(world)).toMatchObject([{ id: ID, ends_at: world.at(4) }]);
  });

  test('keeps the deadline of an instance tracked for a request', async () => {
    await lose();
    const name = `${ID.slice(0, -1)}7`;
    world.rented.rent(name, 'other');
    await world.cli(['instances', 'track', name]);
    const later = ['--at', '2026-01-15T20:00:00Z'];
    expect((await world.cli(['instances', 'expire', 'other', ...later])).code).toBe(0);
    world.rented.rent(name, 'trainer', { created_at: world.at(0) });
    await world.cli(['instances', 'get', name]);
    await world.cli(['instances', 'recover', '--yes']);
    expect(recordsIn(world, 'deadlines')).toMatchObject([
      { id: name, deadline: '2026-01-15T20:00:00.000Z' },
    ]);
    expect(recordsIn(world, 'requests')).toEqual([]);
  });
});

test('sets the deadline if the process was killed after saving the instance', async () => {
  await rentForFourHours(world);
  const [folder = ''] = readdirSync(join(world.home, 'state', 'journal'), {
    recursive: true,
    encoding: 'utf8',
  })
    .filter((path) => path.endsWith('/deadlines'))
    .map((path) => join(world.home, 'state', 'journal', path, '..'));
  const [{ request } = {}] = recordsIn(world, 'instances');
  const [{ deadline } = {}] = recordsIn(world, 'deadlines');
  renameSync(join(folder, 'deadlines'), join(world.home, 'nowhere'));
  mkdirSync(join(folder, 'requests'), { recursive: true });
  const left = {
    version: 1,
    uid: request,
    operation: 'create',
    name: 'trainer',
    asked_at: world.at(0),
    pid: 1,
    timeout_ms: 60_000,
    offer_id: null,
    deadline,
  };
  writeFileSync(join(folder, 'requests', 'trainer.json'), JSON.stringify(left));
  expect(await listed(world)).toMatchObject([{ id: ID, ends_at: world.at(4) }]);
  expect(recordsIn(world, 'requests')).toEqual([]);
});

describe('instances list', () => {
  test('shows deadlines in a terminal, but not in csv, and says whether they are enforced', async () => {
    await rentForFourHours(world);
    const people = () => world.cli(['instances', 'list'], { terminal: true, columns: 120 });
    const unenforced = (await people()).stdout;
    expect(unenforced).toMatch(/UNENFORCED DEADLINE/);
    expect(unenforced).toMatch(/in 4 h/);
    await world.arm();
    expect((await people()).stdout).toMatch(/ENDS/);
    await world.cli(['instances', 'list', '-o', 'csv']);
  });

  test('archives the deadline of a terminated instance', async () => {
    await rentForFourHours(world);
    world.rented.rent(ID, 'trainer', { status: 'TERMINATED' });
    expect(await listed(world)).toMatchObject([{ status: 'TERMINATED', ends_at: null }]);
    expect(recordsIn(world, 'deadlines')).toEqual([]);
    expect(recordsIn(world, 'archive')).toContainEqual(
      expect.objectContaining({ id: ID, deadline: world.at(4) }),
    );
  });
});
