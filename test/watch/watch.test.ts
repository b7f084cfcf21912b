import { afterEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { type ManualClock, manualClock } from '../support/clock.ts';
import { inZone } from '../support/in-zone.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import type { Answer } from '../support/service.ts';
import { ok } from '../support/service.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const drive = (name: string, status: string) => ({ id: `id-${name}`, name, status, size_gb: 10 });

const A = drive('a', 'AVAILABLE');

/** Watches drives through these reads; Ctrl-C arrives with the last read. */
async function watched(
  readings: readonly (readonly object[] | Answer | 'hangUp')[],
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const interrupt = new AbortController();
  const left = [...readings];
  world = await createWorld({
    handler() {
      const reading = left.shift() ?? [];
      if (left.length === 0) interrupt.abort(new CliError('interrupted', 'Interrupted.'));
      return Array.isArray(reading) ? ok(reading) : (reading as Answer | 'hangUp');
    },
  });
  const interrupts = { first: interrupt.signal, second: new AbortController().signal };
  return world.cli(['drives', 'list', '--watch', ...flags], { interrupts, env });
}

const READINGS = [
  [A],
  [A],
  [drive('a', 'IN_USE'), drive('b', 'AVAILABLE')],
  [drive('b', 'AVAILABLE')],
  [],
];

describe('--watch of several requests', () => {
  const INSTANCE = '00000000-1111-4222-8333-444455556666';

  /**
   * Refuses only the second read of the drives, and of the instance unless it is `readable`; Ctrl-C
   * arrives with the fourth.
   */
  async function watchedInPart(argv: readonly string[], readable: boolean) {
    const interrupt = new AbortController();
    let [drives, instances] = [0, 0];
    const here = await createWorld({
      handler({ path }) {
        if (path === '/users/me') return ok({ id: 'u1', email: 'a@example.com', balance: '10' });
        if (path.startsWith('/instances/')) {
          instances += 1;
          if (readable || instances !== 2) return ok({ id: INSTANCE, name: 'a', status: 'ACTIVE' });
          return { status: 429, headers: { 'retry-after': '60' }, body: {} };
        }
        if (path !== '/storage/drives') return ok([]);
        drives += 1;
        if (drives === 4) interrupt.abort(new CliError('interrupted', 'Interrupted.'));
        if (drives !== 2) return ok([{ ...A, current_instance_id: INSTANCE }]);
        return { status: 429, headers: { 'retry-after': '120' }, body: {} };
      },
    });
    world = here;
    const interrupts = { first: interrupt.signal, second: new AbortController().signal };
    await here.cli([...argv, '--watch', '--interval', '2s'], { interrupts });
    return here.clock.slept.filter((pause) => pause >= 2_000);
  }

  test.each([
    [['status', '-o', 'table'], false],
    [['status', '-o', 'table'], true],
    [['instances', 'list', '-o', 'tsv'], false],
    [['instances', 'list', '-o', 'tsv'], true],
  ])(
    'waits the pause that the service requests for one of several requests: %j, %j',
    async (argv, readable) => {
      expect(await watchedInPart(argv, readable)).toEqual([2_000, 120_000, 2_000]);
    },
  );
});

test('status --watch prints nothing for a reading of at most the transactions', async () => {
  let reading = 0;
  world = await createWorld({
    handler({ path }) {
      if (path === '/users/me') reading += 1;
      const read = ['/', '/users/me', '/storage', '/billing'][reading - 1] ?? '/billing';
      const isRead = path.startsWith(read);
      if (!isRead) return { status: 422, body: { message: 'no' } };
      return path === '/users/me'
        ? ok({ id: 'u1', email: 'a@example.com', balance: `${10 * reading}` })
        : ok([]);
    },
  });
  const { stdout } = await world.cli(['status', '--watch', '-o', 'json']);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).balance),
  ).toEqual(['10', '20', null]);
});

describe('--watch in a terminal', () => {
  const ID = '00000000-1111-4222-8333-444455556666';
  const OVER = '00000000-1111-4222-8333-444455557777';

  test.each([
    ['drives list --sort name'],
    ['instances list'],
    ['instances list --all'],
    [`instances get ${ID}`],
    [`instances get ${ID} -o jsonl`],
    ['status'],
    ['status --all'],
    ['status -q'],
  ])('shows the last frame of %s', async (line) => {
    const interrupt = new AbortController();
    const reads = new Map<string, number>();
    const later = line.startsWith('status') ? 'STOPPED' : 'TERMINATED';
    let frames = 0;
    const clock = manualClock();
    const sleep: ManualClock['sleep'] = (milliseconds, signal) => {
      if (milliseconds >= 5_000) frames += 1;
      if (frames === 2) interrupt.abort(new CliError('interrupted', 'Interrupted.'));
      return clock.sleep(milliseconds, signal);
    };
    world = await createWorld({
      clock: { ...clock, sleep },
      handler({ path }) {
        const count = (reads.get(path) ?? 0) + 1;
        reads.set(path, count);
        if (path === '/users/me') return ok({ id: 'u1', email: 'a@example.com', balance: '10' });
        const ids = [ID, OVER];
        if (path === '/storage/drives')
          return ok(ids.map((id) => ({ ...A, id, current_instance_id: id })));
        if (path.endsWith(OVER)) return ok({ id: OVER, name: 'over', status: 'TERMINATED' });
        if (!path.startsWith('/instances/')) return ok([]);
        return ok({ id: ID, name: 'a', status: count === 1 ? 'ACTIVE' : later });
      },
    });
    const interrupts = { first: interrupt.signal, second: new AbortController().signal };
    const terminal = { terminal: true, columns: 100, rows: 40, interrupts };
    expect((await world.cli([...line.split(' '), '--watch'], terminal)).code).not.toBe(1);
  });
});

describe('instances list --watch when not in a terminal', () => {
  const [A_ID, B_ID] = [1, 2].map((n) => `${n}0000000-1111-4222-8333-444455556666`);

  test.each(['json', 'csv'])('omits the row of a failed read in %s', async (format) => {
    const interrupt = new AbortController();
    let reading = 0;
    world = await createWorld({
      handler({ path }) {
        if (path === '/storage/drives') {
          reading += 1;
          if (reading === 6) interrupt.abort(new CliError('interrupted', 'Interrupted.'));
          return ok([A_ID, B_ID].map((id) => ({ id: `d-${id}`, current_instance_id: id })));
        }
        const isBroken = path.endsWith(`${B_ID}`) ? reading < 3 : reading === 4;
        if (isBroken) return { status: 422, body: { message: 'no' } };
        return ok({
          id: path.split('/').at(-1),
          name: 'box',
          status: 'ACTIVE',
          ip_address: '192.0.2.7',
        });
      },
    });
    const interrupts = { first: interrupt.signal, second: new AbortController().signal };
    const argv = [
      ...['instances', 'list', '--watch', '-o', format, '--columns', 'id,ip_address,unread'],
    ];
    const { stdout } = await world.cli(argv, { interrupts });
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => (format === 'json' ? Object.values(JSON.parse(line)).join() : line))
      .filter((line) => !line.startsWith('id,'));
    expect(rows).toEqual([`${A_ID},192.0.2.7,false`, `${B_ID},,true`, `${B_ID},192.0.2.7,false`]);
  });
});

describe('status --watch when not in a terminal', () => {
  const INSTANCE = '00000000-1111-4222-8333-444455556666';

  /** Reads an account five times, 10 minutes apart; the balance falls before the fourth read. */
  async function watchedStatus(flags: readonly string[]) {
    const interrupt = new AbortController();
    let reading = 0;
    const here = await createWorld({
      handler({ path }) {
        if (path === '/users/me') {
          reading += 1;
          if (reading === 5) interrupt.abort(new CliError('interrupted', 'Interrupted.'));
          return ok({ id: 'u1', email: 'a@example.com', balance: reading < 4 ? '100' : '90' });
        }
        if (path.startsWith('/instances/')) {
          return ok({
            id: INSTANCE,
            name: 'a',
            status: 'ACTIVE',
            price_per_hour_snapshot: '10.00',
            created_at: '2026-01-15T11:00:00.000Z',
            paid_until: '2026-01-15T12:05:00.000Z',
          });
        }
        if (path !== '/storage/drives') return ok([]);
        return ok([{ ...A, price_per_hour: '1.00', current_instance_id: INSTANCE }]);
      },
    });
    world = here;
    const interrupts = { first: interrupt.signal, second: new AbortController().signal };
    const argv = ['status', '--watch', '--interval', '10m', ...flags];
    return (await here.cli(argv, { interrupts })).stdout;
  }

  test('prints a row only when the balance or the attention count changes', async () => {
    const lines = (await watchedStatus(['--columns', 'as_of,balance,attention']))
      .trim()
      .split('\n');
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ['AS OF', 'BALANCE', 'ATTENTION'],
      [inZone('2026-01-15 12:00:00'), '100', '1'],
      // From here on, the instance's paid hour has ended.
      [inZone('2026-01-15 12:20:00'), '100', '2'],
      [inZone('2026-01-15 12:30:00'), '90', '2'],
    ]);
  });

  test.each([
    ['--json', (text: string) => JSON.parse(text).hours_left],
    ['--query=hours_left', (text: string) => JSON.parse(text)],
  ])(
    'prints a line for %s when the balance or the attention count changes',
    async (flag, hours) => {
      const lines = (await watchedStatus([flag])).trim().split('\n');
      expect(lines.map(hours)).toEqual(
        flag === '--json' ? ['9.09', '9.09', '8.18'] : ['9.09', '8.18'],
      );
    },
  );
});

describe('--watch when not in a terminal', () => {
  test.each([
    ['--json', ['--json'], {}],
    ['GPUCLOUD_OUTPUT=json', [], { GPUCLOUD_OUTPUT: 'json' }],
  ])('prints a line of JSON per change with %s', async (_what, flags, env) => {
    const { stdout } = await watched(READINGS, flags, env);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([A, drive('a', 'IN_USE'), drive('b', 'AVAILABLE'), { id: 'id-a', removed: true }]);
  });

  test.each([[[]], [['-o', 'table']]])(
    'prints the header once, then a row per change, with %j',
    async (flags) => {
      const columns = ['--columns', 'name,status'];
      const { stdout } = await watched(READINGS, [...flags, ...columns]);
      expect(stdout.split('\n').map((line) => line.split(/ +/))).toEqual([
        ['NAME', 'STATUS'],
        ['a', 'AVAILABLE'],
        ['a', 'IN_USE'],
        ['b', 'AVAILABLE'],
        [''],
      ]);
    },
  );

  test('warns once about a suspended drive, and again when it returns', async () => {
    const bad = [drive('a', 'SUSPENDED')];
    const { stderr } = await watched([bad, bad, [A], bad, []], ['-o', 'tsv']);
    expect(stderr.match(/warning: Drive a is SUSPENDED/g)).toHaveLength(2);
  });

  test('reports an outage once and continues with longer pauses', async () => {
    const page: Answer = { status: 200, body: '<html>' };
    await watched(
      [[A], page, page, [drive('a', 'IN_USE')], []],
      ['-o', 'tsv', '--no-header', '--columns', 'status', '--interval', '2s'],
    );
    expect(world?.clock.slept).toEqual(expect.arrayContaining([2_000, 4_000]));
  });

  // One API call would absorb a shorter pause without a note.
  test('waits the 20 s that the service requests, and reports the pause once', async () => {
    const busy: Answer = { status: 429, headers: { 'retry-after': '20' }, body: {} };
    await watched(
      [[A], busy, busy, [drive('a', 'IN_USE')], []],
      ['-o', 'tsv', '--no-header', '--columns', 'status', '--interval', '2s'],
    );
    const long = world?.clock.slept.filter((pause) => pause >= 2_000);
    expect(long).toEqual([2_000, 20_000, 20_000, 2_000]);
  });

  test('reports a requested pause during an outage', async () => {
    const page: Answer = { status: 200, body: '<html>' };
    const busy: Answer = { status: 429, headers: { 'retry-after': '120' }, body: {} };
    const { stderr } = await watched([[A], page, busy, busy, [A], []], ['-o', 'tsv']);
    expect(stderr.match(/^warning: .*HTML.* Trying again\.$/gm)).toHaveLength(1);
    expect(stderr.match(/^warning: .* Trying again in 120 s\.$/gm)).toHaveLength(1);
  });

  test('exits with 1 when the service refuses a --watch request', async () => {
    const refused: Answer = { status: 400, body: { statusCode: 400, message: 'no', error: 'x' } };
    await watched([[A], refused, [A], []], ['-q']);
  });

  test('reports an empty list once with --watch', async () => {
    const notesOf = async (readings: readonly object[][], format = 'table') =>
      (await watched([...readings, []], ['-o', format])).stderr.match(/^No drives\..*$/gm) ?? [];
    expect(await notesOf([[], [], []])).toHaveLength(1);
    expect(await notesOf([[], [A], []])).toHaveLength(1);
    expect(await notesOf([[A], [], []])).toHaveLength(0);
    expect(await notesOf([[], []], 'tsv')).toHaveLength(0);
  });

  test.each([[['--sort', 'name']], [['--interval', '499ms']], [['--interval', '0s']]])(
    'rejects the --watch flags %j before any request',
    async (flags) => {
      const { code, stdout, requests } = await watched([[A]], ['-o', 'tsv', ...flags]);
      expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    },
  );
});
