import { expect, test } from 'vitest';
import { overviewOf } from '../../../src/commands/status/overview.ts';
import { idView, statusBlocks, statusView } from '../../../src/commands/status/view.ts';
import type { Enforcement } from '../../../src/instances/deadlines/armed.ts';
import type { AccountDrive, AccountInstance, Overview } from '../../../src/json-results/money.ts';
import { lookAt } from '../../../src/money/findings.ts';
import type { Block, Cell } from '../../../src/output/output.ts';

const NOW = Date.parse('2026-01-15T12:00:00.000Z');
const HOUR = 3_600_000;
const at = (hours: number) => new Date(NOW + hours * HOUR).toISOString();
const typed = (words: readonly string[]) => `gpucloud ${words.join(' ')}`;

const instance = (name: string, fields: Partial<AccountInstance> = {}): AccountInstance => ({
  ...{ id: `i-${name}`, name, status: 'ACTIVE', bills: true, price_per_hour_snapshot: '10.00' },
  ...{ offer: 'RTX 4090', created_at: at(-2), age_seconds: 7200, paid_until: at(0.5) },
  ...{ ends_at: null, if_idle_seconds: null, idle_seconds: null, rescue: null },
  ...{ rescue_failing: null, failure_reason: null, unread: false, last_seen_at: at(-3) },
  ...fields,
});

const drive = (name: string, fields: Partial<AccountDrive> = {}): AccountDrive => ({
  ...{ id: `d-${name}`, name, status: 'AVAILABLE', bills: true, price_per_hour: '0.60' },
  ...{ size_gb: 50, used_bytes: '7', current_instance_id: null, paid_until: at(0.25) },
  ...{ deleted_at_earliest: null, deleted_at_latest: null },
  ...fields,
});

const burn: Overview['burn'] = {
  ...{ per_hour: '10.60', per_day: '254.40', per_month: '7632.00' },
  ...{ instances_per_hour: '10.00', drives_per_hour: '0.60', per_hour_at_most: '12.60' },
  not_counted: [],
};

const overview: Overview = {
  as_of: at(0),
  account: { id: 'user-1', email: 'me@example.com', is_active: true },
  balance: '1000.00',
  ...{ burn, hours_left: '94.33', hours_left_unknown: null, runs_out_at: at(94.33) },
  charges: null,
  ...{ instances: [], drives: [], attention: [], next: [], unread: [] },
};

const armed = (is: boolean, by?: string): Enforcement => {
  const one = { isArmed: is, by, reason: undefined };
  return { deadline: one, idle: one, rescue: one } as unknown as Enforcement;
};

const cell = (one: Cell) => (typeof one === 'object' && one !== null ? JSON.stringify(one) : one);

/** Returns each part that is not empty, in a line. */
function lines(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if (block.kind === 'facts') {
      const shown = block.facts.filter(({ text }) => text !== '');
      return shown.map((fact) => `${block.heading ?? 'facts'}: ${JSON.stringify(fact)}`);
    }
    if (block.kind === 'items')
      return block.items.map((item) => `${block.heading}: ${JSON.stringify(item)}`);
    if (block.kind !== 'table' || block.rows.length === 0) return [];
    const { heading, columns, rows, ...rest } = block;
    return [
      `${heading} ${JSON.stringify(rest)}`,
      ...columns.map((column) => `  ${JSON.stringify(column)}`),
      ...rows.map((row) => `  ${row.map(cell).join(' | ')}`),
    ];
  });
}

type How = Partial<Parameters<typeof statusBlocks>[1]>;

const uncounted = (kind: string, id: string | null, status: string, reason: string) => ({
  ...{ kind, id, name: 'x', status, price_per_hour: null, reason },
});
const charged = (unexplained: string) => ({
  ...{ from: at(-24), to: at(0), charged: '9.00', refunded: '0.00', explained_at_most: '8.00' },
  unexplained,
});
const problem = (code: string, resource: string | null, message: string, command?: string) => ({
  ...{ code, resource, message, command: command ?? null },
});
const unread = (part: string) => ({ part, code: 'refused', message: 'boom' });
const idle = { hours_left: null, runs_out_at: null } as const;
const many = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    instance(`box-${n}`, { price_per_hour_snapshot: `${20 - n}.50` }),
  );

const SITUATIONS: [string, Partial<Overview>, How?][] = [
  ['nothing', { burn: { ...burn, instances_per_hour: '0.00', drives_per_hour: '0.00' } }],
  ['another account pays', {}, { account: 'me@example.com' }],
  [
    'an instance without a deadline, a drive of it',
    {
      instances: [instance('one')],
      drives: [drive('data', { current_instance_id: 'i-one', status: 'IN_USE' })],
    },
  ],
  [
    'a deadline that nothing enforces',
    { instances: [instance('one', { ends_at: at(2) })] },
    { enforcement: armed(false, 'by cron') },
  ],
  [
    'a deadline of one that does not bill',
    {
      instances: [
        instance('one', { ends_at: at(2), bills: false }),
        instance('two', { status: 'STOPPED', bills: null }),
      ],
    },
  ],
  [
    'an idle rule',
    { instances: [instance('one', { if_idle_seconds: 1800, idle_seconds: 600 }), instance('two')] },
  ],
  [
    'each rank and cell',
    {
      instances: [
        instance('ending', { status: 'TERMINATING', bills: false, age_seconds: null }),
        instance('halted', { status: 'STOPPED', bills: null, offer: null }),
        instance('cheap', { price_per_hour_snapshot: '1.00' }),
        instance('dear', { price_per_hour_snapshot: '99.00' }),
        instance('seen', { unread: true, bills: null, paid_until: null }),
        instance('unseen', { unread: true, bills: null, last_seen_at: null }),
        instance('failed', { status: 'ERROR', bills: null }),
        instance('gone', { status: 'GONE', bills: null }),
        instance('asked', {
          id: null,
          status: 'UNKNOWN',
          bills: null,
          price_per_hour_snapshot: null,
        }),
      ],
    },
  ],
  ['13 instances', { instances: many(13) }],
  ['14 instances', { instances: many(14) }],
  [
    '15 instances, of which the last bill nothing',
    {
      instances: [
        ...many(13),
        instance('a', { bills: null, price_per_hour_snapshot: '5.00' }),
        instance('b', { bills: true, price_per_hour_snapshot: '0.25' }),
      ],
    },
  ],
  ['all of 14 instances', { instances: many(14) }, { all: true }],
  [
    'drives in trouble',
    {
      drives: [
        drive('free'),
        drive('lost', { name: null, status: 'ERROR', size_gb: null }),
        drive('soon', { status: 'SUSPENDED', deleted_at_earliest: at(30) }),
        drive('late', { status: 'SUSPENDED', deleted_at_earliest: at(-1) }),
        drive('unsure', { status: 'SUSPENDED' }),
        drive('far', { current_instance_id: 'i-other', price_per_hour: null }),
      ],
    },
  ],
  ['14 drives', { drives: Array.from({ length: 14 }, (_, n) => drive(`d${n}`)) }],
  ['unexplained charges', { charges: charged('1.00') }],
  ['explained charges', { charges: charged('0.00') }],
  [
    'drives unread',
    { burn: { ...burn, per_hour: null, drives_per_hour: null }, unread: [unread('drives')] },
  ],
  [
    'instances unread',
    { burn: { ...burn, per_hour: null, instances_per_hour: null }, unread: [unread('instances')] },
  ],
  ['an instance unread', { unread: [unread('instances')] }],
  ['an unreadable record', { burn: { ...burn, instances_per_hour: null } }],
  [
    'nothing read',
    {
      balance: null,
      burn: { ...burn, per_day: null, instances_per_hour: null, drives_per_hour: null },
      unread: [unread('profile'), unread('drives')],
    },
  ],
  ['no month', { balance: null, burn: { ...burn, per_month: null } }],
  ['only instances bill', { burn: { ...burn, drives_per_hour: '0.00' } }],
  ['only drives bill', { burn: { ...burn, instances_per_hour: '0.00' } }],
  ['a price is missing', { ...idle, hours_left_unknown: 'price_not_told' }],
  [
    'nothing is spent',
    {
      ...idle,
      hours_left_unknown: 'nothing_is_spent',
      instances: [instance('one', { bills: false })],
    },
  ],
  [
    'something may be spent',
    { ...idle, hours_left_unknown: 'nothing_is_spent', drives: [drive('d', { bills: null })] },
  ],
  ['an unread balance', { ...idle, hours_left_unknown: 'balance_not_told' }],
  ['a balance of 24 hours', { hours_left: '24.00', runs_out_at: at(24) }],
  ['a balance of less than 24 hours', { hours_left: '23.99', runs_out_at: at(23.99) }],
  ['a balance that is used up', { hours_left: '0.00', runs_out_at: at(0) }],
  [
    'a balance of millennia',
    { hours_left: '90000000.50', runs_out_at: null, charges: charged('2.00') },
  ],
  [
    'one that may bill',
    {
      burn: {
        ...burn,
        not_counted: [uncounted('instance', 'a', 'ERROR', 'billing_not_documented')],
      },
    },
  ],
  [
    'several that may bill',
    {
      burn: {
        ...burn,
        not_counted: [
          uncounted('instance', 'a', 'ERROR', 'billing_not_documented'),
          uncounted('instance', null, 'UNKNOWN', 'price_not_told'),
          uncounted('instance', 'b', 'ERROR', 'billing_not_documented'),
          uncounted('drive', 'c', 'DELETING', 'billing_not_documented'),
        ],
      },
    },
  ],
  [
    'prices that are missing',
    {
      burn: {
        ...burn,
        per_hour_at_most: null,
        not_counted: [
          uncounted('drive', 'c', 'AVAILABLE', 'price_not_told'),
          uncounted('instance', 'b', 'ERROR', 'billing_not_documented'),
        ],
      },
    },
  ],
  ['next steps', { next: [{ command: 'gpucloud x', purpose: 'y' }] }],
  [
    'problems alike',
    {
      instances: ['one', 'two', 'six', 'ten', 'all'].map((name) => instance(name)),
      drives: [drive('data')],
      attention: [
        ...['one', 'two', 'six', 'ten', 'all'].map((name) =>
          problem('failed', `i-${name}`, `${name} is in ERROR`, `gpucloud end i-${name}`),
        ),
        problem('failed', 'd-data', 'data waits'),
        problem('failed', 'd-data', 'data hangs'),
        problem('late', null, 'it is late'),
        problem('late', null, 'it is late', 'gpucloud wait'),
        problem('late', 'i-nobody', 'i-nobody is late'),
      ],
    },
  ],
  [
    'all problems',
    { attention: [problem('a', null, 'A', 'gpucloud a'), problem('b', null, 'B')] },
    { all: true },
  ],
  [
    'four kinds of problems',
    { attention: ['a', 'b', 'c', 'd'].map((code) => problem(code, null, code)) },
  ],
  [
    'five kinds of problems',
    { attention: ['a', 'b', 'c', 'd', 'e'].map((code) => problem(code, null, code)) },
  ],
];

test('shows each situation of an account', async () => {
  const text = SITUATIONS.map(([what, fields, how]) => {
    const blocks = statusBlocks(
      { ...overview, ...fields },
      { account: undefined, enforcement: armed(true, 'by cron'), all: false, typed, ...how },
    );
    return `== ${what}\n${lines(blocks).join('\n')}\n`;
  }).join('\n');
  await expect(text).toMatchFileSnapshot('blocks.txt');
});

test('has a row with counts, and ignores what changes by itself', () => {
  const full = {
    ...overview,
    charges: charged('1.00'),
    instances: [instance('one')],
    drives: [drive('a'), drive('b')],
    attention: [problem('a', 'r', 'A'), problem('b', null, 'B'), problem('c', null, 'C')],
    unread: [unread('profile'), unread('drives')],
  };
  expect(statusView.columns.map(({ id, value }) => [id, value(full)])).toEqual([
    ['as_of', full.as_of],
    ['balance', '1000.00'],
    ['per_hour', '10.60'],
    ['per_day', '254.40'],
    ['per_month', '7632.00'],
    ['hours_left', '94.33'],
    ['runs_out_at', full.runs_out_at],
    ['unexplained', '1.00'],
    ['instances', 1],
    ['drives', 2],
    ['attention', 3],
    ['unread', 'profile drives'],
  ]);
  const { as_of, hours_left, runs_out_at, charges, ...steady } = full;
  const { age_seconds, idle_seconds, ...row } = instance('one');
  expect(statusView.steady?.(full)).toEqual({
    ...steady,
    instances: [row],
    attention: [
      ['a', 'r'],
      ['b', null],
      ['c', null],
    ],
    unread: [
      ['profile', 'refused'],
      ['drives', 'refused'],
    ],
  });
  expect([statusView.id(full), idView.id(instance('one'))]).toEqual([null, 'i-one']);
});

const job = (id: string, ends: string[]) => ({
  ...{ id, name: id, age_seconds: 60, isFollowed: true, isOpen: true, isKept: false },
  ends: ends.map((word) => ({ words: ['jobs', word, id], purpose: `${word} the job` })),
});

test.each<
  [string, AccountInstance[], AccountDrive[], ReturnType<typeof job>[], string[], balance?: string]
>([
  ['nothing', [], [], [], ['rent: instances create', 'catalog: catalog list']],
  ['no money', [], [], [], ['catalog: catalog list'], '0.00'],
  ['only a drive', [], [drive('d')], [], ['rent: instances create', 'costs: billing spend']],
  [
    'one that ends, and a request',
    [instance('ending', { bills: false }), instance('asked', { id: null, bills: null })],
    [],
    [],
    ['rent: instances create', 'catalog: catalog list'],
  ],
  [
    'one',
    [instance('one')],
    [],
    [],
    ['connect: instances ssh one', 'stop paying: instances terminate one', 'costs: billing spend'],
  ],
  [
    'one whose name nobody can type',
    [instance('-o', { status: 'STOPPED', bills: null })],
    [],
    [],
    ['stop paying: instances terminate i--o', 'costs: billing spend'],
  ],
  [
    'one with a job that ends it',
    [instance('one')],
    [],
    [job('i-one', ['stop'])],
    [
      'connect: instances ssh one',
      'stop the job: jobs stop i-one',
      'jobs: jobs list',
      'costs: billing spend',
    ],
  ],
  [
    'one with a job that does not end it, and a job elsewhere',
    [instance('one')],
    [],
    [job('i-other', ['stop']), job('i-one', [])],
    [
      'connect: instances ssh one',
      'stop paying: instances terminate one',
      'jobs: jobs list',
      'costs: billing spend',
    ],
  ],
  [
    'a job elsewhere',
    [instance('one')],
    [],
    [job('i-other', ['stop'])],
    ['connect: instances ssh one', 'stop paying: instances terminate one', 'costs: billing spend'],
  ],
  [
    'two at work',
    [instance('one', { status: 'STOPPED', bills: null }), instance('two')],
    [],
    [],
    ['connect: instances ssh two', 'stop all: instances terminate --all', 'costs: billing spend'],
  ],
  [
    'five left, of which one has a job',
    [
      instance('job', { age_seconds: 90_000, price_per_hour_snapshot: '99.00' }),
      instance('maybe', { status: 'ERROR', bills: null, price_per_hour_snapshot: '50.00' }),
      instance('low', { age_seconds: 90_000, price_per_hour_snapshot: '1.00' }),
      instance('top', { age_seconds: 90_000, price_per_hour_snapshot: '9.00' }),
      instance('mid', { age_seconds: 90_000, price_per_hour_snapshot: '5.00' }),
    ],
    [],
    [job('i-job', ['stop'])],
    [
      'connect: instances ssh job',
      'stop paying: instances terminate top mid low',
      'stop all: instances terminate --all',
      'jobs: jobs list',
    ],
  ],
])(
  'suggests what to do next with %s',
  (_what, instances, drives, jobs, expected, balance = '9.00') => {
    const reading = {
      ...{ now: NOW, user: { id: 'user-1', balance }, drives: [], faults: [] },
      ...{ charges: undefined, unreadable: undefined },
      instances: { rows: [], requested: 0, faults: [], isPartial: false, driveFault: undefined },
    };
    const look = { ...lookAt(reading, { jobs }), instances, drives };
    const { next, account } = overviewOf(look, {
      typed: (words) => words.join(' '),
      armCommand: '',
    });
    expect(next.map(({ command, purpose }) => `${purpose}: ${command}`)).toEqual(expected);
    expect(account).toEqual({ id: 'user-1', email: null, is_active: null });
  },
);
