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

const failure = async (argv: readonly string[]) => {
  const { code, stdout, stderr } = await world.cli([...argv, '--json']);
  return { code, stdout, stderr };
};

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
    await failure([...argv, '--yes']);
  });

  test('exits with 5 (insufficient_funds) if the balance is below the last known price', async () => {
    service.balance = '89.89';
    await failure(argv);
  });

  test.each([
    ['covers an hour', '89.90'],
    ['is unknown', undefined],
  ])(
    "exits with 5 (conflict), the service's reason and all next steps if the balance %s",
    async (_what, balance) => {
      service.balance = balance;
      await failure(argv);
    },
  );

  test("exits with 5 (conflict) if the account can't be read", async () => {
    service.failing.add('/users/me');
    await failure(argv);
  });

  test("exits with 1 (refused) for a proxy's HTML page", async () => {
    service.posts = [() => ({ status: 409, body: '<html><title>Proxy</title></html>' })];
    service.balance = '0.00';
    await failure(argv);
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
    await failure(CREATE);
  });

  test(`reports ${status === 402 ? 'insufficient_funds' : 'refused'} if the balance is sufficient`, async () => {
    service.balance = '1000.00';
    await failure(CREATE);
  });
});

test('reports name_taken for a create refused with 400 if a known instance has the name', async () => {
  service.rent(ID, 'trainer', { status: 'STOPPED' });
  await world.cli(['instances', 'track', ID]);
  service.posts.push(() => no(400, WORDS));
  await failure([...CREATE, '--yes']);
});

test('reports wrong_state for a refused reorder of an instance that is not TERMINATED', async () => {
  service.rent(SOURCE, 'old', { status: 'ACTIVE', price_per_hour_snapshot: '89.90' });
  service.balance = '0.00';
  service.posts.push(() => no(409, WORDS));
  await failure(REORDER);
});

describe('create --if-not-exists', () => {
  const ENSURE = [...CREATE, '--if-not-exists'];

  test('prints the existing instance with that name and sends nothing', async () => {
    await world.cli(CREATE);
    service.rent(NEW, 'trainer', { status: 'ACTIVE' });
    for (const more of [[], ['--yes']]) {
      await world.cli([...ENSURE, '--json', ...more]);
    }
    await world.cli(ENSURE);
    await world.cli([...ENSURE, '-q']);
  });

  test('creates the instance if the one with that name is TERMINATED', async () => {
    await world.cli(CREATE);
    service.rent(NEW, 'trainer', { status: 'TERMINATED' });
    service.posts.push(() => ok(service.rent(ID, 'trainer'), 201));
    await world.cli([...ENSURE, '-q']);
  });

  test('names an existing instance without a name by its ID, and compares its ends', async () => {
    await world.cli(CREATE);
    service.instances.set(NEW, { ...service.rent(NEW, 'trainer'), name: null as never });
    const ends = ['--terminate-after', '4h', '--if-idle', '45m', '--unenforced'];
    await world.cli([...ENSURE, ...ends]);
    await world.cli(['instances', 'expire', NEW, '--after', '2h', '--if-idle', '30m']);
    await world.cli([...ENSURE, ...ends, '--wait', '--wait-timeout', '5s', '-o', 'csv']);
  });

  test('waits for the existing instance with --wait', async () => {
    await world.cli(CREATE);
    service.rent(NEW, 'trainer', { status: 'ACTIVE' });
    await world.cli([...ENSURE, '--wait', '--json']);
  });

  describe('with an existing instance', () => {
    const OTHERS = { id: '0b000000-0000-4000-8000-00000000000f', name: 'H100' };
    const refused = async (...more: string[]) => {
      const error = await failure([...ENSURE, ...more]);
      expect(await failure([...ENSURE, ...more, '--dry-run'])).toEqual(error);
    };
    beforeEach(() => world.cli(CREATE));

    test("exits with 5 and reports the existing instance's different offer and image", async () => {
      const other = { status: 'ACTIVE', offer: OTHERS, base_image: { id: 'img-1' } };
      service.rent(NEW, 'trainer', other);
      await refused();
    });

    test.each([
      ['it costs 20.01 ₽ per hour, over --max-price 20.00', '20.01'],
      ['its price is unreadable, which counts as over --max-price 20.00', 'much'],
    ])(
      'exits with 5 for an existing instance and reports that %s',
      async (_words, price_per_hour_snapshot) => {
        service.rent(NEW, 'trainer', { status: 'ACTIVE', price_per_hour_snapshot });
        await refused('--max-price', '20');
      },
    );

    test('exits with 12 if the instance is in ERROR', async () => {
      service.rent(NEW, 'trainer', { status: 'ERROR', offer: OTHERS });
      await refused();
    });

    test('prints the instance if its offer ID differs only in case', async () => {
      const [, offer = '', , image = ''] = HARDWARE;
      service.rent(NEW, 'trainer', {
        status: 'ACTIVE',
        offer: { id: offer.toUpperCase(), name: 'RTX 4090' },
        base_image: { id: image },
        price_per_hour_snapshot: '20.00',
      });
      await world.cli([...ENSURE, '-q', '--max-price', '20']);
      const named = ENSURE.map((word) => (word === offer ? 'RTX 4090' : word));
      await world.cli([...named, '-q']);
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
    await world.cli(CREATE);
  });
});

test('suggests the list of drives if the request named one', async () => {
  service.posts.push(() => no(409, WORDS));
  service.drives = [{ id: 'drive-1', current_instance_id: null }];
  await failure([...CREATE, '--drive', 'drive-1']);
});

describe('a drive that is not free', () => {
  test.each(['ACTIVE', 'TERMINATING', 'TERMINATED'])(
    'names its instance, which is %s, and the next step',
    async (status) => {
      service.rent(ID, 'holder', { status: 'ACTIVE' });
      await world.cli(['instances', 'track', ID]);
      service.rent(ID, 'holder', { status });
      service.drives = [{ id: DRIVE, name: 'data', current_instance_id: ID }];
      service.posts.push(() => no(409, WORDS));
      await failure([...CREATE, '--drive', 'data']);
    },
  );

  test.each([
    [400, 'SYNCING'],
    [409, 'IN_USE'],
    [409, 'AVAILABLE'],
    [409, 'SUSPENDED'],
    [409, 'DELETING'],
  ])('after %s, shows that it is %s', async (code, status) => {
    service.drives = [{ id: DRIVE, name: 'data', status, current_instance_id: null }];
    service.posts.push(() => no(code, WORDS));
    await failure([...CREATE, '--drive', DRIVE]);
  });

  test.each([
    ['STOPPED', 'IN_USE', 1],
    ['STOPPED', 'SYNCING', 2],
    ['TERMINATING', 'IN_USE', 2],
    [undefined, 'SUSPENDED', 1],
    [undefined, 'SYNCING', 2],
  ])(
    'held by an instance that is %s, and itself %s, is requested %i times with --retry-for',
    async (holder, status, _times) => {
      if (holder !== undefined) {
        service.rent(ID, 'holder', { status: 'ACTIVE' });
        await world.cli(['instances', 'track', ID]);
        service.rent(ID, 'holder', { status: holder });
      }
      const held = holder === undefined ? null : ID;
      service.drives = [{ id: DRIVE, name: 'data', status, current_instance_id: held }];
      service.posts.push(() => no(409, WORDS));
      const create = [...CREATE, '--drive', 'data', '--retry-for', '10m'];
      await world.cli(create);
    },
  );

  test.each(['IN_USE', 'DELETING'])('and stays %s for all the time to retry', async (status) => {
    service.drives = [{ id: DRIVE, name: 'data', status, current_instance_id: null }];
    service.posts = Array.from({ length: 9 }, () => () => no(409, WORDS));
    await failure([...CREATE, '--drive', DRIVE, '--retry-for', '1m']);
  });

  test('names an instance unknown here by its ID, also if it could not be read', async () => {
    service.drives = [{ id: DRIVE, name: 'data', current_instance_id: ID }];
    service.posts.push(() => no(409, WORDS));
    await failure([...CREATE, '--drive', DRIVE]);
  });
});

test('exits with 2 and creates nothing if --query is invalid', async () => {
  for (const query of ['length(id, name)', 'nope(@)', '[?']) {
    const { code, requests } = await world.cli([...CREATE, '--query', query]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
  }
});

test('reports the created ID if --query fails on the response', async () => {
  await world.cli([...CREATE, '--query', 'abs(name)']);
});
