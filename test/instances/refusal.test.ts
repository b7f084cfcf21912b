import { beforeEach, describe, expect, test } from 'vitest';
import { NEW, RentingService } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { no, ok } from '../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const DRIVE = '3f0c5d9e-3333-4222-8333-444455556666';
const SOURCE = '3f0c5d9e-1111-4222-8333-444455558888';
const CREATE = ['instances', 'create', 'trainer', ...HARDWARE];
const REORDER = ['instances', 'reorder', SOURCE, 'trainer'];
/** The facts decide the error code, not this message. */
const WORDS = 'trainer exists and the balance is too low';

let world: World;
let service: RentingService;
beforeEach(async () => {
  service = new RentingService();
  const offer = { id: HARDWARE[1] ?? '', name: 'RTX 4090' };
  service.rent(SOURCE, 'old', { status: 'TERMINATED', price_per_hour_snapshot: '89.90', offer });
  world = await createWorld({ handler: service.handler });
  // Stores the offer's price.
  await world.cli(['instances', 'track', SOURCE]);
});

const listed = async () => JSON.parse((await world.cli(['instances', 'list', '--json'])).stdout);

async function failure(argv: readonly string[]) {
  const { code, stdout, stderr } = await world.cli([...argv, '--json']);
  expect(stdout).toBe('');
  return { exit: code, ...JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error };
}

describe.each([
  ['create', CREATE],
  ['reorder', REORDER],
])('a refused %s', (_verb, argv) => {
  beforeEach(() => {
    service.posts.push(() => no(409, WORDS));
  });

  test('exits with 5 (name_taken) if a known instance has the name', async () => {
    service.rent(ID, 'trainer', { status: 'ACTIVE' });
    await world.cli(['instances', 'track', ID]);
    service.balance = '1.00';
    const error = await failure([...argv, '--yes']);
    expect(error).toMatchObject({
      exit: 5,
      code: 'name_taken',
      http_status: 409,
      resource: ID,
      hint: expect.stringContaining('gpucloud instances get trainer'),
    });
    expect(error.message).toContain(`trainer already exists (${ID}, ACTIVE).`);
  });

  test('exits with 5 (insufficient_funds) if the balance is below the last known price', async () => {
    service.balance = '89.89';
    const error = await failure(argv);
    expect(error).toMatchObject({ exit: 5, code: 'insufficient_funds', http_status: 409 });
    expect(error.message).toContain(
      'The balance is 89.89 ₽; the last known price is 89.90 ₽ per hour.',
    );
    expect(error.hint).toContain('gpucloud billing balance');
  });

  test.each([
    ['covers an hour', '89.90'],
    ['is unknown', undefined],
  ])(
    "exits with 5 (conflict), the service's reason and all next steps if the balance %s",
    async (_what, balance) => {
      service.balance = balance;
      const error = await failure(argv);
      expect(error).toMatchObject({ exit: 5, code: 'conflict', resource: 'trainer' });
      expect(error.message).toMatch(/ \(409\): [^.]+\.$/);
      const other = argv === CREATE ? ' with --offer' : ': gpucloud instances create';
      expect(error.hint).toBe(
        `try another offer${other}; choose another name; or see the balance: gpucloud billing balance`,
      );
    },
  );

  test("exits with 5 (conflict) if the account can't be read", async () => {
    service.failing.add('/users/me');
    expect(await failure(argv)).toMatchObject({ exit: 5, code: 'conflict', http_status: 409 });
  });

  test("exits with 1 (refused) for a proxy's HTML page", async () => {
    service.posts = [() => ({ status: 409, body: '<html><title>Proxy</title></html>' })];
    service.balance = '0.00';
    expect(await failure(argv)).toMatchObject({ exit: 1, code: 'refused', http_status: 409 });
  });

  test('omits a refused request from the list', async () => {
    await failure(argv);
    expect(await listed()).toEqual([]);
  });
});

describe.each([400, 402])('a create refused with %i', (status) => {
  beforeEach(() => {
    service.posts.push(() => no(status, WORDS));
  });

  test('exits with 5 (insufficient_funds) if the balance is below the last known price', async () => {
    service.balance = '0.00';
    expect(await failure(CREATE)).toMatchObject({ exit: 5, code: 'insufficient_funds' });
  });

  test(`reports ${status === 402 ? 'insufficient_funds' : 'refused'} if the balance is sufficient`, async () => {
    service.balance = '1000.00';
    expect(await failure(CREATE)).toMatchObject(
      status === 402 ? { exit: 5, code: 'insufficient_funds' } : { exit: 1, code: 'refused' },
    );
  });
});

test('reports name_taken for a create refused with 400 if a known instance has the name', async () => {
  service.rent(ID, 'trainer', { status: 'STOPPED' });
  await world.cli(['instances', 'track', ID]);
  service.posts.push(() => no(400, WORDS));
  const error = await failure([...CREATE, '--yes']);
  expect(error).toMatchObject({ exit: 5, code: 'name_taken', resource: ID });
});

test('reports wrong_state for a refused reorder of an instance that is not TERMINATED', async () => {
  service.rent(SOURCE, 'old', { status: 'ACTIVE', price_per_hour_snapshot: '89.90' });
  service.balance = '0.00';
  service.posts.push(() => no(409, WORDS));
  expect(await failure(REORDER)).toMatchObject({ exit: 5, code: 'wrong_state', resource: SOURCE });
});

describe('create --if-not-exists', () => {
  const ENSURE = [...CREATE, '--if-not-exists'];

  test('prints the existing instance with that name and sends nothing', async () => {
    await world.cli(CREATE);
    service.rent(NEW, 'trainer', { status: 'ACTIVE' });
    for (const more of [[], ['--yes']]) {
      const { code, stdout, requests } = await world.cli([...ENSURE, '--json', ...more]);
      expect({ code, made: JSON.parse(stdout).id }).toEqual({ code: 0, made: NEW });
      expect(requests.filter(({ method }) => method === 'POST')).toEqual([]);
    }
    expect((await world.cli(ENSURE)).stderr).toContain(
      `trainer already exists (${NEW}). Nothing was sent.`,
    );
    expect((await world.cli([...ENSURE, '-q'])).stdout).toBe(`${NEW}\n`);
  });

  test('creates the instance if the one with that name is TERMINATED', async () => {
    await world.cli(CREATE);
    service.rent(NEW, 'trainer', { status: 'TERMINATED' });
    service.posts.push(() => ok(service.rent(ID, 'trainer'), 201));
    expect(await world.cli([...ENSURE, '-q'])).toMatchObject({ code: 0, stdout: `${ID}\n` });
  });

  test('waits for the existing instance with --wait', async () => {
    await world.cli(CREATE);
    service.rent(NEW, 'trainer', { status: 'ACTIVE' });
    const { code, stdout } = await world.cli([...ENSURE, '--wait', '--json']);
    expect({ code, status: JSON.parse(stdout).status }).toEqual({ code: 0, status: 'ACTIVE' });
  });

  describe('with an existing instance', () => {
    const OTHERS = { id: '0b000000-0000-4000-8000-00000000000f', name: 'H100' };
    const refused = async (...more: string[]) => {
      const error = await failure([...ENSURE, ...more]);
      expect(await failure([...ENSURE, ...more, '--dry-run'])).toEqual(error);
      expect(service.instances.get(NEW)?.status).not.toBe('TERMINATING');
      return error;
    };
    beforeEach(() => world.cli(CREATE));

    test("exits with 5 and reports the existing instance's different offer and image", async () => {
      const other = { status: 'ACTIVE', offer: OTHERS, base_image: { id: 'img-1' } };
      service.rent(NEW, 'trainer', other);
      expect(await refused()).toMatchObject({
        exit: 5,
        code: 'name_taken',
        resource: NEW,
        may_be_billing: true,
        message: `trainer already exists (${NEW}), but its offer is H100 (${OTHERS.id}), not ${HARDWARE[1]}, and its image is img-1, not ${HARDWARE[3]}. Nothing was sent.`,
        hint: 'see it: gpucloud instances get trainer; to create it again, terminate it first: gpucloud instances terminate trainer; or choose another name',
      });
    });

    test.each([
      ['it costs 20.01 ₽ per hour, over --max-price 20.00', '20.01'],
      ['its price is unreadable, which counts as over --max-price 20.00', 'much'],
    ])(
      'exits with 5 for an existing instance and reports that %s',
      async (words, price_per_hour_snapshot) => {
        service.rent(NEW, 'trainer', { status: 'ACTIVE', price_per_hour_snapshot });
        expect(await refused('--max-price', '20')).toMatchObject({
          exit: 5,
          code: 'name_taken',
          message: expect.stringContaining(words),
        });
      },
    );

    test('exits with 12 if the instance is in ERROR', async () => {
      service.rent(NEW, 'trainer', { status: 'ERROR', offer: OTHERS });
      expect(await refused()).toMatchObject({
        exit: 12,
        code: 'other_end',
        resource: NEW,
        may_be_billing: true,
        message: `trainer already exists (${NEW}), but its status is ERROR. Nothing was sent.`,
        hint: 'see what happened: gpucloud instances events trainer; to create it again, terminate it first: gpucloud instances terminate trainer',
      });
    });

    test('prints the instance if its offer ID differs only in case', async () => {
      const [, offer = '', , image = ''] = HARDWARE;
      service.rent(NEW, 'trainer', {
        status: 'ACTIVE',
        offer: { id: offer.toUpperCase(), name: 'RTX 4090' },
        base_image: { id: image },
        price_per_hour_snapshot: '20.00',
      });
      const { code, stdout } = await world.cli([...ENSURE, '-q', '--max-price', '20']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${NEW}\n` });
    });
  });

  test('exits with 7 while an earlier request is unresolved', async () => {
    service.posts.push(() => 'hangUp');
    await world.cli(CREATE);
    const { code, requests } = await world.cli(ENSURE);
    expect({ code, requests }).toEqual({ code: 7, requests: [] });
  });

  test('suggests --if-not-exists for a taken name', async () => {
    await world.cli(CREATE);
    const { stderr } = await world.cli(CREATE);
    expect(stderr).toContain(
      'hint: add --if-not-exists to print the existing instance; see the instance: gpucloud instances get trainer; choose another name; or add --yes to send the request anyway\n',
    );
  });
});

test('suggests the list of drives if the request named one', async () => {
  service.posts.push(() => no(409, WORDS));
  service.drives = [{ id: 'drive-1', current_instance_id: null }];
  const error = await failure([...CREATE, '--drive', 'drive-1']);
  expect(error.hint).toContain('see whether the drive is free: gpucloud drives list; try ');
});

describe('a drive that is not free', () => {
  const keepTrying = 'add --retry-for 10m to try until the drive is free';
  const moves = (end: string) =>
    `to move the drive, terminate that instance, which deletes its own disk: ${end}; then ${keepTrying}`;

  test.each([
    [
      'ACTIVE',
      'The drive data is attached to holder, which is ACTIVE.',
      moves('gpucloud instances terminate holder --wait'),
    ],
    ['TERMINATING', 'The drive data is attached to holder, which is TERMINATING.', keepTrying],
    ['TERMINATED', 'The drive data is attached to holder, which is TERMINATED.', keepTrying],
  ])('names its instance, which is %s, and the next step', async (status, text, hint) => {
    service.rent(ID, 'holder', { status: 'ACTIVE' });
    await world.cli(['instances', 'track', ID]);
    service.rent(ID, 'holder', { status });
    service.drives = [{ id: DRIVE, name: 'data', current_instance_id: ID }];
    service.posts.push(() => no(409, WORDS));
    const error = await failure([...CREATE, '--drive', 'data']);
    expect(error).toMatchObject({ exit: 5, code: 'conflict', resource: 'trainer', hint });
    expect(error.message).toBe(
      `The service refused to create instance trainer (409): ${WORDS}. ${text}`,
    );
  });

  test.each([
    [400, 'SYNCING', keepTrying],
    [409, 'SUSPENDED', `resume it: gpucloud drives resume ${DRIVE}`],
    [409, 'DELETING', 'choose another drive: gpucloud drives list'],
  ])('after %s, shows that it is %s', async (code, status, hint) => {
    service.drives = [{ id: DRIVE, name: 'data', status, current_instance_id: null }];
    service.posts.push(() => no(code, WORDS));
    const error = await failure([...CREATE, '--drive', DRIVE]);
    expect(error).toMatchObject({ exit: 5, code: 'conflict', http_status: code, hint });
    expect(error.message).toContain(`${WORDS}. The drive data is ${status}.`);
  });

  test.each([
    ['STOPPED', 'IN_USE', 1],
    ['STOPPED', 'SYNCING', 2],
    ['TERMINATING', 'IN_USE', 2],
    [undefined, 'SUSPENDED', 1],
    [undefined, 'SYNCING', 2],
  ])(
    'held by an instance that is %s, and itself %s, is requested %i times with --retry-for',
    async (holder, status, times) => {
      if (holder !== undefined) {
        service.rent(ID, 'holder', { status: 'ACTIVE' });
        await world.cli(['instances', 'track', ID]);
        service.rent(ID, 'holder', { status: holder });
      }
      const held = holder === undefined ? null : ID;
      service.drives = [{ id: DRIVE, name: 'data', status, current_instance_id: held }];
      service.posts.push(() => no(409, WORDS));
      const create = [...CREATE, '--drive', 'data', '--retry-for', '10m'];
      const { code, stderr, requests } = await world.cli(create);
      const sent = requests.filter(
        ({ method, path }) => method === 'POST' && path === '/instances',
      );
      expect({ code, sent: sent.length }).toEqual({ code: times === 1 ? 5 : 0, sent: times });
      const why = holder === undefined ? status : `attached to holder, which is ${holder}`;
      expect(stderr).not.toContain('add --retry-for');
      expect(stderr).toContain(
        `${times === 1 ? 'error' : 'warning: RTX 4090'}: The service refused to create instance trainer (409): ${WORDS}. The drive data is ${why}.\n`,
      );
    },
  );

  test('names an instance unknown here by its ID, also if it could not be read', async () => {
    service.drives = [{ id: DRIVE, name: 'data', current_instance_id: ID }];
    service.posts.push(() => no(409, WORDS));
    const error = await failure([...CREATE, '--drive', DRIVE]);
    expect(error.message).toContain(`${WORDS}. The drive data is attached to ${ID}.`);
    expect(error.hint).toBe(moves(`gpucloud instances terminate ${ID} --wait`));
  });
});

test('exits with 2 and creates nothing if --query is invalid', async () => {
  for (const query of ['length(id, name)', 'nope(@)', '[?']) {
    const { code, requests } = await world.cli([...CREATE, '--query', query]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
  }
});

test('reports the created ID if --query fails on the response', async () => {
  const { stderr } = await world.cli([...CREATE, '--query', 'abs(name)']);
  const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
  expect(error).toMatchObject({ resource: NEW, may_be_billing: true });
  expect(error.message).toContain(`${NEW} was created.`);
});
