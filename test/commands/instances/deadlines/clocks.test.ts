import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { heartbeatOf } from '../../../../src/journal/index.ts';
import { lazy as once } from '../../../../src/lazy.ts';
import type { Answer } from '../../../support/service.ts';
import { errorOf } from '../../../support/stderr-lines.ts';
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
  world.rented.shows = () => ({ price_per_hour_snapshot: '89.90' });
});

const MINUTE = 60_000;
const YEAR_9999 = Date.parse('9999-12-31T23:59:59Z');
const REAP = ['instances', 'reap', '--json', '--every', '5m'];
const STATUS = ['instances', 'reap', '--status', '--json'];
const statusOf = (id: string) => world.rented.instances.get(id)?.status;
const heartbeat = () => heartbeatOf(join(world.home, 'state'), '@environment');
const posts = ({ method }: { method: string }) => method === 'POST';

const ahead = (hours: number) => (now: number) => now + hours * HOUR;
const WRONG = [
  ['26 h ahead', ahead(26)],
  ['3 h ahead, local time labelled GMT', ahead(3)],
  ['in the year 9999', () => YEAR_9999],
  ['26 h behind', ahead(-26)],
  ['3 h behind', ahead(-3)],
] as const;

async function attention(): Promise<{ code: string; message: string }[]> {
  const { stdout } = await world.cli(['status', '--json']);
  return JSON.parse(stdout).attention.filter(({ code }: { code: string }) =>
    code.startsWith('deadline_'),
  );
}

describe('a single response with a wrong time', () => {
  beforeEach(() => rentForFourHours(world));

  test.each(WRONG)(
    'exits with 10 after one response with a wrong time, but not in the next run: %s',
    async (_how, date) => {
      await world.cli(REAP);
      const before = heartbeat();
      for (const hours of [1, 4]) {
        world.clock.advance(hours * HOUR);
        world.dates.push(date);
        const wrong = await world.cli(REAP);
        expect({ code: wrong.code, stdout: wrong.stdout }).toEqual({ code: 10, stdout: '' });
        expect(errorOf(wrong.stderr)).toMatchObject({
          code: 'not_understood',
          message: expect.stringMatching(
            /^The service's clock is inconsistent: one response shows .*, and the next, 3 s later, shows 2026-01-15 .*\. No changes made\. The deadline of trainer is not enforced before the next run\.$/,
          ),
          retryable: true,
          may_be_billing: true,
        });
        expect(statusOf(ID)).toBe('PROVISIONING');
        expect(heartbeat()).toMatchObject({ at: before?.at, failure: { at: expect.any(String) } });
        expect(JSON.parse((await world.cli(STATUS)).stdout)).toMatchObject({
          armed: false,
          reason: expect.stringContaining("failed now: The service's clock is inconsistent"),
        });
      }
      expect((await world.cli(REAP)).code).toBe(0);
      expect(statusOf(ID)).toBe('TERMINATING');
      expect(heartbeat()).not.toHaveProperty('failure');
    },
  );

  test.each(WRONG)(
    'rejects a deadline after a response with a wrong time: %s',
    async (_how, date) => {
      world.dates.push(date);
      await world.cli(['instances', 'expire', 'trainer', '--after', '8h']);
      expect(recordsIn(world, 'deadlines')).toMatchObject([{ deadline: world.at(4 - 3 / 3600) }]);
      world.dates.push(date);
      const argv = ['instances', 'create', 'lab', ...CREATE.slice(3), ...IN_FOUR_HOURS];
      const { code, requests } = await world.cli(argv);
      expect({ code, posts: requests.filter(posts) }).toEqual({ code: 10, posts: [] });
    },
  );

  test('skips an instance whose deadline moved during the run', async () => {
    const ids = ['7', '8', '9', 'a'].map((digit) => `${ID.slice(0, -1)}${digit}`);
    for (const [at, id] of ids.entries()) {
      world.rented.newId = () => id;
      const argv = ['instances', 'create', `lab-${at}`, ...CREATE.slice(3), ...IN_FOUR_HOURS];
      expect((await world.cli(argv)).code).toBe(0);
    }
    world.clock.advance(5 * HOUR);
    const moving = once(() => world.cli(['instances', 'expire', 'lab-3', '--after', '8h']));
    // `reap` terminates four instances at a time, in ID order, so the fifth waits.
    const slowly = async (id: string) => {
      expect((await moving()).code).toBe(0);
      world.dates.push(ahead(26), ahead(26), ahead(26));
      return world.rented.terminate(id);
    };
    world.rented.terminations.push(slowly, slowly, slowly, slowly);
    const { stdout } = await world.cli(REAP);
    expect(JSON.parse(stdout)).toHaveLength(4);
    expect(statusOf(ids.at(-1) ?? '')).toBe('PROVISIONING');
  });
});

describe("a proxy's time", () => {
  const page = { status: 503, headers: { 'content-type': 'text/html' }, body: '<html>Wait</html>' };
  const json = { status: 502, body: { error: 'upstream' } };

  beforeEach(() => rentForFourHours(world));

  /** Responds to the next requests like a proxy whose clock is 26 hours ahead. */
  function throughProxy(...answers: Answer[]): void {
    const { handler } = world.rented;
    Object.assign(world.rented, {
      handler: (request: Parameters<typeof handler>[0]) => {
        const answer = answers.shift();
        if (answer === undefined) return handler(request);
        world.dates.push(ahead(26));
        return answer;
      },
    });
  }

  test.each([
    ['an HTML 503', [page]],
    ['two HTML 503s', [page, page]],
    ['a JSON 502', [json]],
  ])("ignores a proxy's time in %s", async (_what, answers) => {
    throughProxy(...answers);
    await world.cli(REAP);
    expect(statusOf(ID)).toBe('PROVISIONING');
  });

  test.each([
    ['an HTML page', '<html>Sign in</html>'],
    ['JSON without data', '{"ok":true}'],
  ])("exits with 10 for a proxy's time in a 200 with %s", async (_what, body) => {
    throughProxy({ status: 200, body });
    await world.cli(REAP);
    expect(statusOf(ID)).toBe('PROVISIONING');
    // Without the proxy, the deadline is unchanged.
    expect((await world.cli(REAP)).code).toBe(0);
    expect(await listed(world)).toMatchObject([{ ends_at: world.at(4) }]);
  });

  test("keeps the last heartbeat after a proxy's 401", async () => {
    expect((await world.cli(REAP)).code).toBe(0);
    const before = heartbeat();
    throughProxy({ ...page, status: 401 });
    await world.cli(REAP);
    expect(heartbeat()).toMatchObject({ at: before?.at, failure: {} });
  });

  test("sets a new deadline by the service's time, not the proxy's", async () => {
    throughProxy(page);
    const argv = ['instances', 'expire', 'trainer', '--after', '8h'];
    expect((await world.cli(argv)).stderr).not.toContain('clock');
    const [{ deadline } = {}] = recordsIn(world, 'deadlines');
    expect(Date.parse(String(deadline)) - Date.parse(world.at(8))).toBeLessThanOrEqual(0);
  });
});

describe('a frozen service clock', () => {
  const frozen = Date.parse('2026-01-15T12:00:00Z');
  const freeze = () => world.dates.push(...Array.from({ length: 9 }, () => () => frozen));

  beforeEach(() => rentForFourHours(world));

  test("exits with 10 without a heartbeat in the next run if the service's clock is frozen", async () => {
    expect((await world.cli(REAP)).code).toBe(0);
    const before = heartbeat();
    freeze();
    world.clock.advance(MINUTE);
    const { stderr } = await world.cli(REAP);
    expect(errorOf(stderr).message).toMatch(
      /shows 2026-01-15 (\S+ \S+), and the next, 3 s later, shows 2026-01-15 \1\./,
    );
    expect(heartbeat()?.at).toBe(before?.at);
  });

  test("exits with 10 in a first run after the deadline if the service's clock is frozen", async () => {
    freeze();
    world.clock.advance(5 * HOUR);
    expect((await world.cli(['instances', 'reap'])).code).toBe(10);
  });
});

describe('a clock difference confirmed by two responses', () => {
  beforeEach(() => rentForFourHours(world));

  test.each([
    [26, 'ahead of'],
    [-26, 'behind'],
  ])(
    'reports a lasting clock difference in status, reap --status and the heartbeat: %i h',
    async (hours, how) => {
      await world.arm('@environment');
      expect(await attention()).toEqual([]);
      world.ahead = hours * HOUR;
      expect(await attention()).toContainEqual(
        expect.objectContaining({ code: 'deadline_doubtful' }),
      );
      expect((await world.cli(REAP)).code).toBe(0);
      expect(statusOf(ID)).toBe(hours > 0 ? 'TERMINATING' : 'PROVISIONING');
      expect(heartbeat()).toMatchObject({ ahead: hours * HOUR });
      world.rented.rent(ID, 'trainer', { status: 'ACTIVE' });
      const reason = `the service's clock is 1 day 2 h ${how} this computer's`;
      const shown = async () => JSON.parse((await world.cli(STATUS)).stdout);
      expect(await shown()).toMatchObject({ armed: true, reason });
      const doubtful = {
        code: 'deadline_doubtful',
        resource: ID,
        message: `The deadline of trainer may not be enforced in time: ${reason}`,
        command: 'gpucloud instances reap --status',
      };
      expect(await attention()).toContainEqual(doubtful);
      // The deadline has passed, but no later run has confirmed the clock.
      world.ahead = 0;
      expect(await attention()).toContainEqual(doubtful);
      expect((await world.cli(REAP)).code).toBe(0);
      expect(await shown()).toMatchObject({ armed: true, reason: null });
      expect(await attention()).toEqual([]);
    },
  );

  test.each([26, -26])(
    "keeps deadlines on time after this computer's clock moves %i hours",
    async (hours) => {
      expect((await world.cli(REAP)).code).toBe(0);
      world.clock.step(hours * HOUR);
      world.ahead = -hours * HOUR;
      world.clock.advance(3 * HOUR);
      expect(await world.cli(REAP)).toMatchObject({ code: 0, stdout: '[]\n' });
      world.clock.advance(2 * HOUR);
      expect((await world.cli(REAP)).code).toBe(0);
      expect(statusOf(ID)).toBe('TERMINATING');
    },
  );

  test.each([26, -26])(
    "keeps deadlines on time if this computer's clock moves %i hours during the run",
    async (hours) => {
      const { sleep } = world.clock;
      let isSet = false;
      world.clock.sleep = async (...given) => {
        await sleep(...given);
        if (isSet) return;
        isSet = true;
        world.clock.step(hours * HOUR);
        world.ahead -= hours * HOUR;
      };
      world.ahead = 10 * MINUTE;
      expect(await world.cli(REAP)).toMatchObject({ code: 0, stdout: '[]\n' });
      expect(statusOf(ID)).toBe('PROVISIONING');
      isSet = false;
      world.clock.advance(3 * HOUR);
      expect((await world.cli(REAP)).stdout).toBe('[]\n');
      isSet = false;
      world.clock.advance(HOUR);
      expect((await world.cli(REAP)).code).toBe(0);
      expect(statusOf(ID)).toBe('TERMINATING');
    },
  );
});

test("reads the time from an instance if the profile can't be read", async () => {
  await rentForFourHours(world);
  world.rented.failing.add('/users/me');
  world.ahead = 26 * HOUR;
  // Dates the three failed reads of /users/me, then one instance read with a wrong time.
  world.dates.push(...[0, 0, 0].map(ahead), ahead(5));
  const wrong = await world.cli(REAP);
  expect({ code: wrong.code, status: statusOf(ID) }).toEqual({ code: 10, status: 'PROVISIONING' });
  expect((await world.cli(REAP)).code).toBe(1);
  expect(statusOf(ID)).toBe('TERMINATING');
});
