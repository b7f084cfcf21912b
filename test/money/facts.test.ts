import { expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import type { AccountReading } from '../../src/money/account.ts';
import {
  burnJson,
  chargedText,
  chargesJson,
  groupText,
  moneyFacts,
  runwayJson,
  unexplainedText,
  whyUnchecked,
} from '../../src/money/facts.ts';
import { findingsOf, lookAt } from '../../src/money/findings.ts';
import { zero } from '../../src/rules/money.ts';

const HOUR = 3_600_000;
const instances = { rows: [], requested: 0, faults: [], isPartial: false, driveFault: undefined };
const reading: AccountReading = {
  now: 0,
  user: { id: 'user-1', balance: '100.00' },
  instances,
  drives: [],
  charges: undefined,
  unreadable: undefined,
  faults: [],
};

test('rounds the hourly rate of unexplained charges up', () => {
  const charged = zero().plus('0.01');
  const charges = {
    from: 0,
    to: 3 * HOUR,
    charged,
    refunded: zero(),
    atMost: zero(),
    late: zero(),
    unexplained: charged,
    maybeDrives: zero(),
    groups: [],
    unclear: [],
  };
  expect(moneyFacts({ ...reading, charges }).unexplainedPerHour.toFixed()).toBe('0.01');
});

test.each([
  ['instances', { instances: undefined }],
  ['drives', { drives: undefined }],
])('omits the runway if the %s were not read', (_what, missing) => {
  const json = runwayJson(moneyFacts({ ...reading, ...missing }));
  expect(json).toMatchObject({ hours_left: null, hours_left_unknown: 'not_read' });
});

test('returns the burn rate per hour, day and month, and what it does not count', () => {
  const row = (name: string, price: string | null, status = 'ACTIVE') => ({
    ...{ id: `id-${name}`, name, status, price_per_hour_snapshot: price },
  });
  const rows = [row('on', '1.00'), row('dear', null), row('odd', '5.00', 'ERROR')];
  const drives = [{ id: 'd-1', name: 'data', status: 'AVAILABLE', price_per_hour: '0.12' }];
  const all = {
    ...reading,
    instances: { ...instances, rows },
    drives,
  } as unknown as AccountReading;
  expect(burnJson(moneyFacts(all))).toEqual({
    per_hour: '1.12',
    per_day: '26.88',
    per_month: '806.40',
    instances_per_hour: '1.00',
    drives_per_hour: '0.12',
    per_hour_at_most: null,
    not_counted: [
      {
        ...{ kind: 'instance', id: 'id-dear', name: 'dear', status: 'ACTIVE' },
        ...{ price_per_hour: null, reason: 'price_not_told' },
      },
      {
        ...{ kind: 'instance', id: 'id-odd', name: 'odd', status: 'ERROR' },
        ...{ price_per_hour: '5.00', reason: 'billing_not_documented' },
      },
    ],
  });
  const unread = { ...all, drives: undefined };
  expect(burnJson(moneyFacts(unread))).toMatchObject({
    per_hour: null,
    instances_per_hour: '1.00',
    drives_per_hour: null,
  });
});

const amount = (text: string) => zero().plus(text);
const CHARGES = {
  ...{ from: 0, to: 24 * HOUR, charged: amount('9.001'), refunded: zero() },
  ...{ atMost: amount('7'), late: amount('1'), unexplained: zero(), maybeDrives: zero() },
  ...{ groups: [], unclear: [] },
};
const group = (count: number, description = 'fee') => ({ description, count, amount: amount('2') });
const JSON_OF = {
  ...{ from: '1970-01-01T00:00:00.000Z', to: '1970-01-02T00:00:00.000Z', charged: '9.001' },
  ...{ refunded: '0.00', explained_at_most: '7.00', unexplained: '0.00' },
};
const COULD_NOT = 'Could not check the charges for unknown instances';

test.each([
  [
    'unread',
    undefined,
    `${COULD_NOT} (a price is missing, or the history is too long or unsorted)`,
    null,
  ],
  ['all explained', {}, undefined, JSON_OF],
  [
    'some unexplained',
    { unexplained: amount('0.001') },
    undefined,
    { ...JSON_OF, unexplained: '0.001' },
  ],
  [
    'some maybe of a drive',
    { maybeDrives: amount('0.5'), unclear: [group(1)] },
    `${COULD_NOT}: 9.001 ₽ was charged in the last 24 h, known instances and drives cost at most 7.00 ₽, and a drive changed in the last 24 h (the service does not show its earlier price)`,
    null,
  ],
  [
    'one of an unknown type',
    { unclear: [group(1)] },
    `${COULD_NOT}: 1 payment has an undocumented type`,
    JSON_OF,
  ],
  [
    'some of unknown types',
    { unclear: [group(1), group(2)] },
    `${COULD_NOT}: 3 payments have an undocumented type`,
    JSON_OF,
  ],
  [
    'some unexplained, some of an unknown type',
    { unexplained: amount('1'), unclear: [group(1)] },
    undefined,
    { ...JSON_OF, unexplained: '1.00' },
  ],
])('says why charges cannot be checked: %s', (_what, more, why, json) => {
  const charges = more && { ...CHARGES, ...more };
  expect({ why: whyUnchecked(charges), json: chargesJson(charges) }).toEqual({ why, json });
});

test('describes charges and groups of them', () => {
  const window = { ...CHARGES, to: 90 * 60_000 + 999, refunded: amount('0.5') };
  expect([
    chargedText(CHARGES),
    chargedText(window),
    unexplainedText(CHARGES),
    groupText(group(1, '')),
    groupText(group(2, 'x'.repeat(81))),
  ]).toEqual([
    '9.001 ₽ was charged in the last 24 h',
    '9.001 ₽ was charged in the last 1 h 30 min after refunds of 0.50 ₽',
    'Something unknown may be billing: 9.001 ₽ was charged in the last 24 h, but known instances and drives cost at most 7.00 ₽',
    '1 charge of 2.00 ₽: no description',
    `2 charges of 2.00 ₽: "${'x'.repeat(79)}…"`,
  ]);
});

test('finds unchecked charges unless an unread part has its own finding', () => {
  const faults = [{ part: 'drives', error: new CliError('refused', 'No.') }] as const;
  const counts = [undefined, CHARGES, { ...CHARGES, maybeDrives: amount('0.5') }].flatMap(
    (charges) =>
      [[], faults].map((faults) => {
        const found = findingsOf(lookAt({ ...reading, charges, faults }), 'charges_unchecked');
        return found.map(
          ({ message }) =>
            message === `${whyUnchecked(charges)}, so something unknown may be billing`,
        );
      }),
  );
  expect(counts).toEqual([[true], [], [], [], [true], [true]]);
});
