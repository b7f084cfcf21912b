import Big from 'big.js';
import { expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import type { Known } from '../../src/journal/index.ts';
import type { AccountInstance } from '../../src/json-results/money.ts';
import { type AccountReading, readArchived } from '../../src/money/account.ts';
import { checksOf } from '../../src/money/audit.ts';
import { type Exact, readExact, reservedBalance } from '../../src/money/exact.ts';
import { lookAt } from '../../src/money/findings.ts';

const NOW = Date.parse('2026-01-15T12:00:00.000Z');
const at = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString();
const NOTHING = { instances: [], unknown: [], inFlight: [], unreadable: [] };
const requests = (...names: string[]) =>
  names.map((name, n) => ({ name, asked_at: at(-n) })) as unknown as Known['unknown'];
const READING: AccountReading = {
  ...{ now: NOW, user: undefined, instances: undefined, drives: undefined },
  ...{ charges: undefined, unreadable: undefined, faults: [] },
};

const UNREAD = { part: 'drives', error: new CliError('refused', 'No drives.') } as const;
test.each([10, 12])(
  'runs each check of an account of which little can be read (%i groups)',
  (count) => {
    const look = lookAt({ ...READING, faults: count > 10 ? [] : [UNREAD] });
    const [none, some] = [new Big(0), new Big('0.5')];
    const groups = Array.from({ length: count }, (_, n) => {
      return { description: `d${n}`, amount: new Big(n + 1), count: 1 };
    });
    const charges = {
      ...{ from: NOW - 86_400_000, to: NOW, charged: some, refunded: none, atMost: none },
      ...{ late: none, groups, unclear: [] },
      ...(count > 10
        ? { unexplained: some, maybeDrives: none }
        : { unexplained: none, maybeDrives: some }),
    };
    const facts = { ...look.facts, charges, unexplainedPerHour: some };
    const key = { key_prefix: null, last_used_at: at(-2), in_use: false };
    const checks = checksOf({
      look: { ...look, facts },
      known: { ...NOTHING, unknown: requests('a', 'b') },
      openPrices: [new Big(1), new Big('2.5')],
      ended: { read: [], left: 1 },
      keys: [
        { id: 'k-1', in_use: true },
        { ...key, id: 'k-2' },
      ] as never,
      exact: new CliError('refused', 'No.'),
    });
    expect(checks).toMatchSnapshot();
  },
);

const CHARGES = {
  ...{ from: NOW - 86_400_000, to: NOW, charged: new Big('2'), refunded: new Big(0) },
  ...{ atMost: new Big('3'), late: new Big(0), unexplained: new Big(0), maybeDrives: new Big(0) },
  ...{ groups: [], unclear: [] },
};
const FEE = { description: 'fee', amount: new Big('2'), count: 1 };
const faultsOf = (...parts: ('profile' | 'drives' | 'transactions')[]) =>
  parts.map((part) => ({ part, error: new CliError('refused', `No ${part}.`) }));

const COULD_NOT = 'Could not check the charges for unknown instances';
const EXPLAINED =
  '2.00 ₽ was charged in the last 24 h. Known instances and drives explain up to 3.00 ₽.';

test.each<[string, object | undefined, ReturnType<typeof faultsOf>, string[]]>([
  [
    'of unread parts',
    undefined,
    faultsOf('profile', 'drives', 'transactions'),
    ['unknown', 'No drives.'],
  ],
  [
    'with an unread profile',
    undefined,
    faultsOf('profile'),
    ['unknown', `${COULD_NOT} (a price is missing, or the history is too long or unsorted).`],
  ],
  [
    'of an unknown type',
    { unclear: [FEE] },
    faultsOf('drives'),
    ['unknown', `${COULD_NOT}: 1 payment has an undocumented type.`, '1 charge of 2.00 ₽: "fee"'],
  ],
  ['that are explained', {}, [], ['ok', EXPLAINED]],
  [
    'that are late',
    { late: new Big('0.5') },
    [],
    ['ok', `${EXPLAINED} This includes 0.50 ₽ charged within a day after a termination.`],
  ],
])('checks charges %s', (_what, more, faults, expected) => {
  const look = lookAt({ ...READING, charges: more && { ...CHARGES, ...more }, faults });
  const [found] = checksOf({
    ...{ look, known: NOTHING, openPrices: [], ended: { read: [], left: 0 }, keys: [] },
    exact: undefined,
  }).slice(-1);
  expect([found?.result, found?.message, ...(found?.evidence ?? [])]).toEqual(expected);
});

const NAMES = { id: 'i-1', name: 'box', status: 'ACTIVE', price_per_hour_snapshot: '2' };
const changed = (fields: object) => ({ ...NAMES, ...fields }) as AccountInstance;
const ODD = { price_per_hour_snapshot: '89.8996' };
const HIDDEN = { untracked: true, id: 'i-9', name: 'old', last: { status: 'ACTIVE' } };
const USER = { id: 'u', name: 'Anna', balance: '1' };

type Row = [string, string, Partial<AccountInstance>[], object?, object?];
test.each<Row>([
  ['an unknown price', '9', [{ price_per_hour_snapshot: null }]],
  ['requests', '9', [{}, { id: null }], { inFlight: requests('a'), unknown: requests('b') }],
  ['an unknown request', '9', [{}], { unknown: requests('b') }],
  ['a response that is pending', '9', [{}], { inFlight: requests('a') }],
  ['an untracked instance', '9', [], { instances: [HIDDEN] }],
  ['an unseen untracked instance', '0', [], { instances: [{ ...HIDDEN, last: undefined }] }],
  [
    'an ended untracked instance',
    '9',
    [],
    { instances: [{ ...HIDDEN, last: { status: 'TERMINATED' } }] },
  ],
  ['nothing readable', 'much', [{}]],
  ['less than the cost', '1.5', [{}]],
  ['exactly the cost', '4.00', [{}, {}]],
  ['more than a stopped instance explains', '4.03', [{}, { status: 'STOPPED' }]],
  ['what a stopped instance explains', '4', [{}, { status: 'STOPPED' }]],
  ['what a stopping instance explains', '2', [{ status: 'STOPPING' }]],
  ['nothing for a stopping instance', '0', [{ status: 'STOPPING' }]],
  ['what an unreadable instance explains', '2', [{ unread: true }]],
  ['a kopeck less for two instances', '179.79', [ODD, ODD]],
  ['less than a kopeck more', '179.8191', [ODD, ODD]],
  ['two kopecks more', '179.8192', [ODD, ODD]],
  ['a stopped instance up to kopecks', '269.70', [ODD, ODD, { ...ODD, status: 'STOPPED' }]],
  ['another balance afterwards', '2', [{}], {}, { after: { ...USER, balance: '2' } }],
  ['another name afterwards', '2', [{}], {}, { after: { ...USER, name: 'Bo' } }],
  ['another name in between', '2', [{}], {}, { updated: { ...USER, name: 'Bo' } }],
  ['another status afterwards', '2', [{}], {}, { rows: [changed({ status: 'ERROR' })] }],
  ['another deadline afterwards', '2', [{}], {}, { rows: [changed({ ends_at: at(1) })] }],
])('compares the held funds with %s', (_what, reserved_balance, instances, known, later) => {
  const rows = instances.map(changed);
  const updated = { ...USER, reserved_balance };
  const exact: Exact = { before: USER, updated, after: USER, rows, ...later };
  const read = { rows: [], requested: 0, faults: [], isPartial: false, driveFault: undefined };
  const look = { ...lookAt({ ...READING, instances: read }), instances: rows };
  expect(reservedBalance(exact, look, { ...NOTHING, ...known })).toMatchSnapshot();
});

test('does not compare the held funds if only the second reading of instances worked', () => {
  const exact = {
    before: USER,
    updated: { ...USER, reserved_balance: '9' },
    after: USER,
    rows: [],
  };
  expect(reservedBalance(exact, lookAt(READING), NOTHING)).toMatchObject({
    message: 'The instances were unreadable during the check. Run the audit again.',
  });
});

test('reads the 100 instances that were seen last, and counts the others', async () => {
  const many = Array.from({ length: 102 }, (_, n) => ({ id: `i-${n}`, last: { seen_at: at(n) } }));
  const known = [{ id: 'unseen' }, ...many] as never;
  const api = { instances: { get: async (id: string) => ({ id }) } } as never;
  const { read, left } = await readArchived(known, api, {});
  const ids = read.map(({ known, reading }) => [known.id, reading.kind]);
  const newest = many.slice(2).reverse();
  expect({ ids, left }).toEqual({ ids: newest.map(({ id }) => [id, 'there']), left: 3 });
});

test('sends the own name once, within the time of the other requests', async () => {
  const seen: unknown[] = [];
  const api = (name: string | null) =>
    ({
      users: {
        me: async () => ({ id: 'u', name }),
        async update(fields: object, options: { signal?: unknown; onSending(): void }) {
          seen.push(fields, options.signal);
          options.onSending();
          options.onSending();
        },
      },
    }) as never;
  const { signal } = new AbortController();
  const read = (name: string | null) => readExact(READING, api(name), {} as never, { signal });
  expect(await read('Anna')).toMatchObject({ message: 'The update of the profile failed.' });
  expect(seen).toEqual([{ name: 'Anna' }, signal]);
  expect([await read(null), await read(' ')]).toEqual(['nameless', 'nameless']);
  expect(seen).toHaveLength(2);
});
