import { beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { RentingService } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE, OFFERED } from '../support/sandbox-ids.ts';
import { errorOf, warningsOf } from '../support/stderr-lines.ts';

let world: World;
let service: RentingService;
beforeEach(async () => {
  service = new RentingService();
  world = await createWorld({ handler: service.handler });
  await world.cli(['profiles', 'add', 'work', '--base-url', world.service.url]);
});

const env = { GPUCLOUD_PROFILE: 'work' };
const CREATE = ['instances', 'create', 'trainer', ...HARDWARE];
const SIGN_IN = ['--ssh-key', HARDWARE[1] ?? '', '--identity', '/dev/null'];
const RUN = ['run', '--name', 'trainer', ...OFFERED, ...SIGN_IN, '--terminate-after', '4h'];

const cli = (...argv: string[]) => world.cli([argv[0] ?? '', '--json', ...argv.slice(1)], { env });
const dry = (argv: readonly string[], ...flags: string[]) => {
  const end = argv[0] === 'run' ? ['--', 'true'] : [];
  return cli(...argv, ...flags, '--dry-run', ...end);
};

/** Returns the command's error, which must be equal with and without --dry-run. */
async function refusedAlike(argv: readonly string[], ...flags: string[]) {
  const planned = await dry(argv, ...flags);
  expect(planned.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  const error = errorOf(planned.stderr);
  if (argv[0] !== 'run') {
    const real = await cli(...argv, ...flags);
    expect({ code: real.code, error: errorOf(real.stderr) }).toEqual({ code: planned.code, error });
  }
  return { code: planned.code, error: error.code };
}

const COMMANDS: [string, string[]][] = [
  ['create', CREATE],
  ['run', RUN],
];

describe.each(COMMANDS)('%s --dry-run', (verb, argv) => {
  const ssh = verb === 'run' ? needs('ssh') : {};

  test('prints the deadline and the price limit, and sends nothing', ssh, async () => {
    const deadline = [...(verb === 'run' ? [] : ['--terminate-after', '4h']), '--unenforced'];
    const { code, requests } = await dry(argv, ...deadline, '--max-price', '90');
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
  });

  test('exits with 2 for a deadline in the past', ssh, async () => {
    const past = ['--terminate-at', '2020-01-01T00:00Z', '--unenforced'];
    const words = argv.filter((word) => !['--terminate-after', '4h'].includes(word));
    expect(await refusedAlike(words, ...past)).toEqual({ code: 2, error: 'usage' });
  });

  test('warns of a time of day that has passed today, also with -q', ssh, async () => {
    const now = new Date(world.clock.now());
    const past = [now.getHours(), now.getMinutes()].map((one) => String(one).padStart(2, '0'));
    const words = argv.filter((word) => !['--terminate-after', '4h'].includes(word));
    const at = ['--terminate-at', past.join(':'), '--unenforced', '--max-price', '90'];
    const end = verb === 'run' ? ['--', 'true'] : [];
    await world.cli([...words, ...at, '--dry-run', '-q', ...end], { env });
  });

  test('warns if the balance does not cover the time until the deadline', ssh, async () => {
    service.shows = () => ({
      price_per_hour_snapshot: '100.00',
      offer: { id: OFFERED[1], name: 'RTX 4090' },
    });
    await cli('instances', 'create', 'other', ...HARDWARE);
    const deadline = [...(verb === 'run' ? [] : ['--terminate-after', '4h']), '--unenforced'];
    const warned = async (balance: string) => {
      service.balance = balance;
      const { stderr } = await dry(argv, ...deadline);
      return warningsOf(stderr).filter((text) => text.includes('balance'));
    };
    expect(await warned('400.00')).toEqual([]);
    expect(await warned('none')).toEqual([]);
    expect(await warned('399.99')).toEqual([
      'The balance is 399.99 ₽, but the hours until the deadline cost 400.00 ₽ at the last known price. It is not documented what happens to an instance if the balance is empty: results may be lost.',
    ]);
    service.failing.add('/users/me');
    expect(await warned('399.99')).toEqual([]);
  });

  test('exits with 2 if a guard rejects the request', ssh, async () => {
    service.shows = () => ({ price_per_hour_snapshot: '100.00' });
    await cli('instances', 'create', 'other', ...HARDWARE);
    await cli('profiles', 'set', 'work', '--max-instances', '1');
    expect(await refusedAlike(argv)).toEqual({ code: 2, error: 'guard' });
    await cli('profiles', 'set', 'work', '--max-instances', 'none', '--max-burn', '150');
    expect(await refusedAlike(argv, '--max-price', '90')).toEqual({ code: 2, error: 'guard' });
    expect((await dry(argv, '--max-price', '50')).code).toBe(0);
  });

  test('exits with 5 for a taken name until its instance is terminated', ssh, async () => {
    const { id } = JSON.parse((await cli(...CREATE)).stdout);
    expect(await refusedAlike(argv)).toEqual({ code: 5, error: 'name_taken' });
    service.rent(id, 'trainer', { status: 'TERMINATED' });
    expect((await dry(argv)).code).toBe(0);
  });

  test('exits with 7 if an earlier request with this name is unresolved', ssh, async () => {
    service.posts.push(() => 'hangUp');
    expect((await cli(...CREATE)).code).toBe(7);
    expect(await refusedAlike(argv)).toEqual({ code: 7, error: 'outcome_unknown' });
  });
});

test.each([
  [[], 'at most 810.00 ₽'],
  [['--count', '2'], 'at most 1,620.00 ₽'],
])(
  'shows the whole cost until the deadline, and why it has another hour: %j',
  async (flags, most) => {
    const ends = ['--terminate-after', '8h', '--unenforced', '--max-price', '90'];
    const argv = [...CREATE, ...ends, ...flags, '--dry-run'];
    const { stderr } = await world.cli(argv, { env });
    expect(stderr.split('\n').slice(-3)).toEqual([
      'The instance would be terminated after 8 h.',
      `Cost: ${most} in total (9 started hours, up to 10 min past the deadline; unused time is returned).`,
      '',
    ]);
  },
);

test('rejects an unenforced deadline in create --dry-run', async () => {
  expect(await refusedAlike(CREATE, '--terminate-after', '4h')).toEqual({
    code: 2,
    error: 'usage',
  });
});

test('rejects create --dry-run without a deadline if the profile requires one', async () => {
  await cli('profiles', 'set', 'work', '--require-deadline');
  expect(await refusedAlike(CREATE)).toEqual({ code: 2, error: 'guard' });
});

test('rejects run --detach --dry-run without a scheduled reap', needs('ssh'), async () => {
  expect(await refusedAlike(RUN, '--detach')).toEqual({ code: 2, error: 'usage' });
});

test('rejects run --dry-run if the account has no SSH key', needs('ssh'), async () => {
  await dry(['run', ...OFFERED, '--terminate-after', '4h']);
});

test('prints a null request for create --if-not-exists --dry-run if the instance exists', async () => {
  await cli(...CREATE);
  await dry(CREATE, '--if-not-exists');
  await world.cli([...CREATE, '--if-not-exists', '--dry-run'], { env });
});

test('compares the balance with the cost of the missing instances of --if-not-exists', async () => {
  service.shows = () => ({
    price_per_hour_snapshot: '100.00',
    offer: { id: OFFERED[1], name: 'RTX 4090' },
  });
  await cli('instances', 'create', 'trainer-1', ...HARDWARE);
  const two = ['--count', '2', '--if-not-exists', '--terminate-after', '4h', '--unenforced'];
  const warned = async (balance: string) => {
    service.balance = balance;
    const { stdout, stderr } = await dry([...CREATE, ...two]);
    return [
      ...JSON.parse(stdout).map((row: { would_send: boolean }) => row.would_send),
      ...warningsOf(stderr).filter((text) => text.includes('balance')),
    ];
  };
  expect(await warned('400.00')).toEqual([false, true]);
  expect(await warned('399.99')).toEqual([
    ...[false, true],
    'The balance is 399.99 ₽, but the hours until the deadline cost 400.00 ₽ at the last known price. It is not documented what happens to an instance if the balance is empty: results may be lost.',
  ]);
  await cli('instances', 'create', 'trainer-2', ...HARDWARE);
  expect(await warned('0.00')).toEqual([false, false]);
});
