import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openJournal } from '../../../src/journal/index.ts';
import { RentingService } from '../../support/renting-service.ts';
import { createWorld, TEST_KEY, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import type { Handler } from '../../support/service.ts';

const DRIVE = ['drives', 'create', 'data', '--size', '5', '-y'];
const KEY = ['api-keys', 'create', 'ci'];
const RECOVER = ['instances', 'recover', '--json'];
const DAY = 86_400_000;
const MINUTE = 60_000;

/** What becomes of the next creation: how many things it makes, and whether its answer arrives. */
interface Fate {
  readonly makes: number;
  readonly answers: boolean;
}

interface Thing {
  readonly id: string;
  name: string;
  status?: string;
  size_gb?: number | null;
  created_at: string | null;
}

/** A service that makes drives and keys, of which any number may bear one name, and lists them whole. */
class ListingService {
  readonly drives: Thing[] = [];
  readonly keys: Thing[] = [];
  readonly renting = new RentingService();
  fate: Fate = { makes: 1, answers: true };
  /** Milliseconds by which its clock is before the computer's, as that of a sandbox that was turned; behind it, less than none. */
  ahead = 0;

  readonly handler: Handler = (request) => {
    const { method, path, body } = request;
    const [kind, things] =
      path === '/storage/drives'
        ? (['d', this.drives] as const)
        : path === '/api-keys'
          ? (['k', this.keys] as const)
          : [undefined, undefined];
    if (things === undefined) return this.renting.handler(request);
    const answer = (data: unknown, status: number) => ({
      status,
      headers: { date: new Date(this.now()).toUTCString() },
      body: { status: 'success', code: status, data },
    });
    if (method !== 'POST') return answer(things, 200);
    const { name, size_gb } = body as { name: string; size_gb?: number };
    for (let left = this.fate.makes; left > 0; left -= 1) this.make(kind, name, size_gb);
    if (!this.fate.answers) return 'hangUp';
    return answer({ ...things.at(-1), secret_key: 'svc_sk_x' }, 201);
  };

  make(kind: 'd' | 'k', name: string, size_gb = 5): void {
    const things = kind === 'd' ? this.drives : this.keys;
    things.push({
      id: `${kind}${things.length + 1}`,
      name,
      ...(kind === 'd' ? { status: 'AVAILABLE', size_gb } : {}),
      created_at: new Date(this.now()).toISOString(),
    });
  }

  private now(): number {
    return world.clock.now() + this.ahead;
  }
}

let world: World;
let service: ListingService;
beforeEach(async () => {
  service = new ListingService();
  world = await createWorld({ handler: service.handler });
});
afterEach(() => world.close());

async function lose(argv: readonly string[], makes: number): Promise<void> {
  service.fate = { makes, answers: false };
  expect((await world.cli(argv)).code).toBe(7);
  service.fate = { makes: 1, answers: true };
  world.clock.advance(1000);
}

async function recovered() {
  const { code, stdout, stderr } = await world.cli(RECOVER);
  return { code, rows: JSON.parse(stdout), stderr };
}

const errorOf = (stderr: string) => JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error;

describe('drives of one name whose answers were lost', () => {
  test('are settled where there are as many as were asked for', async () => {
    await lose(DRIVE, 1);
    await lose(DRIVE, 1);
    const { code, rows } = await recovered();
    expect(rows).toMatchObject([
      { operation: 'drive', outcome: 'rented', id: 'd1', may_be_billing: true },
      { operation: 'drive', outcome: 'rented', id: 'd2', may_be_billing: true },
    ]);
    expect(code).toBe(0);
    expect((await recovered()).rows).toEqual([]);
  });

  test.each([
    ['one was not made', [1, 0]],
    ['one arrived twice', [2, 1]],
  ])('stay open where there are not: %s', async (_what, fates) => {
    for (const makes of fates) await lose(DRIVE, makes);
    world.clock.advance(DAY);
    const { code, rows, stderr } = await recovered();
    expect(code).toBe(7);
    expect(rows).toMatchObject([
      { outcome: 'unknown', id: null, note: expect.stringContaining('gpucloud drives list') },
      { outcome: 'unknown', id: null },
    ]);
    expect(errorOf(stderr)).toMatchObject({
      hint: 'see what there is: gpucloud drives list; when you know: gpucloud instances untrack data',
      may_be_billing: true,
    });
    expect(stderr).not.toMatch(/track ID|web console/);
    // The commands of the hint do what it says.
    expect((await world.cli(['drives', 'list', '-q'])).stdout).toContain('d1\n');
    expect((await world.cli(['instances', 'untrack', 'data', '-y'])).code).toBe(0);
    expect(await recovered()).toMatchObject({ code: 0, rows: [] });
  });

  test('one whose name no machine could have is dismissed by that name', async () => {
    await lose(['drives', 'create', 'my data', '--size', '5', '-y'], 2);
    world.clock.advance(DAY);
    const { code, stderr } = await recovered();
    expect(code).toBe(7);
    expect(errorOf(stderr).hint).toContain("gpucloud instances untrack 'my data'");
    const others = await world.cli(['instances', 'untrack', 'my data', 'no such', '-y']);
    expect(others.code).toBe(2);
    expect(others.stderr).toContain('INSTANCE "no such"');
    expect((await world.cli(['instances', 'untrack', 'my data', '-y'])).code).toBe(0);
    expect(await recovered()).toMatchObject({ code: 0, rows: [] });
  });

  test('are forgotten together by that name, and the question says how many', async () => {
    await lose(DRIVE, 1);
    await lose(DRIVE, 0);
    world.clock.advance(DAY);
    const argv = ['instances', 'untrack', 'data'];
    expect((await world.cli(argv)).stderr).toContain(
      '(Forget 2 requests for the drive data (asked for at 2026-01-15T12:00:00.000Z and 2026-01-15T12:00:01.000Z)? ',
    );
    const asked = await world.cli(argv, { terminal: true, stdin: 'y\n' });
    expect(asked.stderr).toContain('These are 2 requests for the drive data (asked for at ');
    expect(asked.stderr).toContain('Forget 2 requests for the drive data?');
    expect(await recovered()).toMatchObject({ code: 0, rows: [] });
  });

  test('two of one day settle none of another', async () => {
    await lose(DRIVE, 0);
    world.clock.advance(2 * DAY);
    await lose(DRIVE, 2);
    const { code, rows } = await recovered();
    expect(code).toBe(7);
    expect(rows).toMatchObject([{ outcome: 'unknown' }, { outcome: 'unknown' }]);
  });

  test('each of its own day is settled by itself', async () => {
    await lose(DRIVE, 1);
    world.clock.advance(2 * DAY);
    await lose(DRIVE, 2);
    const { rows } = await recovered();
    expect(rows).toMatchObject([{ outcome: 'rented', id: 'd1' }, { outcome: 'unknown' }]);
  });

  test('one that another request is known to have made is not the lost one', async () => {
    await lose(DRIVE, 0);
    expect((await world.cli(DRIVE)).code).toBe(0);
    const early = await recovered();
    expect(early.code).toBe(7);
    expect(early.rows[0].note).toContain(
      'the request may still arrive, so run this again in 120 s',
    );
    world.clock.advance(120_000);
    const { code, rows } = await recovered();
    expect(rows).toMatchObject([{ outcome: 'not_made', id: null, may_be_billing: false }]);
    expect(code).toBe(0);
  });

  test('and beside it the lost one is certain, under whatever name the other goes by now', async () => {
    await lose(DRIVE, 1);
    await world.cli(['drives', 'create', 'other', '--size', '5']);
    const other = service.drives.find(({ id }) => id === 'd2');
    if (other !== undefined) other.name = 'data';
    expect((await recovered()).rows).toMatchObject([{ outcome: 'rented', id: 'd1' }]);
  });

  test('one that came a day later was made by somebody else', async () => {
    await lose(DRIVE, 0);
    world.clock.advance(DAY);
    service.make('d', 'data');
    const { code, rows } = await recovered();
    expect(code).toBe(7);
    expect(rows[0]).toMatchObject({
      outcome: 'unknown',
      note: 'of this name there is d1, which seems to be of another time: gpucloud drives list',
    });
  });

  test('a service whose clock is hours ahead makes nothing a day too late', async () => {
    service.ahead = 6 * 3_600_000;
    await lose(DRIVE, 1);
    expect((await recovered()).rows).toMatchObject([{ outcome: 'rented', id: 'd1' }]);
  });

  test('nor one that is behind anything too early', async () => {
    service.ahead = -20 * MINUTE;
    await lose(DRIVE, 1);
    const { code, rows } = await recovered();
    expect(rows).toMatchObject([{ outcome: 'rented', id: 'd1' }]);
    expect(code).toBe(0);
  });

  test('one that is older than a clock which is behind can tell is of another time', async () => {
    service.ahead = -20 * MINUTE;
    service.make('d', 'data');
    world.clock.advance(6 * MINUTE);
    await lose(DRIVE, 0);
    expect((await recovered()).rows[0]).toMatchObject({
      outcome: 'unknown',
      note: expect.stringContaining('d1, which seems to be of another time'),
    });
  });

  test('of one without a time it is said what is not known, also beside one that fits', async () => {
    await lose(DRIVE, 1);
    const [made] = service.drives;
    if (made !== undefined) made.created_at = null;
    const note =
      'of this name there is d1; when it was made the service does not say, so whether it came of this request is not known: gpucloud drives list';
    const { code, rows } = await recovered();
    expect(code).toBe(7);
    expect(rows).toMatchObject([{ outcome: 'unknown', note }]);
    service.make('d', 'data');
    expect((await recovered()).rows).toMatchObject([{ outcome: 'unknown', note }]);
  });

  test.each([
    ['larger', 500, ', of 500 GB where 5 GB were asked for'],
    ['of no size', null, ', whose size beside the one that was asked for is not known'],
  ])(
    'one that is %s is taken once the request can not arrive any more',
    async (_what, size, words) => {
      await lose(DRIVE, 0);
      service.make('d', 'data');
      const [made] = service.drives;
      if (made !== undefined) made.size_gb = size;
      const early = await recovered();
      expect(early.code).toBe(7);
      expect(early.rows).toMatchObject([
        {
          outcome: 'unknown',
          id: null,
          note: `of this name there is d1${words}; the request may still arrive, so run this again in 120 s`,
        },
      ]);
      world.clock.advance(2 * MINUTE);
      const { code, rows } = await recovered();
      expect(rows).toMatchObject([
        { outcome: 'rented', id: 'd1', note: `the drive is there, d1${words}` },
      ]);
      expect(code).toBe(0);
    },
  );

  test('a larger one beside which the request arrives after all is not taken for it', async () => {
    await lose(DRIVE, 0);
    service.make('d', 'data', 500);
    expect((await recovered()).code).toBe(7);
    service.make('d', 'data');
    world.clock.advance(2 * MINUTE);
    expect(await recovered()).toMatchObject({ code: 7, rows: [{ outcome: 'unknown' }] });
  });

  test('a smaller one is not it, unless a person made it smaller', async () => {
    await lose(DRIVE, 0);
    service.make('d', 'data', 3);
    world.clock.advance(DAY);
    const { code, rows } = await recovered();
    expect(code).toBe(7);
    expect(rows).toMatchObject([
      {
        outcome: 'unknown',
        note: 'of this name there is d1, of 3 GB where 5 GB were asked for: gpucloud drives list',
      },
    ]);
  });

  test('a smaller one beside it changes nothing', async () => {
    await lose(DRIVE, 1);
    service.make('d', 'data', 3);
    expect((await recovered()).rows).toMatchObject([{ outcome: 'rented', id: 'd1' }]);
  });

  test('as many as requests settle none where their times do not go together', async () => {
    await lose(DRIVE, 0);
    world.clock.advance(10 * MINUTE);
    await lose(DRIVE, 0);
    world.clock.advance(40 * MINUTE);
    await lose(DRIVE, 0);
    world.clock.advance(5 * MINUTE);
    service.make('d', 'data');
    // Two came too late for all requests but the last.
    world.clock.advance(45 * MINUTE);
    service.make('d', 'data');
    world.clock.advance(5 * MINUTE);
    service.make('d', 'data');
    const { code, rows } = await recovered();
    expect(code).toBe(7);
    expect(rows).toMatchObject([
      { outcome: 'unknown', note: expect.stringContaining('3 requests of this name and time') },
      { outcome: 'unknown', id: null },
      { outcome: 'unknown', id: null },
    ]);
  });

  test('a process that waits for the same just now may be the one that made it', async () => {
    await lose(DRIVE, 0);
    const journal = openJournal({
      folder: join(world.home, 'state', 'rentals'),
      scope: { service: world.service.url, apiKey: TEST_KEY },
      clock: world.clock,
      pid: process.pid,
      isAlive: () => true,
    });
    const body = { name: 'data', size_gb: 5 };
    const waiting = await journal.intend({
      operation: 'drive',
      name: 'data',
      offer_id: null,
      body,
    });
    service.make('d', 'data');
    const { code, stdout } = await world.cli(RECOVER, { isAlive: (pid) => pid === process.pid });
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject([{ outcome: 'unknown', id: null }]);
    await waiting.settle('rented', { id: 'd1' });
    await waiting.close();
    world.clock.advance(120_000);
    expect((await recovered()).rows).toMatchObject([{ outcome: 'not_made' }]);
  });

  test('one that is deleted by now bills no more', async () => {
    await lose(DRIVE, 1);
    const [made] = service.drives;
    if (made !== undefined) made.status = 'DELETED';
    expect((await recovered()).rows).toMatchObject([
      {
        outcome: 'rented',
        id: 'd1',
        may_be_billing: false,
        note: 'the drive was made, d1, and is deleted',
      },
    ]);
  });
});

describe('what people see', () => {
  test('a drive and a key are MADE, and the kind stands beside the name', async () => {
    await lose(DRIVE, 1);
    await lose(KEY, 1);
    const { code, stdout } = await world.cli(['instances', 'recover']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAME +KIND +OUTCOME +ID/);
    expect(stdout).toMatch(/^data +drive +MADE +d1 /m);
    expect(stdout).toMatch(/^ci +API key +MADE +k1 /m);
    expect(stdout).not.toContain('RENTED');
  });

  test('machines alone need no such column', async () => {
    service.renting.posts.push(() => 'hangUp');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const { stdout } = await world.cli(['instances', 'recover']);
    expect(stdout).toMatch(/^NAME +OUTCOME +ID/);
  });

  test('an API key costs nothing, open or found', async () => {
    await lose(KEY, 0);
    const open = await recovered();
    expect(open.rows).toMatchObject([{ outcome: 'unknown', may_be_billing: false }]);
    expect(errorOf(open.stderr)).toMatchObject({
      message: expect.not.stringContaining('billing'),
      hint: 'see what there is: gpucloud api-keys list; when you know: gpucloud instances untrack ci',
      may_be_billing: false,
    });
    service.make('k', 'ci');
    expect((await recovered()).rows).toMatchObject([
      { outcome: 'rented', id: 'k1', may_be_billing: false },
    ]);
  });

  test('each kind that stays open has a hint of its own', async () => {
    await lose(DRIVE, 0);
    service.renting.posts.push(() => 'hangUp');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const { code, stderr } = await recovered();
    expect(code).toBe(7);
    expect(errorOf(stderr)).toMatchObject({
      message: expect.stringMatching(
        /: data \(drive, asked for at .*\), trainer \(offer .*\)\. Look for the machine in the service's web console\.$/,
      ),
      hint:
        'drive: see what there is: gpucloud drives list; when you know: gpucloud instances untrack data; ' +
        'machine: if it is there: gpucloud instances track ID; if it is not: gpucloud instances untrack trainer',
    });
  });
});

describe('a drive and a machine of one name whose answers were lost', () => {
  const CREATE = ['instances', 'create', 'data', ...HARDWARE];

  /** The drive was not made, and the machine may be there. */
  async function loseBoth(): Promise<void> {
    await lose(DRIVE, 0);
    service.renting.posts.push(() => 'hangUp');
    expect((await world.cli(CREATE)).code).toBe(7);
  }
  const listed = async () =>
    JSON.parse((await world.cli(['instances', 'list', '--json'])).stdout) as { uid?: string }[];

  test('each hint of recover forgets its own request alone', async () => {
    await loseBoth();
    const { rows, stderr } = await recovered();
    const [drive, machine] = rows;
    expect(errorOf(stderr).hint).toBe(
      `drive: see what there is: gpucloud drives list; when you know: gpucloud instances untrack ${drive.uid}; ` +
        `machine: if it is there: gpucloud instances track ID; if it is not: gpucloud instances untrack ${machine.uid}`,
    );
    expect((await world.cli(['instances', 'untrack', drive.uid, '-y'])).code).toBe(0);
    expect(await listed()).toMatchObject([{ name: 'data', status: 'UNKNOWN', uid: machine.uid }]);
    const after = await recovered();
    expect(after.rows).toMatchObject([{ uid: machine.uid, operation: 'create' }]);
    // Alone again it is named by its name.
    expect(errorOf(after.stderr).hint).toContain('if it is not: gpucloud instances untrack data');
    expect((await world.cli(['instances', 'untrack', machine.uid, '-y'])).code).toBe(0);
    expect(await listed()).toEqual([]);
  });

  test('the name forgets neither: exit 2, and what names each', async () => {
    await loseBoth();
    const { rows } = await recovered();
    const [drive, machine] = rows;
    for (const argv of [['data'], ['data', '-y'], [drive.uid, 'data', '-y']]) {
      const { code, stdout, stderr } = await world.cli(['instances', 'untrack', ...argv]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(
        `error: INSTANCE "data": requests of several kinds have this name; each is forgotten by its uid: drive: gpucloud instances untrack ${drive.uid}; machine: gpucloud instances untrack ${machine.uid}\n`,
      );
    }
    expect((await recovered()).rows).toHaveLength(2);
  });

  test('the question tells them apart', async () => {
    await loseBoth();
    const { rows } = await recovered();
    const uids = rows.map(({ uid }: { uid: string }) => uid);
    const { code, stderr } = await world.cli(['instances', 'untrack', ...uids]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      '(Forget the request for the drive data (asked for at 2026-01-15T12:00:00.000Z) and the request for the machine data (asked for at 2026-01-15T12:00:01.000Z)? ',
    );
    const left = await world.cli(['instances', 'untrack', uids[1]], {
      terminal: true,
      stdin: '\n',
    });
    expect(left.stderr).toContain('Forget the request for the machine data?');
    expect((await recovered()).rows).toHaveLength(2);
  });

  test('recover --kind looks at one of them, and tells of no other', async () => {
    await loseBoth();
    world.clock.advance(DAY);
    const argv = ['instances', 'recover', 'data', '--retry', '-q', '--kind'];
    const { code, stdout } = await world.cli([...argv, 'machine']);
    expect({ code, ids: stdout.trim().split('\n') }).toEqual({
      code: 0,
      ids: [((await listed()) as { id?: string }[])[0]?.id],
    });
    expect((await world.cli([...argv, 'machine'])).code).toBe(3);
    expect((await world.cli([...argv, 'key'])).code).toBe(2);
    expect((await recovered()).rows).toMatchObject([{ operation: 'drive', outcome: 'not_made' }]);
  });
});

test('a machine that is rented again settles no drive of its name', async () => {
  service.fate = { makes: 0, answers: false };
  await world.cli(['drives', 'create', 'trainer', '--size', '5']);
  world.clock.advance(1000);
  service.renting.posts.push(() => 'hangUp');
  await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
  const { code, stdout } = await world.cli([...RECOVER, '--retry']);
  expect(code).toBe(7);
  expect(JSON.parse(stdout)).toMatchObject([
    { operation: 'drive', outcome: 'unknown', id: null },
    { operation: 'create', outcome: 'replaced' },
  ]);
});

test('nor a reorder of its name, which need not be unique', async () => {
  const old = service.renting.rent('3f0c5d9e-1111-4222-8333-444455556666', 'old', {
    status: 'TERMINATED',
  });
  service.renting.posts.push(() => 'hangUp');
  expect((await world.cli(['instances', 'reorder', old.id, 'trainer'])).code).toBe(7);
  world.clock.advance(1000);
  service.renting.posts.push(() => 'hangUp');
  await world.cli(['instances', 'create', 'trainer', ...HARDWARE, '--yes']);
  const { code, stdout } = await world.cli([...RECOVER, '--retry']);
  expect(code).toBe(7);
  expect(JSON.parse(stdout)).toMatchObject([
    { operation: 'reorder', outcome: 'unknown', id: null },
    { operation: 'create', outcome: 'replaced' },
  ]);
});
