import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { brokenName } from '../../src/instances/rent/count.ts';
import { ambiguous } from '../../src/instances/resolve.ts';
import { createWorld, journalOf, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { ok } from '../support/service.ts';

/** The ID starts with two words that are also names: `face` and `CAFE`. */
const PROD = 'facecafe-0000-4000-8000-000000000001';
const FACE = '11111111-0000-4000-8000-000000000002';
const CAFE = 'cafe0000-0000-4000-8000-000000000003';
const LAB = '22222222-0000-4000-8000-000000000004';
const TWINS = ['aaaa1111-0000-4000-8000-000000000006', 'aaaa2222-0000-4000-8000-000000000007'];
const STRANGER = '99999999-0000-4000-8000-000000000005';

let world: World;
const statuses = new Map<string, string>();
const NAMES = new Map([
  [PROD, 'prod-db'],
  [FACE, 'face'],
  [CAFE, 'cafeteria'],
  [LAB, 'CAFE'],
  ...TWINS.map((id) => [id, 'twin'] as const),
]);

beforeEach(async () => {
  statuses.clear();
  for (const id of NAMES.keys()) statuses.set(id, 'ACTIVE');
  world = await createWorld({
    handler({ method, path }) {
      const [, , id = '', verb] = path.split('/');
      const status = statuses.get(id);
      if (path === '/users/me') return ok({ id: 'user-1', email: 'ann@example.com' });
      if (status === undefined) return { status: 404, body: { statusCode: 404, message: 'no' } };
      if (method === 'POST') {
        if (status === 'TERMINATED')
          return { status: 409, body: { statusCode: 409, message: 'no' } };
        statuses.set(id, verb === 'terminate' ? 'TERMINATED' : 'STOPPED');
        return ok({ status: statuses.get(id) });
      }
      return ok({ id, name: NAMES.get(id), status, paid_until: '2026-01-15T13:00:00Z' });
    },
  });
  await world.cli(['instances', 'track', ...NAMES.keys()]);
});

/** Returns the POSTs of a command. */
async function changes(...argv: string[]) {
  const { code, stderr, requests } = await world.cli(['instances', ...argv]);
  const posts = requests.filter(({ method }) => method === 'POST').map(({ path }) => path);
  return { code, stderr, posts, sent: requests.length };
}

test('suggests the nearest name of an instance that is not terminated', async () => {
  const hintFor = async (typed: string) =>
    (await changes('stop', typed)).stderr.split('\nhint: ').at(-1)?.split('list known')[0];
  expect(await hintFor('faec')).toBe('did you mean face? ');
  await changes('terminate', 'face', '--yes');
  expect(await hintFor('faec')).toBe('');
  expect(await hintFor('prod-bd')).toBe('did you mean prod-db? ');
  await changes('terminate', '--all', '--yes');
  expect(await hintFor('faec')).toBe('did you mean face? ');
});

const ofCreate = ([verb]: readonly string[]) => (verb === 'create' ? HARDWARE : []);

describe('a name that is also an ID prefix', () => {
  test('selects the instance with a name, never the one with that ID prefix', async () => {
    const first = await changes('terminate', 'face', '--yes');
    expect(first).toMatchObject({ code: 0, posts: [`/instances/${FACE}/terminate`] });
    const second = await changes('terminate', 'face', '--yes');
    expect(second).toMatchObject({ code: 0, posts: [`/instances/${FACE}/terminate`] });
    expect(second.stderr).toContain('face is already TERMINATED.');
    expect(statuses.get(PROD)).toBe('ACTIVE');
  });

  test('terminates neither the tracked instance again nor an untracked namesake', async () => {
    NAMES.set(STRANGER, 'face');
    onTestFinished(() => void NAMES.delete(STRANGER));
    statuses.set(STRANGER, 'ACTIVE');
    await world.cli(['instances', 'track', STRANGER]);
    await world.cli(['instances', 'untrack', STRANGER, '--yes']);
    await changes('terminate', 'face', '--yes');
    const second = await changes('terminate', 'face', '--yes');
    expect(second).toMatchObject({ code: 2, posts: [] });
    expect(second.stderr).toContain(
      `INSTANCE "face" matches several instances: face ${FACE}, face ${STRANGER}\nhint: use an ID\n`,
    );
    await changes('terminate', STRANGER, '--yes');
    expect(statuses.get(STRANGER)).toBe('TERMINATED');
  });

  test.each(['start', 'stop', 'terminate', 'expire'])(
    'sends no %s request to an untracked instance with the same name',
    async (verb) => {
      await changes('terminate', 'face', '--yes');
      NAMES.set(STRANGER, 'face');
      onTestFinished(() => void NAMES.delete(STRANGER));
      statuses.set(STRANGER, 'ACTIVE');
      await world.cli(['instances', 'get', STRANGER]);
      const more = verb === 'expire' ? ['--never'] : ['--yes'];
      const { code, sent, stderr } = await changes(verb, 'face', ...more);
      expect({ code, sent }).toEqual({ code: 2, sent: 0 });
      expect(stderr).toContain(`face ${FACE}, face ${STRANGER}`);
      // `get` changes nothing, so it selects the living instance.
      const got = await world.cli(['instances', 'get', 'face', '-q']);
      expect(got.stdout).toBe(`${STRANGER}\n`);
    },
  );

  test('terminates an untracked instance if no other instance has the name', async () => {
    await changes('untrack', 'face', '--yes');
    expect((await changes('terminate', 'face', '--yes')).posts).toEqual([
      `/instances/${FACE}/terminate`,
    ]);
  });
});

describe('a name like an ID', () => {
  const LIKE = 'beefbeef-1111-4222-8333-44445555aaaa';

  test.each([
    [['create', LIKE]],
    [['create', '--name', LIKE.toUpperCase()]],
    [['create', LIKE, '--count', '2']],
    [['create', '-f', '-']],
    [['reorder', FACE, LIKE]],
    [['reorder', FACE, LIKE, '--any-name']],
  ])('is refused for a new instance before any request: %j', async (argv) => {
    const stdin = `instance_name: ${LIKE}\n`;
    const { code, stderr, requests } = await world.cli(['instances', ...argv, ...ofCreate(argv)], {
      stdin,
    });
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain('must not look like an ID');
  });

  test('is refused by run and by the wizard', async () => {
    const run = ['run', '--name', LIKE, ...HARDWARE, '--', 'true'];
    const { code, stderr, requests } = await world.cli(run);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain('must not look like an ID');
    expect(brokenName(LIKE, undefined)).toBe('must not look like an ID');
  });

  test('is never sent as an ID while the outcome of its request is unknown', async () => {
    const journal = journalOf(world, { service: world.service.url, account: 'user-1' });
    const request = { operation: 'create', name: LIKE, offer_id: null, timeout_ms: 1 } as const;
    await journal.open(request, new Set());
    for (const verb of ['get', 'stop', 'terminate', 'ssh']) {
      const { code, stderr, sent } = await changes(
        verb,
        LIKE,
        ...(verb === 'ssh' ? [] : ['--yes']),
      );
      expect({ verb, code, sent }).toEqual({ verb, code: 7, sent: 0 });
      expect(stderr).toContain('The instance may be billing.');
      expect(stderr).not.toMatch(new RegExp(`gpucloud [^\n]*${LIKE}`));
    }
    const { code, stderr } = await changes('recover', LIKE);
    expect(code).toBe(7);
    expect(stderr).toMatch(/gpucloud instances untrack [-0-9a-f]{36}/);
    expect(stderr).not.toContain(`untrack ${LIKE}`);
  });
});

describe('an ID prefix', () => {
  test('exits with 2 for an ID prefix with --yes when not interactive', async () => {
    const { code, stderr, sent } = await changes('terminate', '2222', '--yes');
    expect({ code, sent }).toEqual({ code: 2, sent: 0 });
    expect(stderr).toContain(
      `an ID prefix: "2222"\nhint: use the name CAFE or the full ID ${LAB}\n`,
    );
  });

  test('exits with 2 for an ID prefix with --yes in a terminal, and asks without --yes', async () => {
    const argv = ['instances', 'terminate', '2222', '--yes'];
    const { code, requests } = await world.cli(argv, { terminal: true });
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    const { stderr } = await world.cli(argv.slice(0, 3), { terminal: true, stdin: 'n\n' });
    expect(stderr).toContain('Terminate CAFE (22222222-0000-4000-8000-000000000004) and its disk?');
  });
});

describe('an ambiguous name or ID prefix', () => {
  test.each(['twin', 'aaaa'])(
    'exits with 2 for an ambiguous name or ID prefix: %s',
    async (text) => {
      const { code, stderr, posts } = await changes('stop', text);
      expect({ code, posts }).toEqual({ code: 2, posts: [] });
      for (const id of TWINS) expect(stderr).toContain(`twin ${id}`);
    },
  );
});

test('terminates nothing if one of several names is ambiguous', async () => {
  const { code, posts } = await changes('terminate', 'prod-db', 'twin', 'none', '--yes');
  expect({ code, posts }).toEqual({ code: 2, posts: [] });
});

test.each([[[]], [['--json']], [['--wait']], [['--wait', '--json']]])(
  'says once of an ended instance that it has ended, in a terminal, with %j',
  async (flags) => {
    const argv = ['instances', 'terminate', 'face', 'prod-db', '--yes', ...flags];
    statuses.set(FACE, 'TERMINATED');
    const { code } = await world.cli(argv, { terminal: true });
    expect(code).toBe(0);
  },
);

test('says how to tell several instances apart', () => {
  const fitting = TWINS.map((id) => ({ id, name: 'twin' }));
  const hints = (['name', 'beginning', 'both'] as const).map((by) => {
    const { failure, message, hint } = ambiguous('aaaa', { by, fitting });
    expect([failure, message]).toEqual([
      'usage',
      `INSTANCE "aaaa" matches several instances: twin ${TWINS[0]}, twin ${TWINS[1]}`,
    ]);
    return hint;
  });
  expect(hints).toEqual(['use an ID', 'use an ID', 'use a name or ID that only one of them has']);
});

test.each([
  [['terminate', '--all'], { terminal: true, stdin: 'n\n' }],
  [['terminate', '--all'], {}],
  [['terminate', '--all', '--yes', 'face'], {}],
])('%j terminates nothing without a yes, or with a name: %j', async (argv, options) => {
  const { requests } = await world.cli(['instances', ...argv], options);
  expect(requests.filter(({ method }) => method === 'POST')).toEqual([]);
});

describe('an unknown name or ID', () => {
  test.each([
    ['terminate', 'first', '--yes'],
    ['stop', 'first'],
    ['get', 'first'],
    ['wait', 'first'],
    ['events', 'first'],
    ['reorder', 'first', 'second'],
    ['ssh', 'first'],
  ])('exits with 3 for an unknown name or ID before any request: %s %s', async (...argv) => {
    const { code, stderr, sent } = await changes(...argv);
    expect({ code, sent }).toEqual({ code: 3, sent: 0 });
    expect(stderr).toContain(
      'no instance with that name or ID is known on this computer for this account.',
    );
    expect(stderr).toContain('gpucloud instances track ID');
    expect(stderr).not.toContain('billing');
  });

  test('suggests the nearest instance name', async () => {
    const { stderr } = await changes('stop', 'prod-bd');
    expect(stderr).toContain('did you mean prod-db?');
  });

  test('exits with 3 for an unknown name, and still terminates the known instances', async () => {
    const { code, stderr, sent } = await changes('terminate', 'one', 'prod-db', 'two', '--yes');
    expect({ code, sent }).toEqual({ code: 3, sent: 2 });
    expect(stderr.match(/^error: INSTANCE "(?:one|two)"/gm)).toHaveLength(2);
    expect(statuses.get(PROD)).toBe('TERMINATED');
  });

  test('sends a request for an unknown ID if it is a UUID', async () => {
    const { code, sent } = await changes('get', STRANGER);
    expect({ code, sent }).toEqual({ code: 3, sent: 1 });
  });
});
