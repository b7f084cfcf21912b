import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import type { Answer, RecordedRequest } from '../../support/service.ts';

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
const DRIVE = ['drives', 'create', 'twice', '--size', '5'];

describe.each([
  ['instances create', 'machine', MACHINE],
  ['instances reorder', 'machine', AGAIN],
  ['drives create', 'drive', DRIVE],
])('%s of a name whose first request has an unknown outcome', (_verb, what, argv) => {
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
      `error: A ${what} "twice" was asked for now, and whether it was made is not known: it may be billing. Nothing was sent now.\nhint: settle it first: gpucloud instances recover twice; a second one all the same: --yes\n`,
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
    expect(left.stderr).toContain('gpucloud instances recover twice');
  });

  test('--yes asks for a second one', async () => {
    expect((await world.cli([...argv, '--yes'])).code).toBe(0);
    expect(made).toHaveLength(2);
  });
});

describe('a request of unknown outcome', () => {
  test('keeps none of another name or another kind from being made', async () => {
    expect((await world.cli(MACHINE)).code).toBe(7);
    const other = await world.cli(['instances', 'create', 'other', ...HARDWARE]);
    expect(other.code, other.stderr).toBe(0);
    expect((await world.cli(DRIVE)).code).toBe(0);
  });

  test('does not hinder --dry-run, which sends nothing', async () => {
    expect((await world.cli(MACHINE)).code).toBe(7);
    expect((await world.cli([...MACHINE, '--dry-run'])).code).toBe(0);
  });

  test("once recovered, stands in nobody's way", async () => {
    expect((await world.cli(DRIVE)).code).toBe(7);
    expect((await world.cli(['instances', 'recover', 'twice'])).code).toBe(0);
    expect((await world.cli(DRIVE)).code).toBe(0);
  });
});
