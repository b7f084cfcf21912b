import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { minuteText, spanText } from '../../../../src/output/time.ts';
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

  const DISK =
    'Termination deletes the disk of trainer. To copy files first: gpucloud instances expire trainer --rescue PATH\n';
  const moved = (hours: number, more: string, before = 4) =>
    `Deadline of trainer: ${minuteText(Date.parse(world.at(hours)))}, in ${spanText(hours * 3600)}${before === 0 ? '' : `, instead of ${minuteText(Date.parse(world.at(before)))}`}.${more}\n${DISK}`;

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
      const bills = status === 'ACTIVE' ? 'bills' : 'may bill';
      const cost = status === 'ACTIVE' && price ? `, ${price} ₽ per hour` : '';
      expect((await world.cli(['instances', 'expire', 'trainer', '--never'])).stderr).toBe(
        `trainer has no deadline now. It ${bills} until you terminate it${cost}.\n`,
      );
      const first =
        more === '' ? '' : ` That costs about ${hours === 8 ? '719.20' : '89.90'} ₽ until then.`;
      expect((await world.cli(argv)).stderr).toBe(moved(hours, first, 0));
      const again = moved(hours, '', 0).replace(/\.\n/, ', as before.\n');
      expect((await world.cli(argv)).stderr).toBe(again);
    },
  );

  test('warns that a time of day has passed today, also with the weekday of today', async () => {
    await world.arm();
    const now = new Date(world.clock.now());
    const past = `${now.getHours()}:${String(now.getMinutes()).padStart(2, '0')}`;
    const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
    const [day, next] = days.slice(now.getDay());
    const at = (hours: number) => minuteText(Date.parse(world.at(hours)));
    const expire = async (at: string, which = 'trainer') => {
      const { stderr } = await world.cli(['instances', 'expire', which, '--at', at]);
      return stderr;
    };
    expect(await expire(past)).toBe(
      `warning: ${past.padStart(5, '0')} has passed today, so the deadline is tomorrow: ${at(24)}.\n${moved(24, '')}`,
    );
    expect(await expire(`${day} ${past}`)).toBe(
      `warning: ${day} ${past.padStart(5, '0')} has passed today, so the deadline is in a week: ${at(7 * 24)}.\n${moved(7 * 24, '', 24)}`,
    );
    expect(await expire(`${next} ${past}`)).toBe(moved(24, '', 7 * 24));
    expect(await expire(`${day} ${past}`, '--all')).toBe(
      `warning: ${day} ${past.padStart(5, '0')} has passed today, so the deadline is in a week: ${at(7 * 24)}. Instances with an earlier deadline keep it.\ntrainer keeps its earlier deadline, ${at(24)}.\n${DISK}`,
    );
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
    const shown = (hours: number) => minuteText(Date.parse(world.at(hours)));
    const { code, stderr } = await world.cli(all);
    expect({ code, stderr: stderr.split('\n').sort() }).toEqual({
      code: 0,
      stderr: [
        '',
        `Deadline of other: ${shown(8)}, in 8 h.`,
        'Termination deletes their disks. To copy files first: gpucloud instances expire NAME --rescue PATH',
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
    expect(await set('--all', '--if-idle', '30m')).toEqual({
      code: 0,
      stderr: [`${rule} 30 min without use, as before.`],
    });
    expect(await set('trainer', '--if-idle', '30m')).toEqual({
      code: 0,
      stderr: [`${rule} 30 min without use, as before, counted from now.`],
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
