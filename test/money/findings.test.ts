import { expect, test } from 'vitest';
import type { AccountDrive, AccountInstance } from '../../src/json-results/money.ts';
import type { AccountReading } from '../../src/money/account.ts';
import { findingsOf, lookAt } from '../../src/money/findings.ts';

const NOW = Date.parse('2026-01-15T12:00:00.000Z');
const reading: AccountReading = {
  now: NOW,
  user: { id: 'user-1', balance: '100.00' },
  instances: { rows: [], requested: 0, faults: [], isPartial: false, driveFault: undefined },
  drives: [],
  charges: undefined,
  unreadable: undefined,
  faults: [],
};
const hoursOn = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString();

/** Returns an instance that bills, with these fields. */
const instance = (fields: Partial<AccountInstance>) =>
  ({
    id: 'i-1',
    name: 'trainer',
    status: 'ACTIVE',
    bills: true,
    price_per_hour_snapshot: '1.00',
    paid_until: null,
    created_at: null,
    failure_reason: null,
    ends_at: null,
    age_seconds: null,
    ...fields,
  }) as AccountInstance;

function messages(code: string, more: { instances?: AccountInstance[]; drives?: AccountDrive[] }) {
  const armed = { isArmed: false, reason: 'not scheduled' } as const;
  const enforcement = { deadline: armed, idle: armed, job: armed, rescue: armed };
  const look = { ...lookAt(reading), enforcement, ...more };
  return findingsOf(look, code).map(({ message }) => message);
}

const GIB = 2 ** 30;
const FULL = 'of its 100 GB. The service raises its size and price when more data is stored';

test.each([
  ['IN_USE', `${96.9 * GIB}`, 100, [`Drive data uses 96 % ${FULL}`]],
  ['AVAILABLE', `${95 * GIB}`, 100, [`Drive data uses 95 % ${FULL}`]],
  ['IN_USE', `${120 * GIB}`, 100, [`Drive data uses 120 % ${FULL}`]],
  ['IN_USE', `${94.9 * GIB}`, 100, []],
  ['SUSPENDED', `${96 * GIB}`, 100, []],
  ['DELETED', `${96 * GIB}`, 100, []],
  ['IN_USE', null, 100, []],
  ['IN_USE', 'many', 100, []],
  ['IN_USE', `${96 * GIB}`, null, []],
  ['IN_USE', `${96 * GIB}`, 0, []],
])(
  'reports a drive that is about to grow: %s with %s bytes of %s GB',
  (status, used_bytes, size_gb, expected) => {
    const bills = status !== 'DELETED';
    const drive = { id: 'd-1', name: 'data', status, bills, used_bytes, size_gb };
    expect(messages('drive_full', { drives: [drive as AccountDrive] })).toEqual(expected);
  },
);

test.each([
  [null, null, 'Drive d-1 is SUSPENDED', 'the service deletes it 7 days after the suspension'],
  [hoursOn(48), hoursOn(48), 'Drive d-1 is SUSPENDED', 'in about 2 days'],
  [hoursOn(48), hoursOn(72), 'Drive d-1 is SUSPENDED', 'in 2 days to 3 days'],
  [hoursOn(-2), null, 'Drive d-1 is SUSPENDED', 'in about 0 s'],
])('reports when a suspended drive is deleted: %s to %s', (earliest, latest, drive, when) => {
  const row = { id: 'd-1', name: null, status: 'SUSPENDED' };
  const times = { deleted_at_earliest: earliest, deleted_at_latest: latest };
  const [message] = messages('drive_suspended', { drives: [{ ...row, ...times } as AccountDrive] });
  expect(message).toContain(drive);
  expect(message).toContain(when);
});

test('reports one instance with an unenforced deadline, and counts the others', () => {
  const [one, two] = [hoursOn(1), hoursOn(2)].map((ends_at) => instance({ ends_at }));
  expect(messages('deadline_unenforced', { instances: [one, two] as AccountInstance[] })).toEqual([
    'Nothing on this computer enforces the deadline of trainer and 1 more: not scheduled',
  ]);
});

test('omits unknown facts about a request or an instance in ERROR', () => {
  const request = instance({ id: null, name: 'lost', status: 'UNKNOWN' });
  expect(messages('unknown_request', { instances: [request] })).toEqual([
    'The outcome of lost is unknown: it may be billing',
  ]);
  expect(messages('instance_error', { instances: [instance({ status: 'ERROR' })] })).toEqual([
    'trainer is in ERROR and may be billing',
  ]);
});
