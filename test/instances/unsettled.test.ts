import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openJournal } from '../../src/journal/index.ts';
import { createWorld, TEST_KEY, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import type { Answer, RecordedRequest } from '../support/service.ts';

const ok = (data: unknown, status = 200): Answer => ({
  status,
  body: { status: 'success', code: status, data },
});
const old = { id: '3f0c5d9e-1111-4222-8333-000000000000', name: 'old', status: 'TERMINATED' };

/** Makes whatever it is asked for, however often, and loses the first answer. */
let made: { id: string; name: string; size_gb?: number; created_at: string; status: string }[];
let world: World;

beforeEach(async () => {
  made = [];
  world = await createWorld({
    handler({ method, path, body }) {
      if (path === '/users/me') return ok({ id: 'user-1' });
      if (path === `/instances/${old.id}`) return ok(old);
      if (method !== 'POST') return ok(made.filter(({ size_gb }) => size_gb !== undefined));
      const fields = body as Record<string, string> & { size_gb?: number };
      const thing = {
        id: `3f0c5d9e-1111-4222-8333-${String(made.length + 1).padStart(12, '0')}`,
        name: fields.instance_name ?? fields.new_name ?? fields.name ?? '',
        status: path === '/storage/drives' ? 'AVAILABLE' : 'PROVISIONING',
        created_at: '2026-01-15T12:00:01.000Z',
        ...(fields.size_gb === undefined ? {} : { size_gb: fields.size_gb }),
      };
      made.push(thing);
      return made.length === 1 ? 'hangUp' : ok(thing, 201);
    },
  });
});
afterEach(() => world.close());

const posts = (requests: readonly RecordedRequest[]) =>
  requests.filter(({ method }) => method === 'POST').length;

const MACHINE = ['instances', 'create', 'twice', ...HARDWARE];
const AGAIN = ['instances', 'reorder', old.id, 'twice'];

const FORGET = 'gpucloud instances untrack twice';
const OF_MACHINE = `gpucloud instances track ID if it is there, ${FORGET} if it is not`;

describe.each([
  ['instances create', 'machine', MACHINE, OF_MACHINE],
  ['instances reorder', 'machine', AGAIN, OF_MACHINE],
])('%s of a name whose first request has an unknown outcome', (_verb, what, argv, wayOut) => {
  beforeEach(async () => {
    expect((await world.cli(argv)).code).toBe(7);
  });

  test('sends nothing where nobody can be asked: exit 7, and what settles it', async () => {
    const again = await world.cli(argv);
    expect({ code: again.code, stdout: again.stdout, posts: posts(again.requests) }).toEqual({
      code: 7,
      stdout: '',
      posts: 0,
    });
    expect(again.stderr).toContain(
      `error: A ${what} "twice" was asked for now, and whether it was made is not known: it may be billing. Nothing was sent now.\nhint: settle it first: gpucloud instances recover twice; where that can't: ${wayOut}; a second one all the same: --yes\n`,
    );
    const json = await world.cli([...argv, '--json']);
    expect(JSON.parse(json.stderr).error).toMatchObject({
      code: 'outcome_unknown',
      retryable: false,
      resource: 'twice',
      may_be_billing: true,
    });
    expect(made).toHaveLength(1);
  });

  test('asks a person, and Enter sends nothing', async () => {
    const left = await world.cli(argv, { terminal: true, stdin: '\r' });
    expect({ code: left.code, posts: posts(left.requests) }).toEqual({ code: 130, posts: 0 });
    expect(left.stderr).toContain(
      `whether it was made is not known: it may be billing. A second one would cost as much again.`,
    );
    expect(left.stderr).toContain(`Ask for another ${what} "twice" all the same?`);
    expect(left.stderr).toContain(`gpucloud instances recover twice; where that can't: ${wayOut}`);
  });

  test('--yes asks for a second one', async () => {
    expect((await world.cli([...argv, '--yes'])).code).toBe(0);
    expect(made).toHaveLength(2);
  });
});

describe.each([
  ['instances create', 'machine', 'create', 'instance_name', MACHINE],
  ['instances reorder', 'machine', 'reorder', 'new_name', AGAIN],
] as const)(
  '%s of a name that another process waits for just now',
  (_verb, what, operation, field, argv) => {
    const isAlive = (pid: number) => pid === process.pid;
    const waitFor = () =>
      openJournal({
        folder: join(world.home, 'state', 'rentals'),
        scope: { service: world.service.url, apiKey: TEST_KEY },
        clock: world.clock,
        pid: process.pid,
        isAlive,
      }).intend({ operation, name: 'twice', offer_id: null, body: { [field]: 'twice' } });

    test('sends nothing: exit 7, and to wait', async () => {
      const waiting = await waitFor();
      const { code, stderr, requests } = await world.cli(argv, { isAlive });
      expect({ code, posts: posts(requests) }).toEqual({ code: 7, posts: 0 });
      expect(stderr).toContain(
        `error: A ${what} "twice" was asked for now, and the answer has not come yet: it may be billing. Nothing was sent now.\nhint: its process still waits for the answer: run the command again in a while; a second one all the same: --yes\n`,
      );
      await waiting.settle('not_sent');
      await waiting.close();
      // Of its own kind it is the first, whose answer is lost.
      expect(posts((await world.cli(argv, { isAlive })).requests)).toBe(1);
    });

    test('recover of the name is 7 as well, not 3: nothing is lost yet', async () => {
      const waiting = await waitFor();
      const recover = ['instances', 'recover', 'twice'];
      const { code, stdout, stderr } = await world.cli(recover, { isAlive });
      expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
      expect(stderr).toContain(
        `error: The request for the ${what} twice is under way, and its answer has not come yet: it may be billing.\nhint: its process still waits for the answer: run the command again in a while\n`,
      );
      const ofKind = await world.cli([...recover, '--kind', 'api-key'], { isAlive });
      expect(ofKind.code).toBe(3);
      await waiting.settle('not_sent');
      await waiting.close();
      expect((await world.cli(recover, { isAlive })).code).toBe(3);
    });
  },
);

describe('a request of unknown outcome', () => {
  test('that recover never settles is forgotten by the command of the hint', async () => {
    expect((await world.cli(AGAIN)).code).toBe(7);
    expect((await world.cli(['instances', 'recover', 'twice', '--retry'])).code).toBe(7);
    const hint = (await world.cli(AGAIN)).stderr;
    expect(hint).toContain(`${FORGET} if it is not`);
    expect((await world.cli([...FORGET.split(' ').slice(1), '-y'])).code).toBe(0);
    expect((await world.cli(AGAIN)).code).toBe(0);
  });

  test('keeps none of another name from being made', async () => {
    expect((await world.cli(MACHINE)).code).toBe(7);
    const other = await world.cli(['instances', 'create', 'other', ...HARDWARE]);
    expect(other.code, other.stderr).toBe(0);
  });

  test('does not hinder --dry-run, which sends nothing', async () => {
    expect((await world.cli(MACHINE)).code).toBe(7);
    expect((await world.cli([...MACHINE, '--dry-run'])).code).toBe(0);
  });
});
