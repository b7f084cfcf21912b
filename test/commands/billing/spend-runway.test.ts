import { beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { type AccountWorld, createAccountWorld, DAY, HOUR } from '../../support/account-service.ts';
import { createWorld } from '../../support/run-cli.ts';

const FAULT = { status: 500, body: { statusCode: 500, message: 'boom', error: 'Internal' } };

let { world, service, known } = {} as AccountWorld;
beforeEach(async () => {
  ({ world, service, known } = await createAccountWorld());
});

async function spend(...flags: string[]) {
  const outcome = await world.cli(['billing', 'spend', '--json', ...flags]);
  return { ...outcome, rows: outcome.stdout === '' ? [] : JSON.parse(outcome.stdout) };
}

describe('billing spend', () => {
  test('prints a plain table to a pipe, and the period to stderr', async () => {
    service.transaction('USAGE_CHARGE', '0.1', 2 * HOUR);
    service.transaction('USAGE_CHARGE', '0.2', HOUR);
    service.transaction('REFUND', '0.05', HOUR);
    service.transaction('DEPOSIT', '500', DAY);
    service.transaction('BONUS', '7.5', DAY);
    await world.cli(['billing', 'spend']);
  });

  test('draws a bar per period in a terminal, in proportion to the highest', async () => {
    service.transaction('USAGE_CHARGE', '400', DAY);
    service.transaction('USAGE_CHARGE', '100', 2 * DAY);
    service.transaction('REFUND', '50', 3 * DAY);
    const argv = ['billing', 'spend', '--since', '2026-01-12'];
    await world.cli(argv, { terminal: true, columns: 64 });
    await world.cli(argv, { terminal: true, columns: 64, env: { TERM: 'dumb' } });
  });

  test('draws a whole bar for the highest period although it is below one rouble', async () => {
    service.transaction('USAGE_CHARGE', '0.4', DAY);
    service.transaction('USAGE_CHARGE', '0.1', 2 * DAY);
    const argv = ['billing', 'spend', '--since', '2026-01-12'];
    await world.cli(argv, { terminal: true, columns: 64 });
  });

  test('prints also the other types and the period of each row as CSV', async () => {
    service.transaction('USAGE_CHARGE', '0.3', HOUR);
    service.transaction('REFUND', '0.05', HOUR);
    service.transaction('DEPOSIT', '500', HOUR);
    service.transaction('BONUS', '7.5', HOUR);
    service.transaction('NEW_TYPE', '2', HOUR);
    const columns = 'bonus,deposited,refunded,charged,spent,other,transactions,from,to,period';
    const argv = ['billing', 'spend', '-o', 'csv', '--columns', columns];
    await world.cli(argv);
  });

  test('estimates the cost per instance, and shows the rest', async () => {
    await known(service.instance('trainer', { created_at: service.ago(2 * HOUR) }));
    service.transaction('USAGE_CHARGE', '200', HOUR);
    await spend('--by', 'instance', '--since', '7d');
    await world.cli(['billing', 'spend', '--by', 'instance']);
    service.broken.set('/instances', FAULT);
    await world.cli(['billing', 'spend', '--by', 'instance']);
    service.broken.set('/storage', FAULT);
    await world.cli(['billing', 'spend', '--by', 'instance']);
  });

  test.each([
    ['2026-01-10', '2026-01-14', 'from 2026-01-10 to 2026-01-14'],
    ['2026-01-10T06:00', '2026-01-14T18:00', 'from 2026-01-10 06:00 to 2026-01-14 18:00'],
    ['2026-01-14', '2026-01-14', 'from 2026-01-14 to 2026-01-14'],
  ])('names the last day of the period: %s, %s', async (since, until, range) => {
    service.transaction('USAGE_CHARGE', '10', DAY);
    const argv = ['billing', 'spend', '--since', since, '--until', until];
    expect((await world.cli(argv)).stderr).toMatch(new RegExp(`^Spent [\\d.]+ ₽ ${range}\\.\n`));
    const { stderr } = await world.cli([...argv, '--by', 'instance']);
    expect(stderr).toContain(` ₽ ${range}.\n`);
  });

  test('explains estimates above the charges', async () => {
    const running = { created_at: service.ago(2 * HOUR), last_billed_at: service.ago(HOUR) };
    await known(service.instance('trainer', running));
    service.transaction('USAGE_CHARGE', '89.90', HOUR);
    await world.cli(['billing', 'spend', '--by', 'instance']);
  });

  test('marks and names an instance that was stopped and started again', async () => {
    const weekly = service.instance('weekly', {
      created_at: service.ago(44 * HOUR),
      status: 'STOPPED',
      paid_until: service.ago(42 * HOUR),
    });
    const steady = service.instance('steady', { created_at: service.ago(42 * HOUR) });
    await known(weekly, steady);
    service.instances.set(weekly, { ...service.instances.get(weekly), status: 'ACTIVE' });
    const argv = ['billing', 'spend', '--by', 'instance', '--since', '7d'];
    await world.cli(argv);
    await spend(...argv.slice(2));
    await world.cli([...argv, '-o', 'csv']);
    const daily = service.instance('daily', {
      created_at: service.ago(30 * HOUR),
      status: 'STOPPED',
      paid_until: service.ago(29 * HOUR),
    });
    await known(daily);
    service.instances.set(daily, { ...service.instances.get(daily), status: 'ACTIVE' });
    await world.cli(argv);
    service.broken.set('/storage/drives', FAULT);
    expect((await world.cli([...argv, '-q'])).code).toBe(1);
  });

  /** Sets the service's clock two days ahead of the computer's. */
  async function twoDaysAhead(): Promise<void> {
    ({ world, service } = await createAccountWorld(2 * DAY));
  }

  test("subtracts a --since duration from the service's time", async () => {
    await twoDaysAhead();
    service.transaction('USAGE_CHARGE', '10', 2 * HOUR);
    service.transaction('USAGE_CHARGE', '5', DAY);
    await world.cli(['billing', 'spend', '--since', '3h']);
    expect((await world.cli(['billing', 'spend'])).stderr).toContain('₽ from 2025-12-19 to');
    const rows = await world.cli(['billing', 'transactions', '--since', '3h', '--json']);
    expect(JSON.parse(rows.stdout)).toMatchObject([{ amount: '10' }]);
    const since = ['--since', '2026-01-16T12:00Z'];
    expect((await world.cli(['billing', 'spend', ...since])).code).toBe(0);
  });

  test("ends the period at the service's time if the computer's clock is two days behind", async () => {
    await twoDaysAhead();
    service.transaction('USAGE_CHARGE', '10', 2 * HOUR);
    service.transaction('USAGE_CHARGE', '5', DAY);
    const { stderr } = await world.cli(['billing', 'spend']);
    expect(stderr).toMatch(/^Spent 15\.00 ₽ from \S+ to 2026-01-17 /);
  });

  test('reports an empty period, and prints [] with --json', async () => {
    await world.cli(['billing', 'spend']);
    await world.cli(['billing', 'spend'], { terminal: true, columns: 64 });
    expect((await spend()).stdout).toBe('[]\n');
  });

  test('counts only COMPLETED transactions, and exits with 10 if one is unreadable', async () => {
    service.transaction('USAGE_CHARGE', '10', HOUR);
    service.transaction('USAGE_CHARGE', '20', HOUR, { status: 'FAILED' });
    service.transaction('DEPOSIT', '30', HOUR, { status: 'PENDING' });
    service.transaction('USAGE_CHARGE', 'ten', HOUR);
    service.transaction('USAGE_CHARGE', '40', HOUR, { created_at: null });
    // A program sees nothing that looks like a whole sum.
    await world.cli(['billing', 'spend', '--json']);
    await world.cli(['billing', 'spend']);
  });

  test('lists undocumented transaction types separately', async () => {
    for (const amount of ['12.345', '1']) service.transaction('CASHBACK', amount, HOUR);
    service.transaction('USAGE_CHARGE', '2', HOUR);
    service.transaction('USAGE_CHARGE', '-3', HOUR);
    service.transaction('VOUCHER', '4', HOUR, { direction: null });
    await spend();
    await world.cli(['billing', 'spend']);
  });

  // 1,200 charges at this interval span a little more than a year.
  const COUNT = 1_200;
  const EVERY = 7.5 * HOUR;
  test.each([
    ['day', 400, 365],
    ['week', 60, 53],
    ['month', 13, 13],
  ])('sums 1,200 transactions by %s exactly', async (by, most, least) => {
    for (let at = 0; at < COUNT; at += 1) {
      service.transaction('USAGE_CHARGE', `${at}.000001`, at * EVERY);
    }
    const { rows } = await spend('--by', by, '--since', '2025-01-01');
    expect(rows.length).toBeLessThanOrEqual(most);
    expect(rows.length).toBeGreaterThanOrEqual(least);
    const micros = rows.reduce(
      (sum: bigint, { spent }: { spent: string }) =>
        sum + BigInt(Math.round(Number(spent) * 1_000_000)),
      0n,
    );
    // Counts the hours from 1 January 2025 to noon on 15 January 2026.
    const since = new Date(2025, 0, 1).getTime();
    let expected = 0n;
    for (let at = 0; at < COUNT; at += 1) {
      if (service.now - at * EVERY >= since) expected += BigInt(at) * 1_000_000n + 1n;
    }
    expect(micros).toBe(expected);
  });

  test.each([
    [['--by', 'year'], '--by "year": must be one of day, week, month'],
    [['--since', '2026-02-01', '--until', '2026-01-01'], '--since must be before --until'],
    [['--since', '1h', '--until', '1h'], '--since must be before --until'],
    [['--since', 'soon'], '--since "soon"'],
  ])('rejects billing spend %j before any request', async (argv, words) => {
    const { stderr, requests } = await world.cli(['billing', 'spend', ...argv]);
    expect(requests).toEqual([]);
    expect(stderr).toContain(words);
  });

  test('rejects a --since in the future', async () => {
    await world.cli(['billing', 'spend', '--since', '2030-01-01']);
    const now = new Date(world.clock.now()).toISOString();
    expect((await world.cli(['billing', 'spend', '--since', now])).code).toBe(0);
  });

  test('exits with 130 on Ctrl-C during a long history, and prints nothing to stdout', async () => {
    for (let hour = 0; hour < 1000; hour += 1)
      service.transaction('USAGE_CHARGE', '1', hour * HOUR);
    service.limit = 10;
    const first = new AbortController();
    const { handler } = service;
    let asked = 0;
    const slow = await createWorld({
      clock: world.clock,
      async handler(request) {
        asked += 1;
        if (asked === 20) first.abort(new CliError('interrupted', 'Interrupted.'));
        return handler(request);
      },
    });
    const { code, stdout } = await slow.cli(['billing', 'spend'], {
      interrupts: { first: first.signal, second: new AbortController().signal },
    });
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(asked).toBeLessThan(25);
  });

  test('exits with 1 if the service fails to return the history', async () => {
    service.broken.set('/billing', FAULT);
    expect(await world.cli(['billing', 'spend'])).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('billing runway', () => {
  const runway = async (...flags: string[]) => {
    const outcome = await world.cli(['billing', 'runway', '--json', ...flags]);
    return { ...outcome, doc: outcome.stdout === '' ? undefined : JSON.parse(outcome.stdout) };
  };

  test.each([
    ['269.70', '3h', 0],
    ['269.69', '3h', 5],
    ['269.70', '181m', 5],
    ['269.70', '269.70', 0],
    ['269.70', '269.701', 5],
    ['-1', '1s', 5],
    ['0', '1s', 5],
  ])(
    'compares a balance of %s with --fail-below %s and exits with %i',
    async (balance, limit, exit) => {
      await known(service.instance('trainer'));
      service.balance = balance;
      expect((await runway('--fail-below', limit)).code).toBe(exit);
    },
  );

  test.each([1, 3, 4, 5])('names three of %i instances that it cannot count', async (count) => {
    for (let at = 1; at <= count; at += 1)
      await known(service.instance(`box-${at}`, { status: 'HIBERNATING' }));
    await runway();
  });

  test('passes --fail-below if nothing bills, unless the balance is negative', async () => {
    service.balance = '0.00';
    await runway('--fail-below', '24h');
    service.balance = '-0.01';
    expect((await runway('--fail-below', '24h')).code).toBe(5);
  });

  test('computes the rate from charges if no instance is known', async () => {
    service.balance = '1000.00';
    for (let hour = 0; hour < 24; hour += 1) {
      service.transaction('USAGE_CHARGE', '100.00', hour * HOUR + 60_000);
    }
    await runway('--fail-below', '24h');
    expect((await runway('--fail-below', '9h')).code).toBe(0);
    await world.cli(['billing', 'runway']);
    service.balance = '999999999999999999';
    await world.cli(['billing', 'runway']);
  });

  test.each([null, '', 'soon', '-1.00'])(
    'reports an unknown price instead of hours if the price is %j',
    async (price_per_hour_snapshot) => {
      await known(service.instance('told'), service.instance('mute', { price_per_hour_snapshot }));
      await runway();
      await world.cli(['status', '--json']);
      await world.cli(['status']);
    },
  );

  test("omits the hours if an instance can't be read", async () => {
    await known(service.instance('told'));
    const unread = service.instance('unread');
    service.broken.set(`/instances/${unread}`, FAULT);
    service.drive('data', { current_instance_id: unread });
    await runway();
  });

  test('reports why the hours left are unknown', async () => {
    await runway();
    service.balance = null;
    expect((await runway()).code).toBe(10);
    await world.cli(['billing', 'runway']);
    service.balance = '10000.00';
    service.broken.set('/storage/drives', 'hangUp');
    await runway();
    service.broken.clear();
    await known(service.instance('told'));
    await runway();
  });

  test('prints every column as CSV', async () => {
    await known(service.instance('trainer'));
    service.transaction('USAGE_CHARGE', '100', HOUR);
    const columns = 'as_of,balance,below,hours_left,per_hour,runs_out_at,unexplained_per_hour';
    const argv = ['billing', 'runway', '--fail-below', '1', '-o', 'csv', '--columns', columns];
    await world.cli(argv);
  });

  test('exits with 10 if a price is unknown, except for a limit in roubles', async () => {
    for (const name of ['mute', 'dumb'])
      await known(service.instance(name, { price_per_hour_snapshot: null }));
    expect((await runway('--fail-below', '24h')).code).toBe(10);
    expect((await runway('--fail-below', '500')).code).toBe(0);
    await world.cli(['billing', 'runway']);
  });

  test('passes --fail-below only if the balance also covers stopped instances at full price', async () => {
    await known(service.instance('quiet', { status: 'STOPPED' }));
    service.balance = '269.70';
    expect((await runway('--fail-below', '3h')).code).toBe(0);
    expect((await runway('--fail-below', '181m')).code).toBe(10);
    await known(service.instance('still', { status: 'STOPPED' }));
    expect((await runway('--fail-below', '181m')).code).toBe(10);
  });

  test('exits with 10 if a request has an unknown outcome', async () => {
    await world.cli(['me', 'get']);
    service.broken.set('/instances', 'hangUp');
    await world.cli([
      ...['instances', 'create', 'lost', '--offer', 'o', '--image', 'i', '--no-ssh-key'],
    ]);
    expect((await runway('--fail-below', '24h')).code).toBe(10);
  });

  test("exits with 10 if charges can't be compared", async () => {
    service.order = 'none';
    for (let hour = 0; hour < 2000; hour += 1) {
      service.transaction('USAGE_CHARGE', '100.00', hour * HOUR + 60_000);
    }
    expect((await runway('--fail-below', '24h')).code).toBe(10);
  });

  test.each([
    [1, 'USAGE_CHARGE', { amount: 'much' }],
    [1, 'USAGE_CHARGE', { created_at: null }],
    // The last 3 hours are readable.
    [5, 'REFUND', { amount: 'much' }],
  ])('exits with 10 if, %d h ago, a %s has %o', async (hours, type, fields) => {
    service.transaction(type, '100.00', hours * HOUR, fields);
    expect((await runway('--fail-below', '24h')).code).toBe(10);
    expect((await runway()).code).toBe(10);
  });

  test('compares only the hours covered by a few pages of charges', async () => {
    service.limit = 100;
    for (let minute = 0; minute < 3000; minute += 1) {
      service.transaction('USAGE_CHARGE', '1.00', minute * 60_000);
    }
    const { doc } = await runway();
    const { from, to, unexplained } = doc.charges;
    const hours = (Date.parse(to) - Date.parse(from)) / HOUR;
    expect(hours).toBeGreaterThan(9);
    expect(hours).toBeLessThan(10);
    expect(Number(unexplained)).toBeGreaterThan(590);
    expect(Number(doc.unexplained_per_hour)).toBeCloseTo(60, 0);
  });

  test('exits with 10 if the response lacks the balance', async () => {
    service.balance = null;
    expect((await runway('--fail-below', '500')).code).toBe(10);
  });

  test.each(['/storage/drives', '/billing/transactions', '/users/me'])(
    "never passes if %s can't be read, and fails if the balance is certainly too low",
    async (path) => {
      await known(service.instance('trainer'));
      service.broken.set(path, FAULT);
      expect((await runway('--fail-below', '24h')).code).toBe(1);
      await runway('--fail-below', '1');
      service.balance = '10';
      expect((await runway('--fail-below', '24h')).code).toBe(path === '/users/me' ? 1 : 5);
    },
  );

  test.each(['24', 'tomorrow', '0h', '0', '-5', '24h5'])(
    'validates --fail-below %s before any request',
    async (limit) => {
      const { code, requests } = await world.cli(['billing', 'runway', `--fail-below=${limit}`]);
      expect(code).toBe(limit === '24' ? 0 : 2);
      if (code === 2) expect(requests).toEqual([]);
    },
  );
});
