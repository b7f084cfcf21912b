import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { waitText } from '../../src/instances/rent/capacity.ts';
import { DriveTaken } from '../../src/instances/rent/refusal.ts';
import { needs } from '../support/needs.ts';
import { RentingService } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { no, ok } from '../support/service.ts';

const A = '11111111-1111-4222-8333-444455550001';
const B = '11111111-1111-4222-8333-444455550002';
const IMAGE = HARDWARE.slice(2);
const CREATE = ['instances', 'create', 'trainer', ...IMAGE, '--offer', A, '--offer', B];
const GONE = 'Offer is out of stock';

/** The service accepts each termination, and rolls it back. */
const ROLLED_BACK = Array.from({ length: 4 }, () => () => ok({ status: 'TERMINATING' }));

let world: World;
let service: RentingService;
let made: number;
beforeEach(async () => {
  service = new RentingService();
  made = 0;
  service.newId = () => {
    made += 1;
    return `22222222-1111-4222-8333-44445555000${made}`;
  };
  world = await createWorld({ handler: service.handler });
});

/** Gives each instance the next status at its first read. */
function become(...statuses: string[]): void {
  const left = [...statuses];
  service.onRead = async (id) => {
    const found = service.instances.get(id);
    if (found?.status === 'PROVISIONING') {
      service.instances.set(id, { ...found, status: left.shift() ?? 'ACTIVE' });
    }
  };
}

async function create(...more: string[]) {
  const { code, stderr, requests } = await world.cli([...CREATE, ...more, '--json']);
  const lines = stderr
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return {
    code,
    error: lines.at(-1)?.error,
    offers: requests.flatMap(({ method, path, body }) =>
      method === 'POST' && path === '/instances' ? (body as { offer_id: string }).offer_id : [],
    ),
    requests,
  };
}

test('rents the next offer after a refusal, and waits for the instance', async () => {
  become('ACTIVE');
  service.posts = [() => no(409, GONE)];
  const { code, offers } = await create('--wait-timeout', '15m');
  expect({ code, offers }).toEqual({ code: 0, offers: [A, B] });
});

test('confirms the termination of a failed instance before trying the next offer', async () => {
  become('ERROR', 'ACTIVE');
  const { requests } = await create();
  const [first] = service.instances.values();
  expect(first?.status).toBe('TERMINATING');
  const ended = requests.findIndex(({ path }) => path.endsWith('/terminate'));
  const readBack = requests.findIndex(
    ({ method, path }, at) => at > ended && method === 'GET' && path === `/instances/${first?.id}`,
  );
  const second = requests.findLastIndex(
    ({ method, path }) => method === 'POST' && path === '/instances',
  );
  expect(ended).toBeLessThan(readBack);
  expect(readBack).toBeLessThan(second);
});

test("exits with 7 without another offer if the failed instance can't be terminated", async () => {
  become('ERROR');
  service.terminations = Array.from({ length: 9 }, () => () => no(400, 'no'));
  const { code, offers } = await create();
  expect({ code, offers }).toEqual({ code: 7, offers: [A] });
});

test.each([
  ['ERROR', 'ERROR', []],
  ['a price over --max-price', 'PROVISIONING', ['--max-price', '60']],
])('waits after %s until the terminated instance frees its name', async (_what, status, flags) => {
  let reads = 0;
  service.onRead = async (id) => {
    const found = service.instances.get(id);
    if (found?.status === 'PROVISIONING') {
      service.instances.set(id, { ...found, status: made === 1 ? status : 'ACTIVE' });
    }
    if (found?.status !== 'TERMINATING') return;
    reads += 1;
    if (reads > 3) service.instances.set(id, { ...found, status: 'TERMINATED' });
  };
  service.shows = () => ({ price_per_hour_snapshot: made === 1 ? '100.00' : '50.00' });
  const rent = service.rent.bind(service);
  const isTaken = () => [...service.instances.values()].some((one) => one.status !== 'TERMINATED');
  service.posts = [
    () => ok({ ...rent(service.newId(), 'trainer'), ...service.shows({}) }, 201),
    () =>
      isTaken()
        ? no(409, 'An instance named trainer already exists')
        : ok({ ...rent(service.newId(), 'trainer'), ...service.shows({}) }, 201),
  ];
  const { code, offers } = await create(...flags);
  expect({ code, offers }).toEqual({ code: 0, offers: [A, B] });
  expect([...service.instances.values()].map((one) => one.status)).toEqual([
    'TERMINATED',
    'ACTIVE',
  ]);
});

test('exits with 7 if the termination is rolled back while waiting for the name', async () => {
  let reads = 0;
  service.onRead = async (id) => {
    const found = service.instances.get(id);
    if (found?.status === 'PROVISIONING') {
      service.instances.set(id, { ...found, status: 'ERROR' });
    }
    if (found?.status !== 'TERMINATING') return;
    reads += 1;
    if (reads > 2) service.instances.set(id, { ...found, status: 'ERROR' });
  };
  const { code, offers } = await create();
  expect({ code, offers }).toEqual({ code: 7, offers: [A] });
});

test('terminates an instance over --max-price, and rents the next offer', async () => {
  become('ACTIVE');
  service.shows = (body) => ({
    price_per_hour_snapshot: (body as { offer_id: string }).offer_id === A ? '100.00' : '50.00',
  });
  const { code, offers } = await create('--max-price', '60');
  expect({ code, offers }).toEqual({ code: 0, offers: [A, B] });
  expect([...service.instances.values()].map(({ status }) => status)).toEqual([
    'TERMINATING',
    'ACTIVE',
  ]);
});

test('exits with 3 and suggests --retry-for if every offer is refused', async () => {
  service.posts = [() => no(409, GONE), () => no(404, 'Offer not found')];
  const { code, offers } = await create();
  expect({ code, offers }).toEqual({ code: 3, offers: [A, B] });
});

test('retries all offers with growing pauses until --retry-for expires', async () => {
  service.posts = Array.from({ length: 99 }, () => () => no(409, GONE));
  const { offers } = await create('--retry-for', '20m');
  const pauses = world.clock.slept.filter((pause) => pause >= 30_000);
  expect(pauses.slice(0, 3)).toEqual([37_500, 56_250, 84_375]);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(300_000);
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBe(20 * 60_000);
  expect(offers).toHaveLength(2 * (pauses.length + 1));
});

/** A time of day. */
function inAMinute(): string {
  const time = new Date(world.clock.now() + 60_000);
  return [time.getHours(), time.getMinutes()].map((one) => `${one}`.padStart(2, '0')).join(':');
}

test.each([
  ['', []],
  [' --count', ['--count', '2']],
])('create%s rents nothing once a time of day passed during --retry-for', async (_how, more) => {
  service.posts = Array.from({ length: 8 }, () => () => no(409, GONE));
  const ends = ['--terminate-at', inAMinute(), '--unenforced', '--retry-for', '1h'];
  const { code, error } = await create(...ends, ...more);
  expect({ code, rented: service.instances.size }).toEqual({ code: 2, rented: 0 });
  expect(error.message).toMatch(/the deadline .* has passed: the service's time is /);
});

test('run rents nothing once a time of day passed during --retry-for', needs('ssh'), async () => {
  service.posts = Array.from({ length: 8 }, () => () => no(409, GONE));
  const { code, stderr } = await world.cli(
    [
      ...['run', '--name', 'trainer', '--offer', A, '--image', B, '--ssh-key', A],
      ...['--identity', '/dev/null', '--terminate-at', inAMinute(), '--retry-for', '1h'],
      ...['--', 'true'],
    ],
    { env: { PATH: process.env.PATH } },
  );
  expect({ code, rented: service.instances.size }, stderr).toEqual({ code: 2, rented: 0 });
});

test.each([
  ['rateLimited', 'rate limited'],
  ['unreachable', 'could not reach the service'],
  ['wrongState', 'no offer available'],
] as const)('after %s, says why it waits, and until when: %s', (failure, why) => {
  const until = new Date(2026, 10, 29, 14, 3, 20).getTime();
  expect(waitText('trainer', new CliError(failure, 'The last attempt failed.'), until)).toBe(
    `trainer: ${why}; trying again at 14:03:20`,
  );
  const text = 'drive data is SYNCING';
  const refusal = new CliError(failure, 'No');
  const taken = new DriveTaken(refusal, { text, hint: 'wait', isPassing: true }, 'trainer');
  expect(waitText('trainer', taken, until)).toBe(`trainer: the ${text}; trying again at 14:03:20`);
});

test.each([400, 3600])(
  'waits for a Retry-After of %i s before trying the same offer again',
  async (seconds) => {
    become('ACTIVE');
    service.posts = [() => ({ ...no(429, 'slow down'), headers: { 'retry-after': `${seconds}` } })];
    const { code, offers } = await create('--retry-for', '1h');
    expect({ code, offers }).toEqual({ code: 0, offers: [A, A] });
    expect(world.clock.slept).toContain(seconds * 1000);
  },
);

test('gives up if every offer is over --max-price, even with --retry-for', async () => {
  service.shows = () => ({ price_per_hour_snapshot: '100.00' });
  service.terminations = [1, 2].map(
    () => (id) => ok(service.rent(id, 'trainer', { status: 'TERMINATED' })),
  );
  const { code, offers } = await create('--max-price', '60', '--retry-for', '1h');
  expect({ code, offers }).toEqual({ code: 1, offers: [A, B] });
});

test('keeps an instance that ends otherwise than in ERROR', async () => {
  become('TERMINATED');
  const { code, offers } = await create();
  expect({ code, offers }).toEqual({ code: 12, offers: [A] });
});

test('tries again while the service can not be reached', async () => {
  await world.service.close();
  expect((await create('--retry-for', '2m')).code).toBe(6);
});

test('does not try another offer if an instance over --max-price is not terminated', async () => {
  service.shows = () => ({ price_per_hour_snapshot: '100.00' });
  service.terminations = [...ROLLED_BACK];
  const { code, offers } = await create('--max-price', '60');
  expect({ code, offers }).toEqual({ code: 7, offers: [A] });
});

test('exits with 7 if the last instance over --max-price is not terminated', async () => {
  service.shows = () => ({ price_per_hour_snapshot: '100.00' });
  service.posts = [() => no(409, GONE)];
  service.terminations = [...ROLLED_BACK];
  const { code, offers } = await create('--max-price', '60');
  expect({ code, offers }).toEqual({ code: 7, offers: [A, B] });
});

test('exits with 7 if the last failed instance stays in ERROR after termination', async () => {
  become('ERROR');
  service.posts = [() => no(409, GONE)];
  service.terminations = [...ROLLED_BACK];
  const { code, offers } = await create();
  expect({ code, offers }).toEqual({ code: 7, offers: [A, B] });
});

test('does not try another offer if the failed instance stays in ERROR after termination', async () => {
  become('ERROR');
  service.terminations = [...ROLLED_BACK];
  const { code, offers } = await create();
  expect({ code, offers }).toEqual({ code: 7, offers: [A] });
});

test('exits with 130 without another offer after Ctrl-C during a refusal', async () => {
  const first = new AbortController();
  service.posts = [
    () => {
      first.abort(new CliError('interrupted', 'Interrupted.'));
      return no(409, GONE);
    },
  ];
  const interrupts = { first: first.signal, second: new AbortController().signal };
  const { requests } = await world.cli(CREATE, { interrupts });
  expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

describe('create with several offers', () => {
  test('exits with 7 without a retry for a 503 with Retry-After', async () => {
    service.posts = [() => ({ ...no(503, 'busy'), headers: { 'retry-after': '5' } })];
    expect(await create('--retry-for', '1h')).toMatchObject({ code: 7, offers: [A] });
  });

  test("exits with 1 without a retry for a proxy's HTML page", async () => {
    service.posts = [() => ({ status: 409, body: '<html><title>Proxy</title></html>' })];
    expect(await create()).toMatchObject({ code: 1, offers: [A] });
  });

  test.each([
    [401, 4, 'authentication'],
    [402, 5, 'insufficient_funds'],
    [429, 11, 'rate_limited'],
    [408, 7, 'outcome_unknown'],
    [500, 7, 'outcome_unknown'],
    [503, 7, 'outcome_unknown'],
  ])('exits without a retry for status %i', async (status, exit, code) => {
    service.posts = [() => no(status, 'no')];
    const retry = status === 429 ? [] : ['--retry-for', '1h'];
    const outcome = await create(...retry);
    expect(outcome).toMatchObject({ code: exit, offers: [A], error: { code } });
  });

  test('exits with 5 before any request for a taken name', async () => {
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const { code, offers } = await create();
    expect({ code, offers }).toEqual({ code: 5, offers: [] });
  });

  test('exits with 5 without a retry if a known instance has the refused name', async () => {
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    service.posts = [() => no(409, 'taken')];
    const outcome = await create('--yes');
    expect(outcome).toMatchObject({ code: 5, offers: [A], error: { code: 'name_taken' } });
  });

  test('exits with 2 before any request if a guard rejects it', async () => {
    await world.cli(['profiles', 'add', 'work', '--base-url', world.service.url]);
    await world.cli(['profiles', 'set', 'work', '--max-instances', '0']);
    const { code, offers } = await create('--profile', 'work');
    expect({ code, offers }).toEqual({ code: 2, offers: [] });
  });
});

test('tries the offers from a file in order', async () => {
  become('ACTIVE');
  service.posts = [() => no(409, GONE)];
  const file = join(world.home, 'box.yaml');
  await writeFile(file, `offers: [${A}, ${B}]\n`);
  const argv = ['instances', 'create', 'trainer', ...IMAGE, '-f', file, '--json'];
  await world.cli(argv);
  await writeFile(file, `offers: [${A}]\noffer_id: ${B}\n`);
  await world.cli(argv);
  await writeFile(file, 'offers: []\n');
  expect((await world.cli(argv)).stderr).toContain('line 1: offers ');
});

test('omits attempts and does not wait for a single offer', async () => {
  const { stdout } = await world.cli(['instances', 'create', 'trainer', ...HARDWARE, '--json']);
  expect(JSON.parse(stdout)).not.toHaveProperty('attempts');
});

test('lists the remaining offers with --dry-run', async () => {
  const { code, stderr, requests } = await world.cli([...CREATE, '--dry-run']);
  expect({ code, requests }).toEqual({ code: 0, requests: [] });
  expect(stderr).toContain(`If the service refuses this offer, create would try: ${B}.`);
});
