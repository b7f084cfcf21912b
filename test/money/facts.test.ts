import { expect, test } from 'vitest';
import type { AccountReading } from '../../src/money/account.ts';
import { burnJson, moneyFacts, runwayJson } from '../../src/money/facts.ts';
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
