import { expect, test } from 'vitest';
import type { AccountReading } from '../../src/money/account.ts';
import { moneyFacts, runwayJson } from '../../src/money/facts.ts';
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
