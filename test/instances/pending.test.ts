import { beforeEach, describe, expect, test } from 'vitest';
import { NEW, RentingService } from '../support/renting-service.ts';
import { createWorld, journalOf, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import type { RecordedRequest } from '../support/service.ts';
import { ok } from '../support/service.ts';
import { errorOf } from '../support/stderr-lines.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const SOURCE = '3f0c5d9e-1111-4222-8333-444455558888';
const CREATE = ['instances', 'create', 'trainer', ...HARDWARE];
const REORDER = ['instances', 'reorder', SOURCE, 'trainer'];

let world: World;
let service: RentingService;
beforeEach(async () => {
  service = new RentingService();
  service.rent(SOURCE, 'old', { status: 'TERMINATED' });
  world = await createWorld({ handler: service.handler, isKeyNew: true });
});

const posts = (requests: readonly RecordedRequest[]) =>
  requests.filter(({ method }) => method === 'POST').length;
const listed = async () =>
  JSON.parse((await world.cli(['instances', 'list', '--json'])).stdout) as { status: string }[];

async function lose(argv = CREATE): Promise<void> {
  service.posts.push(() => 'hangUp');
  expect((await world.cli(argv)).code).toBe(7);
}

describe.each([
  ['create', CREATE],
  ['reorder', REORDER],
])('%s with the name of a known instance', (_verb, argv) => {
  test("exits with 5 (name_taken), prints the known instance's ID and sends nothing", async () => {
    await world.cli(CREATE);
    const { stderr } = await world.cli([...argv, '--json']);
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error).toMatchObject({
      code: 'name_taken',
      resource: NEW,
      message: `trainer already exists (${NEW}, PROVISIONING). Nothing was sent.`,
    });
    // After the refusal, the name is free.
    expect(await listed()).toMatchObject([{ id: NEW }]);
  });

  test("sends the request for a known instance's name with --yes", async () => {
    await world.cli(CREATE);
    service.posts.push(() => ok(service.rent(ID, 'trainer'), 201));
    await world.cli([...argv, '--yes']);
    expect(await listed()).toHaveLength(2);
  });

  test.each(['TERMINATED', 'TERMINATING'])(
    "sends the request for a known instance's name if the instance is now %s",
    async (status) => {
      await world.cli(CREATE);
      service.rent(NEW, 'trainer', { status });
      service.posts.push(() => ok(service.rent(ID, 'trainer'), 201));
      expect(posts((await world.cli(argv)).requests)).toBe(1);
    },
  );

  test('exits with 7 and sends nothing if the service does not find the instance', async () => {
    await world.cli(CREATE);
    service.instances.delete(NEW);
    for (const more of [[], ['--json']]) {
      await world.cli([...argv, ...more]);
    }
    await world.cli([...argv, '--json']);
    await world.cli(argv, { terminal: true, stdin: '\r' });
    service.posts.push(() => ok(service.rent(ID, 'trainer'), 201));
    const yes = await world.cli(argv, { terminal: true, stdin: 'y\r' });
    expect(posts(yes.requests)).toBe(1);
    expect(await listed()).toMatchObject([{ id: ID }, { id: NEW, status: 'GONE' }]);
  });

  test('sends the request for a missing instance with --yes or after untrack', async () => {
    await world.cli(CREATE);
    service.instances.delete(NEW);
    service.posts.push(() => ok(service.rent(ID, 'trainer'), 201));
    expect(posts((await world.cli([...argv, '--yes'])).requests)).toBe(1);
    service.instances.delete(ID);
    for (const id of [ID, NEW]) await world.cli(['instances', 'untrack', id, '--yes']);
    expect(posts((await world.cli(argv)).requests)).toBe(1);
  });

  test('exits with 5 if the termination of the instance was rolled back', async () => {
    await world.cli(CREATE);
    await world.cli(['instances', 'terminate', 'trainer', '--yes']);
    service.rent(NEW, 'trainer', { status: 'ACTIVE' });
    const { stderr } = await world.cli([...argv, '--json']);
    expect(errorOf(stderr)).toMatchObject({ code: 'name_taken', resource: NEW });
  });

  test('sends the request if the service no longer finds a TERMINATING instance', async () => {
    await world.cli(CREATE);
    await world.cli(['instances', 'terminate', 'trainer', '--yes']);
    service.instances.delete(NEW);
    service.posts.push(() => ok(service.rent(ID, 'trainer'), 201));
    expect(posts((await world.cli(argv)).requests)).toBe(1);
  });

  test("exits with 1 and sends nothing if the instance can't be read", async () => {
    await world.cli(CREATE);
    service.failing.add(`/instances/${NEW}`);
    await world.cli(argv);
    expect(await listed()).toHaveLength(1);
  });
});

test('treats a name in capital letters as the same name', async () => {
  const create = (name: string) => ['instances', 'create', name, ...HARDWARE, '--json'];
  await world.cli(CREATE);
  const { stderr } = await world.cli(create('TRAINER'));
  expect(errorOf(stderr)).toMatchObject({ code: 'name_taken', resource: NEW });
  await lose(create('lost'));
  await world.cli(create('LOST'));
  // The service no longer finds it.
  service.instances.delete(NEW);
  await world.cli(create('TRAINER'));
  await world.cli([...CREATE, '--dry-run'], { terminal: true });
});

test('rents only once if the service does not find the new instance yet', async () => {
  const codes: number[] = [];
  let sent = 0;
  for (const id of [NEW, ID, SOURCE.replace('8888', '9999')]) {
    service.newId = () => id;
    const { code, requests } = await world.cli(CREATE);
    // The service does not find the new instance yet.
    service.instances.delete(id);
    codes.push(code);
    sent += posts(requests);
  }
  expect({ codes, sent }).toEqual({ codes: [0, 7, 7], sent: 1 });
});

describe.each([
  ['create', CREATE],
  ['reorder', REORDER],
])('%s with the name of an unresolved request', (_verb, argv) => {
  test("exits with 7 for an unresolved request's name when not interactive, and sends nothing", async () => {
    await lose();
    await world.cli(argv);
    expect(errorOf((await world.cli([...argv, '--json'])).stderr)).toMatchObject({
      code: 'outcome_unknown',
      resource: 'trainer',
      may_be_billing: true,
    });
  });

  test("asks before sending an unresolved request's name, with No as the default", async () => {
    await lose();
    await world.cli(argv, { terminal: true, stdin: '\r' });
    const cancelled = await world.cli(argv, { terminal: true, stdin: '\u0003' });
    expect(cancelled.code).toBe(130);
    expect(cancelled.stderr.match(/Nothing was sent/g)).toHaveLength(1);
    const yes = await world.cli(argv, { terminal: true, stdin: 'y\r' });
    expect(posts(yes.requests)).toBe(1);
  });

  test('sends the request for an unresolved name with --yes, and still lists the earlier one', async () => {
    await lose();
    expect((await world.cli([...argv, '--yes'])).code).toBe(0);
    expect(await listed()).toMatchObject([{ status: 'UNKNOWN' }, { id: NEW }]);
    // The consent applies only to that command.
    await world.cli(['instances', 'terminate', NEW, '--yes']);
    service.rent(NEW, 'trainer', { status: 'TERMINATED' });
    expect((await world.cli(argv)).code).toBe(7);
    await world.cli(['instances', 'untrack', 'trainer', '--yes']);
    expect(posts((await world.cli(argv)).requests)).toBe(1);
  });

  test('exits with 7 while another process creates the name, even with --yes', async () => {
    const isAlive = (pid: number) => pid === process.pid;
    await world.cli(['instances', 'list']);
    const journal = journalOf(world, { service: world.service.url, account: 'user-1' }, isAlive);
    const request = { operation: 'create', offer_id: null, timeout_ms: 60_000 } as const;
    const other = await journal.open({ ...request, name: 'trainer' }, new Set());
    for (const more of [[], ['--yes']]) {
      await world.cli([...argv, ...more], { isAlive });
    }
    await other?.notMade();
    expect(posts((await world.cli(argv, { isAlive })).requests)).toBe(1);
  });
});

describe.each([
  ['create', CREATE],
  ['reorder', REORDER],
])("%s with a terminated instance's name", (_verb, argv) => {
  const journal = () => journalOf(world, { service: world.service.url, account: 'user-1' });

  test('reads instances with the same name before it reserves the name', async () => {
    await world.cli(CREATE);
    service.rent(NEW, 'trainer', { status: 'TERMINATED' });
    const held: number[] = [];
    service.onRead = async (id) => {
      if (id === NEW) held.push((await journal().requests()).length);
    };
    expect(posts((await world.cli(argv)).requests)).toBe(1);
    expect(held).toEqual([0]);
  });

  test('exits with 5 if another process takes the name during the check', async () => {
    await world.cli(CREATE);
    service.rent(NEW, 'trainer', { status: 'TERMINATED' });
    service.onRead = async (id) => {
      if (id !== NEW) return;
      const request = { operation: 'create', offer_id: null, timeout_ms: 60_000 } as const;
      await (await journal().open({ ...request, name: 'trainer' }, new Set()))?.made(ID);
    };
    await world.cli(argv);
    expect(await journal().requests()).toEqual([]);
  });
});

describe('GPUCLOUD_API_KEY', () => {
  test('fetches the account once for GPUCLOUD_API_KEY, before the first rental request', async () => {
    const first = await world.cli(CREATE);
    expect(first.requests.map(({ path }) => path)).toEqual(['/users/me', '/instances']);
    const second = await world.cli(['instances', 'create', 'lab', ...HARDWARE]);
    expect(second.requests.map(({ path }) => path)).toEqual(['/instances']);
  });

  test("exits with 7 for a lost request's name after a key rotation", async () => {
    await lose();
    const env = { GPUCLOUD_API_KEY: 'svc_sk_rotated_0123456789' };
    await world.cli(CREATE, { env });
    expect((await world.cli(['instances', 'recover'], { env })).code).toBe(7);
  });

  test('frees the name of a lost request for another account', async () => {
    await lose();
    service.me = 'user-2';
    const env = { GPUCLOUD_API_KEY: 'svc_sk_stranger_0123456789' };
    expect(posts((await world.cli(CREATE, { env })).requests)).toBe(1);
    expect((await world.cli(['instances', 'list', '-q'], { env })).stdout).toBe(`${NEW}\n`);
  });

  test("exits with 1 and rents nothing if the account can't be read", async () => {
    service.failing.add('/users/me');
    await world.cli(CREATE);
  });
});

test.each([CREATE, REORDER])(
  'reports the requested name if the response is lost: %s %s',
  async (...argv) => {
    service.posts.push(() => 'hangUp');
    const { stderr } = await world.cli([...argv, '--json']);
    const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
    expect(error).toMatchObject({ resource: 'trainer', may_be_billing: true });
    expect(error.message).toContain('trainer');
  },
);
