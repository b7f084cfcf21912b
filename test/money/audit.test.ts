import Big from 'big.js';
import { expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import type { Known } from '../../src/journal/index.ts';
import type { AccountInstance } from '../../src/json-results/money.ts';
import type { AccountReading } from '../../src/money/account.ts';
import { checksOf } from '../../src/money/audit.ts';
import { type Exact, reservedBalance } from '../../src/money/exact.ts';
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

test('runs each check of an account of which little can be read', () => {
  const look = lookAt(READING);
  const [none, some] = [new Big(0), new Big('5')];
  const groups = Array.from({ length: 12 }, (_, n) => {
    return { description: `d${n}`, amount: new Big(n + 1), count: 1 };
  });
  const charges = {
    ...{ from: NOW - 86_400_000, to: NOW, charged: some, refunded: none, atMost: none },
    ...{ late: none, unexplained: some, maybeDrives: none, groups, unclear: [] },
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
  const lines = checks.map(({ check, result, message, evidence = [], perHour, next = [] }) =>
    [`${check} ${result}: ${message}`, evidence.join(', '), perHour?.toString(), next.join(' ')]
      .filter((part) => part)
      .join(' > '),
  );
  const ten = groups.slice(0, 10).map((_, n) => `1 charge of ${n + 1}.00 ₽: "d${n}"`);
  expect(lines).toEqual([
    `open_requests finding: 2 requests have an unknown outcome, and may be billing. > a, requested at ${at(0)}, b, requested at ${at(-1)} > 3.5 > instances recover`,
    'rented_elsewhere unknown: Could not read the drives, which show attached instances.',
    'running_long unknown: Could not read the instances.',
    'ended_but_charged ok: No terminated instance was charged later (checked the newest 0).',
    'other_api_keys finding: Another API key of the account was used in the last 24 h. > k-2 (no prefix), last used 2 h ago > api-keys list',
    `unexplained_charges finding: Something unknown may be billing: 5.00 ₽ was charged in the last 24 h, but known instances and drives cost at most 0.00 ₽. > ${ten.join(', ')}, and 2 more groups > 5 > billing transactions --type usage-charge --since 24h`,
    'reserved_balance unknown: Could not read the reserved funds: No.',
  ]);
});

const row = (fields: Partial<AccountInstance>) =>
  ({
    id: 'i-1',
    name: 'box',
    status: 'ACTIVE',
    price_per_hour_snapshot: '2',
    ...fields,
  }) as AccountInstance;
const BOX = 'box (i-1), ACTIVE, 2.00 ₽ per hour';
const FACTS =
  'The service holds 9.00 ₽ for instances. The known running instances cost 2.00 ₽ per hour.';
const USER = { id: 'u', name: 'Anna', balance: '1' };

test.each<[string, AccountInstance[], Partial<Known>, string]>([
  [
    'an unknown price',
    [row({ price_per_hour_snapshot: null })],
    {},
    'The price of a running instance is unknown. > box (i-1), ACTIVE, price unknown',
  ],
  [
    'requests',
    [row({}), row({ id: null, status: 'UNKNOWN', price_per_hour_snapshot: '4' })],
    { inFlight: requests('a'), unknown: requests('b') },
    `${FACTS} The purpose of the other 7.00 ₽ is unclear. > ${BOX} > a is being created > the request for b has an unknown outcome`,
  ],
  [
    'an unknown request',
    [row({})],
    { unknown: requests('b') },
    `${FACTS} Unknown instances cost 7.00 ₽ per hour. Look for them in the web console. > ${BOX} > the request for b has an unknown outcome > 7`,
  ],
])('compares the held funds with %s', (_what, rows, known, expected) => {
  const exact: Exact = {
    before: USER,
    updated: { ...USER, reserved_balance: '9' },
    after: USER,
    rows,
  };
  const look = { ...lookAt(READING), instances: rows };
  const {
    message,
    evidence = [],
    perHour,
  } = reservedBalance(exact, look, { ...NOTHING, ...known });
  expect([message, ...evidence, perHour?.toString() ?? []].flat().join(' > ')).toBe(expected);
});
