import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { heartbeatOf } from '../../../../src/journal/index.ts';
import { lazy as once } from '../../../../src/lazy.ts';
import { createSandboxWorld } from '../../../support/run-cli.ts';
import { no } from '../../../support/service.ts';
import { errorOf, warningsOf } from '../../../support/stderr-lines.ts';
import {
  CREATE,
  type DeadlineWorld,
  deadlineWorld,
  HOUR,
  ID,
  IN_FOUR_HOURS,
  journalFolders,
  listed,
  rentForFourHours,
} from './world.ts';

let world: DeadlineWorld;
beforeEach(async () => {
  world = await deadlineWorld();
});

const REAP = ['instances', 'reap', '--json'];
const terminations = ({ path }: { path: string }) => path.endsWith('/terminate');
const statusOf = (id: string) => world.rented.instances.get(id)?.status;
const BY_DEADLINE = { reason: 'deadline', exit_code: null };
const heartbeat = () => heartbeatOf(join(world.home, 'state'), '@environment');

describe('reap', () => {
  beforeEach(() => rentForFourHours(world));

  test('terminates an instance at its deadline, not before', async () => {
    world.clock.advance(4 * HOUR - 1000);
    const { requests } = await world.cli(REAP);
    expect(requests.filter(terminations)).toEqual([]);
    world.clock.advance(1000);
    await world.cli(REAP);
    expect(statusOf(ID)).toBe('TERMINATING');
  });

  test.each(['instances', 'requests'] as const)(
    'terminates an instance at its deadline although a newer gpucloud wrote its %s',
    async (folder) => {
      world.rented.posts = [() => 'hangUp'];
      const argv = ['instances', 'create', 'lab', ...CREATE.slice(3)];
      expect((await world.cli(argv)).code).toBe(7);
      for (const path of journalFolders(world, folder)) {
        for (const name of readdirSync(path).filter((file) => file.endsWith('.json'))) {
          const record = JSON.parse(await readFile(join(path, name), 'utf8'));
          await writeFile(join(path, name), JSON.stringify({ ...record, version: 2 }));
        }
      }
      world.clock.advance(4 * HOUR);
      await world.cli(REAP);
      expect(statusOf(ID)).toBe('TERMINATING');
    },
  );

  test('terminates an instance with --rescue whose earlier termination was rolled back', async () => {
    world.rented.rent(ID, 'trainer', { status: 'TERMINATING' });
    expect((await world.cli(['instances', 'get', 'trainer'])).code).toBe(0);
    world.rented.rent(ID, 'trainer', { status: 'ACTIVE' });
    const rescue = { uid: 'r', paths: [{ remote: 'a', local: '/a' }], budget: '0', early: 0 };
    for (const path of journalFolders(world, 'deadlines')) {
      const file = join(path, `${ID}.json`);
      const record = JSON.parse(await readFile(file, 'utf8'));
      await writeFile(file, JSON.stringify({ ...record, rescue }));
    }
    world.clock.advance(5 * HOUR);
    const { code } = await world.cli(REAP);
    expect({ code, status: statusOf(ID) }).toEqual({ code: 125, status: 'TERMINATING' });
  });

  test('terminates an instance past its deadline only once', async () => {
    const deadline = world.at(4);
    world.clock.advance(7 * HOUR);
    await world.cli(REAP);
    const row = { id: ID, name: 'trainer', deadline, overdue_seconds: 3 * 3600, ...BY_DEADLINE };
    expect(statusOf(ID)).toBe('TERMINATING');
    world.rented.rent(ID, 'trainer', { status: 'TERMINATED' });
    expect(JSON.parse((await world.cli(REAP)).stdout)).toEqual([
      { ...row, outcome: 'already_ended' },
    ]);
    expect((await world.cli(REAP)).stdout).toBe('[]\n');
  });

  test.each([26, -26])(
    "uses the service's clock, %i hours ahead of this computer's",
    async (ahead) => {
      world.clock.advance(3 * HOUR);
      world.ahead = ahead * HOUR;
      const { code, stdout, stderr } = await world.cli(REAP);
      expect({ code, count: JSON.parse(stdout).length }).toEqual({
        code: 0,
        count: ahead > 0 ? 1 : 0,
      });
      expect(statusOf(ID)).toBe(ahead > 0 ? 'TERMINATING' : 'PROVISIONING');
      expect(warningsOf(stderr)).toEqual([
        expect.stringContaining(
          `is 1 day 2 h ${ahead > 0 ? 'ahead of' : 'behind'} this computer's`,
        ),
      ]);
    },
  );

  test('exits with 1 after four 500s, and succeeds in the next run', async () => {
    world.clock.advance(5 * HOUR);
    world.rented.terminations = Array.from({ length: 4 }, () => () => no(500, 'Provider error'));
    const failed = await world.cli(REAP);
    expect(errorOf(failed.stderr)).toMatchObject({ resource: ID, may_be_billing: true });
    expect((await world.cli(REAP)).code).toBe(0);
    expect(statusOf(ID)).toBe('TERMINATING');
  });

  test('exits with 7 after lost responses, and with 0 once the instance is terminated', async () => {
    world.clock.advance(5 * HOUR);
    const late: string[] = [];
    const lose = (id: string) => {
      late.push(id);
      return 'hangUp' as const;
    };
    world.rented.terminations = Array.from({ length: 4 }, () => lose);
    await world.cli(REAP);
    for (const id of late) world.rented.terminate(id);
    const { code, stdout } = await world.cli(REAP);
    expect({ code, rows: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      rows: [{ outcome: 'already_ended' }],
    });
  });

  test('exits with 7 for an instance that the service does not find', async () => {
    world.clock.advance(5 * HOUR);
    world.rented.instances.delete(ID);
    await world.cli(REAP);
  });

  test.each([
    ["can't be read", () => '{"version":1'],
    ['is about another instance', (text: string) => text.replaceAll(ID, `${ID.slice(0, -1)}8`)],
  ])('exits with 9 for a deadline that %s, and reports the instance', async (_what, spoilt) => {
    world.clock.advance(5 * HOUR);
    const [file = ''] = (await readdir(join(world.home, 'state'), { recursive: true })).filter(
      (path) => path.includes('deadlines') && path.endsWith('.json'),
    );
    const path = join(world.home, 'state', file);
    await writeFile(path, spoilt(await readFile(path, 'utf8')));
    const { code, stderr } = await world.cli(REAP);
    expect({ code, error: errorOf(stderr) }).toMatchObject({
      code: 9,
      error: { code: 'storage', resource: ID, may_be_billing: true },
    });
    expect((await world.cli(['instances', 'expire', 'trainer', '--after', '1h'])).code).toBe(0);
    expect((await world.cli(REAP)).code).toBe(0);
  });

  test('continues with the next instance after a failure', async () => {
    const other = `${ID.slice(0, -1)}7`;
    world.rented.newId = () => other;
    const argv = [...CREATE.map((word) => (word === 'trainer' ? 'lab' : word)), ...IN_FOUR_HOURS];
    expect((await world.cli(argv)).code).toBe(0);
    world.clock.advance(5 * HOUR);
    // Both are sent at once, so either may come first.
    const refuseFirst = (id: string) =>
      id === ID ? no(403, 'Forbidden') : world.rented.terminate(id);
    world.rented.terminations.push(refuseFirst, refuseFirst);
    await world.cli(REAP);
  });

  test("terminates even if the profile can't be read, and exits with 1", async () => {
    world.clock.advance(5 * HOUR);
    world.rented.failing.add('/users/me');
    const { code, stdout } = await world.cli([...REAP, '--every', '5m']);
    expect({ code, rows: JSON.parse(stdout) }).toMatchObject({
      code: 1,
      rows: [{ id: ID, outcome: 'terminated' }],
    });
    expect(heartbeat()).toMatchObject({ at: null, failure: { at: expect.any(String) } });
    await world.cli([...REAP, '--dry-run']);
  });

  test('skips an instance whose deadline is moved before its turn', async () => {
    const ids = ['7', '8', '9', 'a'].map((digit) => `${ID.slice(0, -1)}${digit}`);
    for (const [at, id] of ids.entries()) {
      world.rented.newId = () => id;
      const argv = ['instances', 'create', `lab-${at}`, ...CREATE.slice(3), ...IN_FOUR_HOURS];
      expect((await world.cli(argv)).code).toBe(0);
    }
    world.clock.advance(5 * HOUR);
    // `reap` terminates four instances at a time, in ID order, so the fifth waits.
    const moving = once(() => world.cli(['instances', 'expire', 'lab-3', '--after', '8h']));
    const slowly = async (id: string) => {
      expect((await moving()).code).toBe(0);
      return world.rented.terminate(id);
    };
    world.rented.terminations.push(slowly, slowly, slowly, slowly);
    const { stdout } = await world.cli(REAP);
    expect(JSON.parse(stdout)).toHaveLength(4);
    expect(statusOf(ids.at(-1) ?? '')).toBe('PROVISIONING');
  });

  test('exits with 9 for a deadline that becomes unreadable, and reports the instance', async () => {
    const ids = ['7', '8', '9', 'a'].map((digit) => `${ID.slice(0, -1)}${digit}`);
    for (const [at, id] of ids.entries()) {
      world.rented.newId = () => id;
      const argv = ['instances', 'create', `lab-${at}`, ...CREATE.slice(3), ...IN_FOUR_HOURS];
      expect((await world.cli(argv)).code).toBe(0);
    }
    world.clock.advance(5 * HOUR);
    // `reap` terminates four instances at a time, in ID order, so the fifth waits.
    const last = ids.at(-1) ?? '';
    // Lists the files before the run, since locks appear and vanish.
    const files = readdirSync(world.home, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith(`deadlines/${last}.json`))
      .map((path) => join(world.home, path));
    expect(files).toHaveLength(1);
    const slowly = (id: string) => {
      for (const path of files) writeFileSync(path, '{"ver');
      return world.rented.terminate(id);
    };
    world.rented.terminations.push(slowly, slowly, slowly, slowly);
    const { stdout } = await world.cli(REAP);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ id: last, outcome: 'refused' }),
    );
    expect(statusOf(last)).toBe('PROVISIONING');
    await world.cli([...REAP, '--dry-run']);
  });

  test('lists overdue instances as possibly billing if the service fails', async () => {
    world.clock.advance(5 * HOUR);
    world.rented.failing.add('/users/me');
    world.rented.failing.add(`/instances/${ID}`);
    await world.cli(REAP);
  });

  test('omits the deadline warning after a failed termination', async () => {
    world.clock.advance(5 * HOUR);
    world.rented.terminations = Array.from({ length: 4 }, () => () => no(409, 'Wrong state'));
    await world.cli(REAP);
  });

  test("prints the terminated instances even if the jobs can't be read", async () => {
    world.clock.advance(5 * HOUR);
    writeFileSync(join(world.home, 'state', 'jobs'), 'no folder');
    const { code, stderr } = await world.cli(REAP);
    expect({ code, error: errorOf(stderr) }).toMatchObject({ code: 9, error: { code: 'storage' } });
  });

  test('locks the deadline while terminating the instance', async () => {
    world.clock.advance(5 * HOUR);
    let moving: Promise<{ code: number }> | undefined;
    world.rented.terminations.push(async (id) => {
      moving = world.cli(['instances', 'expire', 'trainer', '--after', '8h']);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return world.rented.terminate(id);
    });
    expect((await world.cli(REAP)).code).toBe(0);
    expect((await moving)?.code).toBe(5);
  });

  test('terminates an instance once in three concurrent runs', async () => {
    world.clock.advance(5 * HOUR);
    const runs = await Promise.all([world.cli(REAP), world.cli(REAP), world.cli(REAP)]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    const outcomes = runs.flatMap(({ stdout }) =>
      JSON.parse(stdout).map(({ outcome }: { outcome: string }) => outcome),
    );
    expect(outcomes.filter((outcome) => outcome === 'terminated')).toHaveLength(1);
  });
});

describe('an overdue request with an unknown outcome', () => {
  const lose = async (isMade: boolean) => {
    world.rented.posts.push(() => {
      if (isMade) world.rented.rent(ID, 'trainer');
      return 'hangUp';
    });
    expect((await world.cli([...CREATE, ...IN_FOUR_HOURS])).code).toBe(7);
  };

  test.each([
    ['is listed', ['instances', 'list']],
    ['is shown by recover', ['instances', 'recover']],
    ['is tracked', ['instances', 'track', ID]],
    ['is not known here', ['drives', 'list']],
  ])('does not terminate an attached instance with the same name that %s', async (_what, argv) => {
    await lose(false);
    world.clock.advance(60_000);
    // Simulates an instance from the web console or another computer.
    world.rented.rent(ID, 'trainer', { status: 'ACTIVE' });
    world.rented.drives = [{ id: 'drive-1', current_instance_id: ID }];
    await world.cli(argv);
    world.clock.advance(5 * HOUR);
    for (const more of [[], ['--yes']]) {
      const { code, stdout, requests } = await world.cli([...REAP, ...more]);
      expect({ code, rows: JSON.parse(stdout) }).toMatchObject({
        code: 7,
        rows: [{ id: null, name: 'trainer', outcome: 'unknown' }],
      });
      expect(requests.filter(terminations)).toEqual([]);
    }
    expect(statusOf(ID)).toBe('ACTIVE');
  });

  test('is shown by a dry run, which sends no request that rents or terminates', async () => {
    await lose(true);
    const deadline = world.at(4);
    world.clock.advance(5 * HOUR);
    const { code, stdout, requests } = await world.cli([...REAP, '--dry-run']);
    const why = 'the outcome of its request is unknown';
    expect({ code, rows: JSON.parse(stdout) }).toEqual({
      code: 0,
      rows: [{ id: null, name: 'trainer', deadline, action: 'nothing', why }],
    });
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    await world.cli(['instances', 'reap', '--dry-run', '-q']);
    await world.cli(['instances', 'reap', '--status', '-q']);
    await world.cli(['instances', 'reap', '-q']);
  });

  test("exits with 7 if the request's instance is unknown", async () => {
    await lose(true);
    world.clock.advance(5 * HOUR);
    await world.cli(REAP);
  });

  test('ignores a request with an unknown outcome before its deadline', async () => {
    await lose(false);
    expect(await world.cli(REAP)).toMatchObject({ code: 0, stdout: '[]\n' });
  });
});

describe('the heartbeat', () => {
  const scheduled = [...REAP, '--every', '5m'];

  test('writes a heartbeat in a scheduled run, but not in a manual run', async () => {
    await world.cli(REAP);
    expect(heartbeat()).toBeUndefined();
    expect((await world.cli([...CREATE, '--terminate-after', '4h'])).code).toBe(2);
    expect((await world.cli(scheduled)).code).toBe(0);
    expect(heartbeat()).toMatchObject({ account: 'user-1', every: 300_000, at: world.at(0) });
    expect((await world.cli([...CREATE, '--terminate-after', '4h'])).code).toBe(0);
  });

  test('keeps the last heartbeat while the service fails, and stores the failure', async () => {
    await world.cli(scheduled);
    const before = heartbeat();
    world.clock.advance(11 * 60_000);
    world.rented.failing.add('/users/me');
    expect((await world.cli(scheduled)).code).not.toBe(0);
    expect(heartbeat()).toMatchObject({ at: before?.at, failure: { at: expect.any(String) } });
    await world.cli([...CREATE, '--terminate-after', '4h']);
  });

  test('keeps the last heartbeat if it can not read the deadlines', async () => {
    await rentForFourHours(world);
    await world.cli(scheduled);
    const before = heartbeat();
    world.clock.advance(60_000);
    const [folder = ''] = journalFolders(world, 'deadlines');
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'no folder');
    await world.cli(scheduled);
    expect(heartbeat()).toMatchObject({ at: before?.at, failure: { at: world.at(0) } });
  });

  test('writes a heartbeat even if the service refuses to terminate', async () => {
    await rentForFourHours(world);
    world.clock.advance(5 * HOUR);
    world.rented.terminations.push(() => no(403, 'Forbidden'));
    expect((await world.cli(scheduled)).code).toBe(4);
    expect(heartbeat()).toMatchObject({ at: expect.any(String) });
  });
});

describe('every other command', () => {
  test('reports instances past their deadline, and terminates nothing', async () => {
    await rentForFourHours(world);
    world.clock.advance(7 * HOUR);
    const { requests } = await world.cli(['drives', 'list', '-q']);
    expect(requests.filter(terminations)).toEqual([]);
    await world.cli(REAP);
    expect((await world.cli(['drives', 'list', '-q'])).stderr).toBe('');
  });

  test("omits the overdue warning before the deadline by the service's clock", async () => {
    await rentForFourHours(world);
    world.clock.advance(26 * HOUR);
    world.ahead = -26 * HOUR;
    expect((await world.cli(['drives', 'list', '-q'])).stderr).toBe('');
    // Without a response, the service's time is unknown.
    expect((await world.cli(['profiles', 'list'])).stderr).not.toContain('deadline');
  });

  test('does not report an untracked instance as overdue', async () => {
    await rentForFourHours(world);
    await world.cli(['instances', 'untrack', 'trainer', '--yes']);
    world.clock.advance(7 * HOUR);
    expect((await world.cli(['drives', 'list', '-q'])).stderr).toBe('');
    expect((await world.cli(REAP)).stdout).toBe('[]\n');
  });
});

test("terminates a sandbox instance by the sandbox's clock", async () => {
  const sandbox = await createSandboxWorld();
  await sandbox.cli([...CREATE, ...IN_FOUR_HOURS]);
  await sandbox.sandbox.advance(3 * HOUR);
  expect((await sandbox.cli(REAP)).stdout).toBe('[]\n');
  await sandbox.sandbox.advance(2 * HOUR);
  await sandbox.cli(REAP);
  expect(await listed(sandbox)).toMatchObject([{ status: expect.stringMatching(/^TERMINAT/) }]);
});

test.each([
  ['--install', '--uninstall'],
  ['--install', '--status'],
  ['--uninstall', '--status'],
  ['--install', '--dry-run'],
  ['--uninstall', '--dry-run'],
  ['--status', '--dry-run'],
])('refuses %s with %s', async (one, other) => {
  const { code, stderr, requests } = await world.cli(['instances', 'reap', one, other]);
  expect({ code, stderr, requests }).toEqual({
    code: 2,
    stderr: `error: option '${other}' cannot be used with option '${one}'\n`,
    requests: [],
  });
});
