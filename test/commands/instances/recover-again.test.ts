import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openJournal } from '../../../src/journal/index.ts';
import { NEW, ok, RentingService } from '../../support/renting-service.ts';
import { createWorld, TEST_KEY, type World } from '../../support/run-cli.ts';
import { HARDWARE, OFFER } from '../../support/sandbox-ids.ts';
import type { RecordedRequest } from '../../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const DRIVE = '3f0c5d9e-0000-4222-8333-444455556666';
const CREATE = ['instances', 'create', 'trainer', ...HARDWARE];
const RETRY = ['instances', 'recover', '--retry', '--json'];
const SECOND_KEY = 'svc_sk_test_second_0123456789';

let world: World;
let service: RentingService;
beforeEach(async () => {
  service = new RentingService();
  world = await createWorld({ handler: service.handler });
});
afterEach(() => world.close());

/** A creation whose answer is lost, with a machine made where one is given. */
async function lose(argv: readonly string[], made?: { name: string; price?: string }) {
  service.posts.push(() => {
    if (made !== undefined) rent(made.name, made.price);
    return 'hangUp';
  });
  const { code } = await world.cli(argv);
  expect(code).toBe(7);
}

function rent(name: string, price?: string) {
  const priced = price === undefined ? {} : { price_per_hour_snapshot: price };
  return service.rent(ID, name, priced as object);
}

/** The service answers to a termination, which the plain one does not know. */
function terminates(): void {
  const plain = service.handler;
  Object.assign(service, {
    handler: (request: RecordedRequest) => {
      const [, , id = '', verb] = request.path.split('/');
      const machine = service.machines.get(id);
      if (verb !== 'terminate' || machine === undefined) return plain(request);
      service.machines.set(id, { ...machine, status: 'TERMINATING' });
      return ok({ status: 'TERMINATING' });
    },
  });
}

async function worldThatTerminates(): Promise<void> {
  await world.close();
  terminates();
  world = await createWorld({ handler: service.handler });
}

const posts = (requests: readonly RecordedRequest[]) =>
  requests.filter(({ method }) => method === 'POST').map(({ path }) => path);
const listed = async (env: Record<string, string> = {}) =>
  JSON.parse((await world.cli(['instances', 'list', '--json'], { env })).stdout);
const errorOf = (stderr: string) => JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error;

describe('a request is made again once', () => {
  test('though several of its name are open: what settles one settles the others', async () => {
    await lose(CREATE);
    await lose(RETRY);
    const { code, stdout, requests } = await world.cli(RETRY);
    expect(posts(requests)).toEqual(['/instances']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'trainer', outcome: 'replaced', id: NEW },
      { name: 'trainer', outcome: 'replaced', id: NEW },
    ]);
    expect(await listed()).toMatchObject([{ id: NEW, status: 'PROVISIONING' }]);
  });

  test('though another process does it at the same moment', async () => {
    await lose(CREATE);
    const isAlive = () => true;
    let second: Awaited<ReturnType<World['cli']>> | undefined;
    service.posts.push(async () => {
      // The first waits for its answer meanwhile.
      second = await world.cli(RETRY, { isAlive });
      return ok(service.rent(NEW, 'trainer'), 201);
    });
    const first = await world.cli(RETRY, { isAlive });
    expect(posts(first.requests)).toEqual(['/instances']);
    expect(first.code).toBe(0);
    expect(second?.code).toBe(7);
    expect(JSON.parse(second?.stdout ?? '')).toMatchObject([
      { outcome: 'unknown', note: expect.stringContaining('another gpucloud settles it just now') },
    ]);
    expect(await listed()).toMatchObject([{ id: NEW }]);
  });

  test('though its process was killed before it could settle the first', async () => {
    await lose(CREATE);
    const rentals = openJournal({
      folder: join(world.home, 'state', 'rentals'),
      scope: { service: world.service.url, apiKey: TEST_KEY },
      clock: world.clock,
      pid: 1,
      isAlive: () => false,
    });
    const [open] = await rentals.unknown();
    const again = await rentals.intend({
      operation: 'create',
      name: 'trainer',
      offer_id: OFFER,
      retry_of: open?.uid ?? '',
    });
    await again.settle('rented', { id: NEW });
    // Its machine is over before anybody looks, and whoever does files it away.
    service.rent(NEW, 'trainer', { status: 'TERMINATED' });
    await listed();
    const { code, stdout, requests } = await world.cli(RETRY);
    expect({ code, posts: posts(requests), stdout: JSON.parse(stdout) }).toEqual({
      code: 0,
      posts: [],
      stdout: [],
    });
    await again.close();
  });

  test('never under another name than is told: a file that was imported may say anything', async () => {
    await lose(CREATE);
    const { stdout } = await world.cli(['instances', 'export']);
    const env = { GPUCLOUD_STATE_DIR: join(world.home, 'second') };
    const stdin = stdout.replace('"instance_name": "trainer"', '"instance_name": "costly"');
    expect((await world.cli(['instances', 'import', '-'], { env, stdin })).code).toBe(0);
    const again = await world.cli(RETRY, { env });
    expect({ code: again.code, posts: posts(again.requests) }).toEqual({ code: 7, posts: [] });
    expect(JSON.parse(again.stdout)[0].note).toContain('is of another name');
  });

  test('nothing follows for it from an imported one of another name', async () => {
    await lose(CREATE);
    const { stdout } = await world.cli(['instances', 'export']);
    const journal = JSON.parse(stdout);
    const [{ intent }] = journal.requests;
    const uid = `${intent.uid.slice(0, -1)}${intent.uid.endsWith('0') ? '1' : '0'}`;
    journal.requests = [{ intent: { ...intent, uid, name: 'other', retry_of: intent.uid } }];
    service.rent(ID, 'other');
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const stdin = JSON.stringify(journal);
    expect((await world.cli(['instances', 'import', '-'], { stdin })).stderr).toContain(
      `Settled the request for other: it is ${ID}`,
    );
    expect(await listed()).toMatchObject([{ name: 'trainer', status: 'UNKNOWN' }, { id: ID }]);
  });

  test('an answer that is no use but for its id settles the first', async () => {
    await lose(CREATE);
    service.posts.push(() => {
      service.rent(NEW, 'trainer');
      return ok({ id: NEW, name: 'trainer', status: 7 }, 201);
    });
    const { code, stdout } = await world.cli(RETRY);
    expect(JSON.parse(stdout)).toMatchObject([
      { outcome: 'replaced', id: NEW, may_be_billing: true },
    ]);
    expect(code).toBe(10);
    expect((await world.cli(['instances', 'recover'])).code).toBe(0);
  });
});

test('a machine at the drive of the request is its own, though the service keeps no case', async () => {
  service.drives = [{ id: DRIVE, current_instance_id: null }];
  await lose(['instances', 'create', 'Trainer', ...HARDWARE, '--drive', DRIVE], {
    name: 'trainer',
  });
  service.drives = [{ id: DRIVE, current_instance_id: ID }];
  const { code, stdout } = await world.cli(['instances', 'recover', '--json']);
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'Trainer', outcome: 'rented', id: ID }]);
  expect(code).toBe(0);
});

describe('--max-price of a request whose answer was lost', () => {
  const LIMITED = [...CREATE, '--max-price', '100'];

  beforeEach(worldThatTerminates);

  /** The next answer tells this price. */
  function next(price: string): void {
    service.posts.push(() => ok(rent('trainer', price), 201));
  }

  test('ends a dearer machine that is rented now', async () => {
    await lose(LIMITED);
    next('120.5');
    const { code, stdout, stderr, requests } = await world.cli(RETRY);
    expect(posts(requests)).toEqual(['/instances', `/instances/${ID}/terminate`]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject([
      { outcome: 'replaced', id: ID, may_be_billing: false },
    ]);
    expect(errorOf(stderr)).toMatchObject({
      may_be_billing: false,
      message: `trainer (${ID}) came out at 120.50 RUB an hour, over --max-price 100.00, and was terminated at once.`,
    });
    expect((await world.cli(['instances', 'recover'])).code).toBe(0);
  });

  test('lets one within it run', async () => {
    await lose(LIMITED);
    next('100.00');
    const { code, requests } = await world.cli(RETRY);
    expect({ code, posts: posts(requests) }).toEqual({ code: 0, posts: ['/instances'] });
  });

  test('is kept through a second answer that is lost', async () => {
    await lose(LIMITED);
    await lose(RETRY);
    next('101');
    const { code, requests } = await world.cli(RETRY);
    expect(posts(requests)).toEqual(['/instances', `/instances/${ID}/terminate`]);
    expect(code).toBe(1);
  });

  test('goes with the journal to another computer; what is no amount is refused', async () => {
    await lose(LIMITED);
    const { stdout } = await world.cli(['instances', 'export']);
    const env = { GPUCLOUD_STATE_DIR: join(world.home, 'second') };
    const bad = await world.cli(['instances', 'import', '-'], {
      env,
      stdin: stdout.replace('"max_price": "100"', '"max_price": "1e3"'),
    });
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain('max_price is missing or wrong');
    await world.cli(['instances', 'import', '-'], { env, stdin: stdout });
    next('101');
    const { requests } = await world.cli(RETRY, { env });
    expect(posts(requests)).toEqual(['/instances', `/instances/${ID}/terminate`]);
  });

  test('a dearer machine that is found is told, and ended when that is confirmed', async () => {
    service.drives = [{ id: 'd1', current_instance_id: null }];
    await lose(LIMITED, { name: 'trainer', price: '120.5' });
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const told = await world.cli(['instances', 'recover', '--json']);
    expect(posts(told.requests)).toEqual([]);
    expect(told.code).toBe(1);
    expect(JSON.parse(told.stdout)).toMatchObject([{ outcome: 'rented', id: ID }]);
    expect(errorOf(told.stderr)).toMatchObject({
      may_be_billing: true,
      resource: ID,
      message: `trainer (${ID}) came out at 120.50 RUB an hour, over --max-price 100.00, and is billing.`,
      hint: `gpucloud instances terminate ${ID}`,
    });
  });

  test.each([
    ['-y', { flags: ['-y'] }, true],
    ['Yes in a terminal', { flags: [], terminal: true, stdin: 'y\r' }, true],
    ['No, the default', { flags: [], terminal: true, stdin: '\r' }, false],
  ] as const)('a found one: %s', async (_what, { flags, ...how }, isEnded) => {
    service.drives = [{ id: 'd1', current_instance_id: null }];
    await lose(LIMITED, { name: 'trainer', price: '120.5' });
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const { code, stderr } = await world.cli(['instances', 'recover', ...flags], how);
    expect(code).toBe(1);
    expect(stderr).toContain(isEnded ? 'and was terminated at once' : 'and is billing.');
    expect(service.machines.get(ID)?.status).toBe(isEnded ? 'TERMINATING' : 'PROVISIONING');
  });

  test('who leaves at that question is told that it bills', async () => {
    service.drives = [{ id: 'd1', current_instance_id: null }];
    await lose(LIMITED, { name: 'trainer', price: '120.5' });
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    const { code, stderr } = await world.cli(['instances', 'recover'], {
      terminal: true,
      stdin: '\u0003',
    });
    expect(code).toBe(130);
    expect(stderr).toContain(`is billing. To end it: gpucloud instances terminate ${ID}`);
    expect((await world.cli(['instances', 'recover'])).code).toBe(0);
  });

  test('a found one within it is no matter', async () => {
    service.drives = [{ id: 'd1', current_instance_id: null }];
    await lose(LIMITED, { name: 'trainer', price: '99.99' });
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    expect((await world.cli(['instances', 'recover', '-y'])).code).toBe(0);
    expect(service.machines.get(ID)?.status).toBe('PROVISIONING');
  });

  test('track warns of it and ends nothing', async () => {
    await lose(LIMITED, { name: 'trainer', price: '120.5' });
    const { code, stderr } = await world.cli(['instances', 'track', ID]);
    expect(code).toBe(0);
    expect(stderr).toContain(
      `warning: trainer (${ID}) came out at 120.50 RUB an hour, over --max-price 100.00, and is billing. To end it: gpucloud instances terminate ${ID}`,
    );
    expect(service.machines.get(ID)?.status).toBe('PROVISIONING');
  });

  describe('holds though the create is repeated without it', () => {
    const WITHOUT = [...CREATE, '-y'];
    const lowerTwice = (first: readonly string[], second: readonly string[]) => async () => {
      service.drives = [{ id: 'd1', current_instance_id: null }];
      await lose(first, { name: 'trainer', price: '120.5' });
      world.clock.advance(1000);
      // The name is taken, and that answer is lost too.
      await lose(second);
      service.drives = [{ id: 'd1', current_instance_id: ID }];
    };
    const limited = (limit: string) => [...CREATE, '-y', '--max-price', limit];

    test.each([
      ['the first had one', lowerTwice(LIMITED, WITHOUT)],
      ['the second had one', lowerTwice(WITHOUT, limited('100'))],
      ['the second had a higher one', lowerTwice(LIMITED, limited('120'))],
      ['the first had one that is too high', lowerTwice(limited('130'), limited('100'))],
    ])('recover: %s', async (_what, begin) => {
      await begin();
      const { code, stdout, stderr } = await world.cli(['instances', 'recover', '--json']);
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject([
        { outcome: 'replaced', id: null },
        {
          outcome: 'rented',
          id: ID,
          may_be_billing: true,
          note: expect.stringContaining('over --max-price 100.00, and is billing'),
        },
      ]);
      expect(errorOf(stderr)).toMatchObject({ resource: ID, may_be_billing: true });
    });

    test('recover -y ends it', async () => {
      await lowerTwice(LIMITED, WITHOUT)();
      const { code, stdout } = await world.cli(['instances', 'recover', '-y', '--json']);
      expect(code).toBe(1);
      expect(JSON.parse(stdout)[1]).toMatchObject({ id: ID, may_be_billing: false });
      expect(service.machines.get(ID)?.status).toBe('TERMINATING');
    });

    test('track warns', async () => {
      await lose(LIMITED, { name: 'trainer', price: '120.5' });
      world.clock.advance(1000);
      await lose(WITHOUT);
      const { code, stderr } = await world.cli(['instances', 'track', ID]);
      expect(code).toBe(0);
      expect(stderr.split('Settled the request for trainer')).toHaveLength(3);
      expect(stderr.split(/^warning: .*over --max-price 100\.00/m)).toHaveLength(2);
    });

    test('and what is rented when it is made again is held to it', async () => {
      await lose(LIMITED);
      world.clock.advance(1000);
      await lose(WITHOUT);
      next('120.5');
      const { code, requests } = await world.cli(RETRY);
      expect(posts(requests)).toEqual(['/instances', `/instances/${ID}/terminate`]);
      expect(code).toBe(1);
    });

    test('not where the machine is older than the request that had it', async () => {
      service.drives = [{ id: 'd1', current_instance_id: null }];
      await lose(WITHOUT, { name: 'trainer', price: '120.5' });
      world.clock.advance(3_600_000);
      await lose(limited('100'));
      service.drives = [{ id: 'd1', current_instance_id: ID }];
      const { code, stdout } = await world.cli(['instances', 'recover', '--json']);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject([
        { outcome: 'rented', id: ID },
        { outcome: 'replaced' },
      ]);
    });

    test('nor the limit of another name', async () => {
      service.drives = [{ id: 'd1', current_instance_id: null }];
      await lose(WITHOUT, { name: 'trainer', price: '120.5' });
      await lose(['instances', 'create', 'other', ...HARDWARE, '--max-price', '100']);
      service.drives = [{ id: 'd1', current_instance_id: ID }];
      const { code } = await world.cli(['instances', 'recover', 'trainer']);
      expect(code).toBe(0);
      const both = await world.cli(['instances', 'recover']);
      expect({ code: both.code, told: both.stderr.includes('max-price') }).toEqual({
        code: 7,
        told: false,
      });
    });
  });

  describe('holds where the clocks differ', () => {
    const MINUTES = 60_000;

    /** A lost create, of whose machine the service, whose clock is told to be `told` late, says it was made `late` ago. */
    async function loseLate(told: number, late: number | null, argv: readonly string[] = LIMITED) {
      await world.close();
      terminates();
      const { handler } = service;
      world = await createWorld({
        handler: async (request) => {
          const answer = await handler(request);
          const date = new Date(world.clock.now() - told).toUTCString();
          return answer === 'hangUp' ? answer : { ...answer, headers: { date } };
        },
      });
      service.drives = [{ id: 'd1', current_instance_id: null }];
      service.posts.push(() => {
        const created_at = late === null ? null : new Date(world.clock.now() - late).toISOString();
        service.rent(ID, 'trainer', { price_per_hour_snapshot: '120.5', created_at } as object);
        return 'hangUp';
      });
      expect((await world.cli(argv)).code).toBe(7);
      service.drives = [{ id: 'd1', current_instance_id: ID }];
    }

    const WARNING = `warning: trainer (${ID}) came out at 120.50 RUB an hour, over --max-price 100.00`;

    test('recover takes the machine of a service whose clock is behind for what it is', async () => {
      await loseLate(20 * MINUTES, 20 * MINUTES);
      const { code, stdout } = await world.cli(['instances', 'recover', '-y', '--json']);
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject([{ outcome: 'rented', id: ID }]);
      expect(service.machines.get(ID)?.status).toBe('TERMINATING');
    });

    test('so does track', async () => {
      await loseLate(20 * MINUTES, 20 * MINUTES);
      service.drives = [];
      const { code, stderr } = await world.cli(['instances', 'track', ID]);
      expect(code).toBe(0);
      expect(stderr).toContain(`Settled the request for trainer: it is ${ID}`);
      expect(stderr).toContain(WARNING);
    });

    test.each([
      ['behind by what no header tells', 0, 20 * MINUTES],
      ['in another time zone', 0, 14 * 60 * MINUTES],
      ['not told at all', 0, null],
    ])('track warns of one that holds the name, the time %s', async (_what, told, late) => {
      await loseLate(told, late);
      const { code, stderr } = await world.cli(['instances', 'track', ID]);
      expect(code).toBe(0);
      expect(stderr).toContain(`the name is held by ${ID}`);
      expect(stderr.split(WARNING)).toHaveLength(2);
    });

    test('recover tells of that one too, and ends nothing that may be another', async () => {
      await loseLate(0, 20 * MINUTES);
      const { code, stdout, stderr } = await world.cli(['instances', 'recover', '-y', '--json']);
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject([
        {
          outcome: 'replaced',
          may_be_billing: true,
          note: expect.stringContaining('over --max-price 100.00, and is billing'),
        },
      ]);
      expect(errorOf(stderr)).toMatchObject({
        resource: ID,
        hint: `gpucloud instances terminate ${ID}`,
        may_be_billing: true,
      });
      expect(service.machines.get(ID)?.status).toBe('PROVISIONING');
    });

    test('and of two requests of the name it is told once', async () => {
      await loseLate(0, 20 * MINUTES);
      world.clock.advance(1000);
      await lose([...CREATE, '-y']);
      const { stderr } = await world.cli(['instances', 'track', ID]);
      expect(stderr.split('Settled the request for trainer')).toHaveLength(3);
      expect(stderr.split(WARNING)).toHaveLength(2);
    });

    test('but no clock makes two days: that machine is another', async () => {
      await loseLate(0, 48 * 60 * MINUTES);
      const { code, stdout, stderr } = await world.cli(['instances', 'recover', '-y', '--json']);
      expect({ code, told: stderr.includes('max-price') }).toEqual({ code: 0, told: false });
      expect(JSON.parse(stdout)).toMatchObject([{ outcome: 'replaced', may_be_billing: false }]);
    });
  });

  test('is in the question, and in the command that has to be typed by hand', async () => {
    await lose(LIMITED);
    const asked = await world.cli(['instances', 'recover'], { terminal: true, stdin: '\r' });
    expect(asked.stderr.replace(/\s+/g, ' ')).toContain(
      'One that costs more than 100.00 RUB an hour is terminated at once.',
    );
    await world.cli(['instances', 'untrack', 'trainer', '--yes']);
    await lose([...LIMITED, '--docker-image', 'nginx', '-e', 'TOKEN=secret']);
    const { stdout } = await world.cli(['instances', 'recover', '--json']);
    expect(JSON.parse(stdout)[0].note).toContain(
      'gpucloud instances create trainer --max-price 100.00 --yes with the same flags',
    );
  });

  test('of a reorder is kept too', async () => {
    service.rent(NEW, 'old', { status: 'TERMINATED' });
    service.drives = [{ id: 'd1', current_instance_id: null }];
    await lose(['instances', 'reorder', NEW, 'trainer', '--max-price', '100'], {
      name: 'trainer',
      price: '120.5',
    });
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    expect((await world.cli(['instances', 'recover', '-y'])).code).toBe(1);
    expect(service.machines.get(ID)?.status).toBe('TERMINATING');
  });
});

describe('what was asked for with a profile, whose account is known from login', () => {
  const other = () => ({
    GPUCLOUD_API_KEY: SECOND_KEY,
    GPUCLOUD_BASE_URL: world.service.url,
  });

  beforeEach(async () => {
    await world.close();
    world = await createWorld({
      handler: (request) => service.handler(request),
      signedIn: false,
    });
    const profile = {
      base_url: world.service.url,
      api_key: TEST_KEY,
      account: { id: 'user-1' },
    };
    await mkdir(join(world.home, 'config'), { recursive: true });
    await writeFile(
      join(world.home, 'config', 'config.json'),
      JSON.stringify({ version: 1, current: 'work', profiles: { work: profile } }),
    );
  });

  test('may be missing where the account of another key can not be found out, and that is said', async () => {
    await world.cli(CREATE);
    await lose(['instances', 'create', 'lost-box', ...HARDWARE]);
    service.failing.add('/users/me');
    const list = await world.cli(['instances', 'list'], { env: other() });
    expect(list.stderr).toContain('Machines that were rented here with another key may be missing');
    expect(list.stderr).toContain('has an unknown outcome (lost-box)');
    const { code, stderr } = await world.cli(['instances', 'recover'], { env: other() });
    expect(code).toBe(7);
    expect(stderr).not.toContain('The outcome of every request is known');
  });

  test('is not forgotten with a namesake of another key', async () => {
    await lose(CREATE);
    service.failing.add('/users/me');
    service.posts.push(() => 'hangUp');
    expect((await world.cli(CREATE, { env: other() })).code).toBe(7);
    const argv = ['instances', 'untrack', 'trainer', '--yes', '--json'];
    const { stdout } = await world.cli(argv, { env: other() });
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'trainer', status: 'DISMISSED' }]);
    expect(await listed()).toMatchObject([{ name: 'trainer', status: 'UNKNOWN' }]);
  });

  test('is nobody else’s once both accounts are known', async () => {
    await world.cli(CREATE);
    await lose(['instances', 'create', 'lost-box', ...HARDWARE]);
    const plain = service.handler;
    Object.assign(service, {
      handler: (request: RecordedRequest) =>
        request.path === '/users/me' && request.headers['x-api-key'] === SECOND_KEY
          ? ok({ id: 'user-2' })
          : plain(request),
    });
    const list = ['instances', 'list', '--json'];
    // Before the first answer nobody knows whose that other key is.
    const first = await world.cli(list, { env: other() });
    expect(first.stderr).toContain('1 of another key, perhaps of another account');
    const second = await world.cli(list, { env: other() });
    expect([first.stdout, second.stdout, second.stderr]).toEqual(['[]\n', '[]\n', '']);
    expect(await listed()).toMatchObject([{ name: 'lost-box' }, { name: 'trainer' }]);
  });
});

test('machines of another key are found though many of them are gone', async () => {
  service.failing.add('/users/me');
  const gone = Array.from(
    { length: 12 },
    (_, at) => `${String(at).padStart(8, '0')}-1111-4222-8333-444455556666`,
  );
  await world.cli(['instances', 'track', '--force', ...gone]);
  await world.cli(CREATE);
  service.failing.delete('/users/me');
  const rows = await listed({ GPUCLOUD_API_KEY: SECOND_KEY });
  expect(rows).toContainEqual(expect.objectContaining({ id: NEW, status: 'PROVISIONING' }));
});

test.each(['../..', '%2e%2e', `x${'y'.repeat(5000)}`])(
  'a drive that names what can be no id spoils no list (%#)',
  async (odd) => {
    await world.cli(CREATE);
    service.drives = [{ id: 'd1', current_instance_id: odd }];
    const { code, stdout, stderr } = await world.cli(['instances', 'list', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ id: NEW }]);
    expect(stderr).toContain('by what can be no id, so that this machine may be missing');
    service.drives = [{ id: 'd1', current_instance_id: '' }];
    expect((await world.cli(['instances', 'list', '--json'])).stderr).toBe('');
  },
);
