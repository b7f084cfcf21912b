import { describe, expect, it } from 'vitest';
import { createWorld, type World } from '../../support/run-cli.ts';
import { type Answer, ok, sent } from '../../support/service.ts';
import { stderrLines } from '../../support/stderr-lines.ts';

type Row = Record<string, unknown>;

function row(id: number, more: Row = {}): Row {
  return {
    id: `t-${id}`,
    type: 'USAGE_CHARGE',
    status: 'COMPLETED',
    amount: '1.5',
    direction: 'OUTGOING',
    description: `Hour ${id}`,
    created_at: `2026-01-${String(15 - (id % 10)).padStart(2, '0')}T12:00:00.000Z`,
    ...more,
  };
}

function rows(count: number): Row[] {
  return Array.from({ length: count }, (_, at) => row(at + 1));
}

function refused(message: string): Answer {
  return { status: 400, body: { statusCode: 400, message, error: 'Bad Request' } };
}

interface Ledger {
  /** Newest first. A test may add transactions during a read. */
  rows: Row[];
  /** Called before each response with the page number. */
  before?(page: number): Answer | 'hangUp' | undefined;
  meta?(told: Row): Row | undefined;
}

/** Serves only the documented operation of the ledger. */
async function worldOf(ledger: Ledger): Promise<World> {
  const world = await createWorld({
    handler: ({ method, path }) => {
      const url = new URL(path, 'http://x');
      if (method !== 'GET' || url.pathname !== '/billing/transactions') return refused('path');
      for (const name of url.searchParams.keys()) {
        if (!['page', 'limit', 'type'].includes(name)) return refused(`query ${name}`);
      }
      const page = Number(url.searchParams.get('page') ?? 1);
      const limit = Number(url.searchParams.get('limit') ?? 20);
      const early = ledger.before?.(page);
      if (early !== undefined) return early;
      const types = url.searchParams.get('type')?.split(',');
      const all = ledger.rows.filter((one) => types?.includes(String(one.type)) ?? true);
      const told = { total: all.length, page, limit, total_pages: Math.ceil(all.length / limit) };
      return ok(
        all.slice((page - 1) * limit, page * limit),
        200,
        ledger.meta === undefined ? told : ledger.meta(told),
      );
    },
  });
  return world;
}

const list = (...more: string[]) => ['billing', 'transactions', ...more];

describe('billing transactions, a page', () => {
  it('prints the first page, its totals and the flags for more', async () => {
    const world = await worldOf({
      rows: [
        row(1),
        row(2, { type: 'DEPOSIT', direction: 'INCOMING', amount: '0.1', description: null }),
        row(3, { type: 'BONUS', direction: 'INCOMING', amount: '0.2', status: 'COMPLETED' }),
        row(4),
      ],
    });
    const { requests } = await world.cli(list('--limit', '3'));
    expect(sent(requests)).toEqual(['GET /billing/transactions?limit=3']);
  });

  it('requests the page of transactions given with --page', async () => {
    const world = await worldOf({ rows: rows(45) });
    const { stdout, requests } = await world.cli(list('--page', '3', '-q'));
    expect(stdout).toBe('t-41\nt-42\nt-43\nt-44\nt-45\n');
    expect(sent(requests)).toEqual(['GET /billing/transactions?page=3']);
  });

  it.each(['--json', '-o jsonl', '--query length(@)', '--json --limit 20'])(
    'warns in data formats that more pages follow: %s',
    async (flags) => {
      const world = await worldOf({ rows: rows(45) });
      const { stderr } = await world.cli(list(...flags.split(' ')));
      const text = 'Page 1 of 3 (45 transactions): --page 2 for the next, --all for all.';
      expect(stderrLines(stderr)).toEqual([{ warning: { code: 'more_pages', message: text } }]);
    },
  );

  it('distinguishes a page past the end from an empty history', async () => {
    const world = await worldOf({ rows: rows(3) });
    await world.cli(list('--limit', '1', '--page', '99'));
    await world.cli(list('--limit', '1', '--page', '99', '-o', 'csv', '--no-header'));
    const json = await world.cli(list('--limit', '1', '--page', '99', '--json'));
    expect(json).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' });
    const empty = await worldOf({ rows: [] });
    expect((await empty.cli(list('--page', '99'))).stderr).toBe('No matching transactions.\n');
  });

  it('accepts --type in any case, with hyphens, and repeatedly', async () => {
    const world = await worldOf({ rows: [row(1), row(2, { type: 'DEPOSIT' })] });
    const { stdout, requests } = await world.cli(
      list('--type', 'Deposit,usage-charge', '--type', 'DEPOSIT', '-q'),
    );
    expect(stdout).toBe('t-1\nt-2\n');
    expect(sent(requests)).toEqual(['GET /billing/transactions?type=DEPOSIT,USAGE_CHARGE']);
  });

  it('sends undocumented types and prints a note', async () => {
    const world = await worldOf({ rows: [row(1, { type: 'RUNNING' })] });
    const { stderr, requests } = await world.cli(list('--type', 'running', '-o', 'id'));
    expect(stderr).toBe('Sending an undocumented type: RUNNING.\n');
    expect(sent(requests)).toEqual(['GET /billing/transactions?type=RUNNING']);
  });
});

describe('billing transactions --all', () => {
  it('reads every page of transactions with --all', async () => {
    const world = await worldOf({ rows: rows(250) });
    const { code, stdout, stderr, requests } = await world.cli(list('--all', '-o', 'jsonl'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // Too long for the transcript.
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows(250));
    expect(sent(requests)).toEqual([
      'GET /billing/transactions?page=1&limit=100',
      'GET /billing/transactions?page=2&limit=100',
      'GET /billing/transactions?page=3&limit=100',
    ]);
  });

  it('exits with 10 if a total lacks an amount', async () => {
    const world = await worldOf({ rows: [row(1), row(2, { amount: 'ten' })] });
    await world.cli(list('--all'));
    // The rows themselves are whole.
    expect((await world.cli(list('--all', '--json'))).code).toBe(0);
  });

  it.each([
    ['no meta', () => undefined],
    ['no page count', ({ total: _t, total_pages: _p, ...told }: Row) => told],
    ['0 pages', (told: Row) => ({ ...told, total_pages: 0 })],
    ['too many pages', (told: Row) => ({ ...told, total_pages: 99 })],
  ])('reads all rows if the service returns %s', async (_what, meta) => {
    const world = await worldOf({ rows: rows(25), meta });
    const { stdout } = await world.cli(list('--all', '--limit', '10', '-q'));
    expect(stdout.trimEnd().split('\n')).toHaveLength(25);
  });

  it('stops if the service ignores the page number', async () => {
    const page = rows(1000);
    const world = await createWorld({
      handler: () => ({
        status: 200,
        body: { data: page, meta: { total: 1e6, page: 1, limit: 1000, total_pages: 1000 } },
      }),
    });
    const { requests } = await world.cli(list('--all', '-q'));
    // The sixth page stops the read; the seventh may already be in flight.
    expect([6, 7]).toContain(requests.length);
  });

  it('exits with the error of a failed page, without totals', async () => {
    const world = await worldOf({
      rows: rows(30),
      before: (page) => (page === 3 ? refused('enough') : undefined),
    });
    const table = await world.cli(list('--all', '--limit', '10'));
    expect(table.stderr).not.toContain('Totals');
    const json = await world.cli(list('--all', '--limit', '10', '--json'));
    // An unclosed array is invalid JSON, so no program mistakes it for the whole history.
    expect(() => JSON.parse(json.stdout)).toThrow();
  });
});

describe('billing transactions, a period', () => {
  const january = {
    rows: [
      row(1, { created_at: '2026-01-15T11:00:00.000Z' }),
      row(2, { created_at: '2026-01-10T00:00:00.000Z' }),
      row(3, { created_at: '2026-01-20T00:00:00.000Z' }),
      row(4, { created_at: '2026-01-09T23:59:59.999Z' }),
    ],
  };

  it('reads and filters the whole history, and prints a note', async () => {
    const world = await worldOf(january);
    const { stdout, requests } = await world.cli(
      list('--since', '2026-01-10T00:00Z', '--until', '2026-01-20T00:00Z', '--columns', 'id'),
    );
    expect(stdout).toBe('ID\nt-1\nt-2\n');
    expect(sent(requests)).toEqual(['GET /billing/transactions?page=1&limit=100']);
  });

  it('accepts a duration as the start or end of the transactions', async () => {
    const world = await worldOf(january);
    expect((await world.cli(list('--since', '5d', '-q'))).stdout).toBe('t-1\nt-3\n');
    expect((await world.cli(list('--until', '5d', '-q'))).stdout).toBe('t-2\nt-4\n');
  });

  it('filters only the page given with --page', async () => {
    const world = await worldOf(january);
    const { stdout, requests } = await world.cli(
      list('--page', '1', '--limit', '2', '--since', '1d', '-o', 'id'),
    );
    expect(stdout).toBe('t-1\n');
    expect(requests).toHaveLength(1);
  });

  it('shows transactions without a readable time, with a note', async () => {
    const world = await worldOf({
      rows: [
        row(1, { created_at: null }),
        row(2, { created_at: 'soon' }),
        row(3, { created_at: '2020-01-01T00:00:00Z' }),
      ],
    });
    const { stdout } = await world.cli(list('--since', '1d', '-q'));
    expect(stdout).toBe('t-1\nt-2\n');
  });
});

describe('billing transactions, bad input', () => {
  it.each([
    [['--page', '0'], '--page "0": must be a whole number from 1'],
    [['--limit', 'x'], '--limit "x": must be a whole number'],
    [['--all', '--page', '2'], "option '--all' cannot be used with option '--page <number>'"],
    [['--type', 'deposit,,bonus'], '--type "deposit,,bonus": must be a comma-separated list'],
    [
      ['--type', 'deposit;drop'],
      '--type "deposit;drop": must be one or more of deposit, usage_charge',
    ],
    [['--since', '2026-02-30'], '--since "2026-02-30": there is no such day'],
    [['--until', 'noon'], '--until "noon": must be a date'],
    [['--since', '1d', '--until', '2d'], '--since must be before --until: from 2026-01-14'],
    [['--columns', 'colour'], "--columns: unknown column 'colour'"],
    [['more'], 'too many arguments'],
  ])('rejects billing transactions %j before any request', async (given, words) => {
    const world = await worldOf({ rows: [] });
    const { stderr, requests } = await world.cli(list(...given));
    expect(stderr).toContain(words);
    expect(stderr).toMatch(/^error: .+\n(hint: .+\n)?$/);
    expect(requests).toEqual([]);
  });
});
