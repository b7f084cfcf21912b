import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { minuteText, spanText } from '../../../../src/output/time.ts';
import { inZone } from '../../../support/in-zone.ts';
import { HARDWARE } from '../../../support/sandbox-ids.ts';
import { errorOf, warningsOf } from '../../../support/stderr-lines.ts';
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

describe('a deadline', () => {
  test.each([
    ['create', CREATE],
    ['reorder', ['instances', 'reorder', OLD, 'trainer']],
  ])('rejects a deadline in %s without a schedule, and sends nothing', async (_verb, argv) => {
    for (const flag of [
      ['--terminate-after', '4h'],
      ['--terminate-at', '2026-01-15T18:00Z'],
    ]) {
      const { code, stderr, requests } = await world.cli([...argv, ...flag]);
      expect({ code, requests }).toEqual({ code: 2, requests: [] });
      expect(stderr).toBe(
        'error: Nothing on this computer enforces deadlines: "instances reap" is not scheduled. Nothing was sent.\nhint: add --unenforced to skip this check, or schedule it:\nwhile :; do gpucloud instances reap --every 5m; sleep 300; done\n',
      );
    }
  });

  test('rejects a deadline if the heartbeat is older than two intervals or in the future', async () => {
    await world.arm();
    world.clock.advance(10 * 60_000);
    const late = await world.cli([...CREATE, '--terminate-after', '4h']);
    expect(late.code).toBe(2);
    expect(late.stderr).toContain('the scheduled "instances reap" last ran 10 min ago.');
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
    const { code, stderr, requests } = await world.cli([...CREATE, '--terminate-after', '4h']);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain('"instances reap" is not scheduled');
  });

  test('accepts a deadline with a recent heartbeat', async () => {
    await world.arm();
    world.clock.advance(9 * 60_000);
    const { code, stderr } = await world.cli([...CREATE, '--terminate-after', '4h']);
    expect(code, stderr).toBe(0);
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
      const { code, stderr } = await world.cli([...CREATE, ...IN_FOUR_HOURS]);
      expect(code, stderr).toBe(0);
      expect(before).toEqual([world.at(4)]);
      expect(recordsIn(world, 'deadlines')).toMatchObject([{ id: ID, deadline: world.at(4) }]);
      expect(stderr.includes("The service's clock is 1 day 2 h")).toBe(ahead !== 0);
      expect(await listed(world)).toMatchObject([{ id: ID, ends_at: world.at(4) }]);
    },
  );

  test('prints the deadline, and the command that moves it', async () => {
    const { stderr } = await world.cli([
      ...[...CREATE, '--terminate-at', '2026-01-15T15:30Z', '--unenforced'],
    ]);
    expect(stderr).toMatch(
      /Deadline: {4}2026-01-15 \d\d:\d\d [+-]\d\d:\d\d, in 3 h 30 min\. To move it: gpucloud instances expire trainer --after 4h\n/,
    );
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
      const { code, stderr } = await world.cli([...CREATE, '--terminate-at', time, '--unenforced']);
      expect(code, stderr).toBe(0);
      const end = new Date(world.clock.now() + world.ahead + hours * HOUR).setSeconds(0, 0);
      expect(await listed(world)).toMatchObject([{ ends_at: new Date(end).toISOString() }]);
      const expire = await world.cli(['instances', 'expire', 'trainer', '--at', time]);
      expect(expire.code).toBe(0);
      expect(await listed(world)).toMatchObject([{ ends_at: new Date(end).toISOString() }]);
    },
  );

  test('warns that nothing enforces the deadline of --unenforced', async () => {
    const { code, stderr } = await world.cli([...CREATE, ...IN_FOUR_HOURS]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^warning: Nothing on this computer enforces deadlines: "instances reap" is not scheduled\. The instance bills until you terminate it\. To schedule it: while :; do gpucloud instances reap --every 5m; sleep 300; done\n/,
    );
    await world.cli(['instances', 'terminate', 'trainer', '--yes']);
    await world.arm();
    const armed = await world.cli([...CREATE, '--name', 'trainer', ...IN_FOUR_HOURS, '--dry-run']);
    expect(armed.stderr).not.toContain('warning');
  });

  test('rejects an invalid deadline, and rents nothing', async () => {
    const wrong: [string[], RegExp][] = [
      [['--terminate-at', '2026-01-15T11:59Z'], /has passed: the service's time is 2026-01-15/],
      [['--terminate-at', '2026-01-16'], /a date with a time of day/],
      [['--terminate-after', '0s'], /longer than zero/],
      [['--terminate-after', '9999d'], /at most 366 days/],
      [['--terminate-after', '4h', '--terminate-at', '2026-01-15T18:00Z'], /can't be combined/],
    ];
    for (const [flags, words] of wrong) {
      const { code, stderr, requests } = await world.cli([...CREATE, ...flags, '--unenforced']);
      expect({ flags, code, posts: requests.filter(posts) }).toEqual({ flags, code: 2, posts: [] });
      expect(stderr).toMatch(words);
    }
    expect(recordsIn(world, 'requests')).toEqual([]);
  });

  test('exits with 10 if the service sends no Date header', async () => {
    await world.close();
    world = await deadlineWorld({
      handler: () => ({ status: 200, headers: { date: '' }, body: { data: { id: 'user-1' } } }),
    });
    const { code, stderr, requests } = await world.cli([...CREATE, ...IN_FOUR_HOURS, '--json']);
    expect({ code, posts: requests.filter(posts) }).toEqual({ code: 10, posts: [] });
    expect(errorOf(stderr).message).toContain('no Date header');
  });

  test('prints the deadline with --dry-run, and sends nothing', async () => {
    const { code, stderr, requests } = await world.cli([...CREATE, ...IN_FOUR_HOURS, '--dry-run']);
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    expect(stderr).toContain('The instance would be terminated after 4 h.');
  });

  test('ignores a deadline for an existing instance with --if-not-exists, and prints a note', async () => {
    world.rented.rent(ID, 'trainer');
    await world.cli(['instances', 'track', ID]);
    const { code, stderr } = await world.cli([...CREATE, ...IN_FOUR_HOURS, '--if-not-exists']);
    expect(code).toBe(0);
    expect(stderr).toContain(
      'trainer has no deadline. To set one: gpucloud instances expire trainer',
    );
    expect(await listed(world)).toMatchObject([{ id: ID, ends_at: null }]);
  });

  test('prints the deadline as ends_at in create, get and --if-not-exists', async () => {
    const ends_at = world.at(4);
    const deadlineIn = async (...argv: string[]) =>
      JSON.parse((await world.cli([...argv, '--json'])).stdout).ends_at;
    expect(await deadlineIn(...CREATE, ...IN_FOUR_HOURS)).toBe(ends_at);
    expect(await deadlineIn('instances', 'get', 'trainer')).toBe(ends_at);
    expect(await deadlineIn(...CREATE, '--if-not-exists')).toBe(ends_at);
    const { stdout } = await world.cli(['instances', 'get', 'trainer']);
    expect(stdout).toMatch(/^ {2}Deadline: +\S+ \S+ \S+$/m);
    expect(stdout).toContain(inZone(' 2026-01-15 16:00:00 +00:00\n'));
    world.rented.terminate(ID);
    expect(await deadlineIn('instances', 'get', 'trainer')).toBeNull();
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

describe('expire', () => {
  beforeEach(() => rentForFourHours(world));

  test('moves a deadline, and warns that nothing enforces it', async () => {
    const { code, stdout, stderr } = await world.cli([
      ...['instances', 'expire', 'trainer', '--after', '8h', '--json'],
    ]);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      id: ID,
      name: 'trainer',
      status: 'PROVISIONING',
      paid_until: null,
      ends_at: world.at(8),
    });
    expect(warningsOf(stderr)).toEqual([
      'Nothing on this computer enforces deadlines: "instances reap" is not scheduled. To enforce them: while :; do gpucloud instances reap --every 5m; sleep 300; done',
    ]);
    expect(await listed(world)).toMatchObject([{ ends_at: world.at(8) }]);
  });

  test('omits the warning about enforcement while a schedule runs', async () => {
    await world.arm();
    const { stderr } = await world.cli([
      ...['instances', 'expire', 'trainer', '--at', '2026-01-16T00:00Z', '-q'],
    ]);
    expect(stderr).toBe('');
  });

  const ends = (stdout: string): [string, string][] =>
    JSON.parse(stdout)
      .map(({ name, ends_at }: Record<string, string>) => [name, ends_at])
      .sort();

  const moved = (hours: number, more: string, before = 4) =>
    `Deadline of trainer: ${minuteText(Date.parse(world.at(hours)))}, in ${spanText(hours * 3600)}${before === 0 ? '' : `, instead of ${minuteText(Date.parse(world.at(before)))}`}.${more}\n`;

  test.each([
    ['ACTIVE', '89.90', 8, ' That costs about 359.60 ₽ more.'],
    ['ACTIVE', '89.90', 1, ' That costs about 269.70 ₽ less.'],
    ['STOPPED', '89.90', 8, ''],
    ['ACTIVE', undefined, 8, ''],
  ])(
    'shows the old and the new deadline and the cost: %s, %s, %i h',
    async (status, price, hours, more) => {
      await world.arm();
      world.rented.rent(ID, 'trainer', {
        status,
        ...(price && { price_per_hour_snapshot: price }),
      });
      const argv = ['instances', 'expire', 'trainer', '--at', world.at(hours)];
      expect((await world.cli(argv)).stderr).toBe(moved(hours, more));
      await world.cli(['instances', 'expire', 'trainer', '--never']);
      const first =
        more === '' ? '' : ` That costs about ${hours === 8 ? '719.20' : '89.90'} ₽ until then.`;
      expect((await world.cli(argv)).stderr).toBe(moved(hours, first, 0));
      const again = moved(hours, '', 0).replace(/\.\n$/, ', as before.\n');
      expect((await world.cli(argv)).stderr).toBe(again);
    },
  );

  test('notes that a time of day has passed today, also with the weekday of today', async () => {
    await world.arm();
    const now = new Date(world.clock.now());
    const past = `${now.getHours()}:${String(now.getMinutes()).padStart(2, '0')}`;
    const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
    const [day, next] = days.slice(now.getDay());
    const expire = async (at: string) => {
      const { stderr } = await world.cli(['instances', 'expire', 'trainer', '--at', at]);
      return stderr;
    };
    expect(await expire(past)).toBe(
      `${past.padStart(5, '0')} has passed today, so the deadline is tomorrow.\n${moved(24, '')}`,
    );
    expect(await expire(`${day} ${past}`)).toBe(
      `${day} ${past.padStart(5, '0')} has passed today, so the deadline is in a week.\n${moved(7 * 24, '', 24)}`,
    );
    expect(await expire(`${next} ${past}`)).toBe(moved(24, '', 7 * 24));
  });

  test('sets the deadline of all instances that may bill', async () => {
    await world.arm();
    const [OTHER, GONE] = [ID.replace(/6$/, '7'), ID.replace(/6$/, '8')];
    world.rented.rent(OTHER, 'other', { status: 'ACTIVE' });
    world.rented.rent(GONE, 'gone', { status: 'TERMINATED' });
    await world.cli(['instances', 'track', OTHER, GONE]);
    const argv = ['instances', 'expire', '--all', '--after', '2h', '--json'];
    const { code, stdout, stderr } = await world.cli(argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
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
    const shown = (hours: number) => minuteText(Date.parse(world.at(hours)));
    const { code, stderr } = await world.cli(all);
    expect({ code, stderr: stderr.split('\n').sort() }).toEqual({
      code: 0,
      stderr: [
        '',
        `Deadline of other: ${shown(8)}, in 8 h.`,
        `trainer keeps its earlier deadline, ${shown(4)}.`,
      ],
    });
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
    const set = async (...argv: string[]) => {
      const { code, stderr } = await world.cli(['instances', 'expire', ...argv]);
      return { code, stderr: stderr.split('\n').filter((line) => line.startsWith('Idle rule')) };
    };
    const rule = 'Idle rule of trainer: terminated after';
    expect(await set('trainer', '--if-idle', '30m')).toEqual({
      code: 0,
      stderr: [`${rule} 30 min without use.`],
    });
    expect(await set('--all', '--if-idle', '45m')).toEqual({
      code: 0,
      stderr: [`${rule} 30 min without use, as before.`],
    });
    expect(await set('--all', '--if-idle', '20m')).toEqual({
      code: 0,
      stderr: [`${rule} 20 min without use, instead of 30 min.`],
    });
    expect(await set('trainer', '--if-idle', '1h')).toEqual({
      code: 0,
      stderr: [`${rule} 1 h without use, instead of 20 min.`],
    });
  });

  test('reports an instance without an ID, which gets no deadline', async () => {
    await world.arm();
    world.rented.posts = [() => 'hangUp'];
    await world.cli(['instances', 'create', 'lost', ...HARDWARE]);
    const { code, stderr } = await world.cli([
      'instances',
      'expire',
      '--all',
      '--after',
      '8h',
      '-q',
    ]);
    expect(code).toBe(7);
    expect(stderr).toContain(
      'error: The ID of "lost" is unknown, so it has no new deadline. It may be billing.\n',
    );
  });

  test.each([
    [['--after', '8h'], 'INSTANCE is missing: give names or IDs'],
    [['trainer', '--all', '--after', '8h'], "--all can't be used with INSTANCE"],
    [['--all', '--after', '8h', '--rescue', 'out'], "--all and --rescue can't be combined"],
    [
      ['trainer', '--at', 'frx 18:00'],
      '--at "frx 18:00": must be a time of day, such as 18:00 or "fri 18:00",',
    ],
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
    const { code, stderr } = await world.cli(['instances', 'expire', 'trainer', '--after', '8h']);
    expect(code).toBe(5);
    expect(stderr).toContain('trainer is TERMINATING.');
    expect(recordsIn(world, 'deadlines')).toMatchObject([{ deadline: world.at(4) }]);
  });

  test('sets the deadline of the known instances, and exits with 3 for an unknown name', async () => {
    const { code, stdout } = await world.cli([
      ...['instances', 'expire', 'nobody', 'trainer', '--after', '8h', '--json'],
    ]);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'trainer', ends_at: world.at(8) }]);
  });

  test.each([[[]], [['--after', '8h', '--never']], [['--at', '2026-01-14T00:00Z']]])(
    'exits with 2 for the expire flags %j',
    async (flags) => {
      expect((await world.cli(['instances', 'expire', 'trainer', ...flags])).code).toBe(2);
      expect(recordsIn(world, 'deadlines')).toMatchObject([{ deadline: world.at(4) }]);
    },
  );
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
    const csv = await world.cli(['instances', 'list', '-o', 'csv']);
    expect(csv.stdout).not.toContain('ENDS');
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
