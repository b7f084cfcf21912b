import Big from 'big.js';
import { expect, test } from 'vitest';
import type { AccountDrive, AccountInstance } from '../../src/json-results/money.ts';
import type { AccountReading } from '../../src/money/account.ts';
import { findingsOf, type Look, lookAt } from '../../src/money/findings.ts';

const NOW = Date.parse('2026-01-15T12:00:00.000Z');
const known = { rows: [], requested: 0, faults: [], isPartial: false, driveFault: undefined };
const reading: AccountReading = {
  now: NOW,
  user: { id: 'user-1', balance: '100.00' },
  instances: known,
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
    if_idle_seconds: null,
    rescue: null,
    rescue_failing: null,
    ...fields,
  }) as AccountInstance;

function messages(code: string, more: Partial<Look>) {
  const look = { ...lookAt(reading), enforcement: NOTHING_ARMED, ...more };
  return findingsOf(look, code).map(({ message }) => message);
}

test.each([
  ['0', []],
  [
    '0.01',
    [
      'Something unknown may be billing: 90.01 ₽ was charged in the last 24 h, but known instances and drives cost at most 90.00 ₽. The largest group: 2 charges of 45.005 ₽: "hour". To investigate',
    ],
  ],
])('reports %s roubles of charges that nothing explains', (unexplained, expected) => {
  const group = { description: 'hour', amount: new Big('45.005'), count: 2 };
  const charges = {
    ...{ from: NOW - 86_400_000, to: NOW, charged: new Big('90.01'), refunded: new Big(0) },
    ...{ atMost: new Big('90'), late: new Big(0), maybeDrives: new Big(0), unclear: [] },
    ...{ unexplained: new Big(unexplained), groups: [group, { ...group, count: 1 }] },
  };
  const { facts } = lookAt(reading);
  expect(messages('unexplained_charges', { facts: { ...facts, charges } })).toEqual(expected);
});

const GIB = 2 ** 30;
/** A character longer than findings show. */
const LONG_NAME = 'd'.repeat(41);
const FULL = 'of its 100 GB. The service raises its size and price when more data is stored';

test.each([
  ['IN_USE', `${96.9 * GIB}`, 100, [`Drive ${LONG_NAME.slice(0, -2)}… uses 96 % ${FULL}`]],
  ['AVAILABLE', `${95 * GIB}`, 100, [`Drive ${LONG_NAME.slice(0, -2)}… uses 95 % ${FULL}`]],
  ['IN_USE', `${120 * GIB}`, 100, [`Drive ${LONG_NAME.slice(0, -2)}… uses 120 % ${FULL}`]],
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
    const drive = { id: 'd-1', name: LONG_NAME, status, bills, used_bytes, size_gb };
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

const HOUR = 3600;
const job = (fields: Partial<Look['jobs'][number]>): Look['jobs'][number] => ({
  id: 'i-1',
  name: 'trainer',
  age_seconds: 3 * HOUR,
  isFollowed: false,
  isOpen: fields.problem === undefined,
  isKept: false,
  ends: [],
  ...fields,
});
const PROBLEM = {
  code: 'job_x',
  resource: 'i-1',
  what: 'It waits',
  to: 'go on',
  next: ['jobs', 'x'],
};
const unarmed = { isArmed: false, reason: 'not scheduled' } as const;
const NOTHING_ARMED = { deadline: unarmed, idle: unarmed, job: unarmed, rescue: unarmed };
const armed = { isArmed: true, reason: undefined } as const;
const JOBS_ARMED = { ...NOTHING_ARMED, job: armed };
const ALL_ARMED = { deadline: armed, idle: armed, job: armed, rescue: armed };
const UNFOLLOWED =
  'job_unfollowed i-1: The job of trainer, started 3 h ago, may have ended while its instance bills: nothing on this computer follows it. To check > jobs list';
const NOTHING = (what: string, id = 'i-1') =>
  `deadline_unenforced ${id}: Nothing on this computer ${what}: not scheduled > instances reap --install`;
const late = { isArmed: true, reason: 'it is late' } as const;
const other = (next: readonly string[] | undefined): Look['others'][number] => ({
  scope: { service: 'https://a/v1', account: 'acc' },
  names: ['x'],
  message: 'x may be billing',
  next,
});
const drive = (status: string, name: string | null = 'data') =>
  ({ id: 'd-1', name, status, deleted_at_earliest: null, deleted_at_latest: null }) as AccountDrive;
const accountOf = (user: Partial<NonNullable<AccountReading['user']>>) => ({
  reading: { ...reading, user: { id: 'user-1', balance: '100.00', ...user } },
});
/** An account that spends 1 rouble per hour. */
const lasting = (balance: string) => ({
  reading: {
    ...accountOf({ balance }).reading,
    instances: { ...known, rows: [instance({}) as never] },
  },
});
const overdue = (seconds: number) => instance({ paid_until: hoursOn(-seconds / HOUR) });

/** Each row is what differs from an account without findings, and `CODE RESOURCE: MESSAGE > NEXT`. */
test.each<[string, Partial<Look>, ...found: string[]]>([
  ['nothing', {}],
  ['a running instance', { instances: [instance({})] }],
  [
    'an unknown request',
    {
      instances: [instance({ id: null, name: 'lost', status: 'UNKNOWN', created_at: hoursOn(-1) })],
    },
    'unknown_request lost: The outcome of lost, requested 1 h ago, is unknown: it may be billing > instances recover',
  ],
  ['a second before a deadline', { instances: [instance({ ends_at: hoursOn(1 / HOUR) })] }],
  [
    'the time of a deadline',
    { instances: [instance({ ends_at: hoursOn(0) })] },
    'deadline_passed i-1: trainer is 0 s past its deadline > instances reap',
  ],
  [
    'a passed deadline of a stopped instance with a job',
    {
      instances: [instance({ ends_at: hoursOn(-3), status: 'STOPPED' })],
      jobs: [job({ problem: PROBLEM }), job({ id: 'i-2' })],
    },
    'deadline_passed i-1: trainer is 3 h past its deadline; terminating it deletes the uncopied results of its job > instances reap',
    'job_x i-1: It waits. To go on > jobs x',
  ],
  [
    "a passed deadline of a stopped instance beside another's job",
    {
      instances: [instance({ ends_at: hoursOn(-3), status: 'STOPPED' })],
      jobs: [job({ isFollowed: true }), job({ id: 'i-2', problem: PROBLEM })],
    },
    'deadline_passed i-1: trainer is 3 h past its deadline > instances reap',
  ],
  [
    'an enforced idle rule, though no deadline is enforced',
    {
      instances: [instance({ if_idle_seconds: 600 })],
      enforcement: { ...ALL_ARMED, deadline: unarmed },
    },
  ],
  [
    'a passed deadline',
    { instances: [instance({ ends_at: hoursOn(-3) })] },
    'deadline_passed i-1: trainer is 3 h past its deadline > instances reap',
  ],
  [
    'a passed deadline of a terminated instance',
    { instances: [instance({ ends_at: hoursOn(-3), bills: false })] },
  ],
  [
    'an account that a profile signs in to',
    { others: [other(['--profile', 'b', 'status'])] },
    'other_account acc: x may be billing > --profile b status',
  ],
  [
    'an account that no profile signs in to',
    { others: [other(undefined)] },
    'signed_out_account acc: x may be billing',
  ],
  [
    'a failing copy',
    { instances: [instance({ rescue_failing: 'disk full' })] },
    'rescue_failing i-1: Could not copy the --rescue paths of trainer (disk full). To copy them > instances rescue trainer',
  ],
  [
    'a failing copy with a message of 80 characters',
    { instances: [instance({ rescue_failing: 'x'.repeat(80) })] },
    `rescue_failing i-1: Could not copy the --rescue paths of trainer (${'x'.repeat(80)}). To copy them > instances rescue trainer`,
  ],
  [
    'a failing copy with a longer message',
    { instances: [instance({ rescue_failing: 'x'.repeat(81) })] },
    `rescue_failing i-1: Could not copy the --rescue paths of trainer (${'x'.repeat(79)}…). To copy them > instances rescue trainer`,
  ],
  [
    'a job and a copy that a schedule of an older version leaves out',
    {
      instances: [instance({ rescue: ['/x'] }), instance({ id: 'i-2', name: 'other' })],
      jobs: [job({ id: 'i-2', name: 'other' }), job({ id: 'i-9', name: 'old' })],
      enforcement: { ...ALL_ARMED, job: unarmed, rescue: unarmed },
    },
    NOTHING('finishes the job of other', 'i-2'),
    NOTHING('copies the --rescue paths of trainer'),
    UNFOLLOWED.replace('i-1', 'i-2').replace('trainer', 'other'),
  ],
  [
    'an idle rule that a schedule of an older version leaves out',
    {
      instances: [instance({ if_idle_seconds: 600 })],
      enforcement: { ...ALL_ARMED, idle: unarmed },
    },
    NOTHING('enforces the idle rule of trainer'),
  ],
  [
    'deadlines, idle rules and copies without any schedule',
    {
      instances: [
        instance({ ends_at: hoursOn(1), rescue: ['/x'] }),
        instance({ id: 'i-2', if_idle_seconds: 600 }),
        instance({ id: 'i-3' }),
      ],
      enforcement: NOTHING_ARMED,
    },
    NOTHING('enforces the deadline of trainer and 1 more'),
  ],
  [
    'a deadline with a schedule that is late',
    {
      instances: [instance({ ends_at: hoursOn(1) })],
      enforcement: { deadline: late, idle: late, job: late, rescue: late },
    },
    'deadline_doubtful i-1: The deadline of trainer may not be enforced in time: it is late > instances reap --status',
  ],
  [
    'a job that nothing follows',
    { instances: [instance({})], jobs: [job({})], enforcement: NOTHING_ARMED },
    UNFOLLOWED,
  ],
  [
    'several jobs that nothing follows',
    {
      instances: [instance({}), instance({ id: 'i-2' })],
      jobs: [job({}), job({ id: 'i-2', name: 'other' })],
      enforcement: NOTHING_ARMED,
    },
    'job_unfollowed i-1: The jobs of trainer and 1 more may have ended while their instances bill: nothing on this computer follows them. To check > jobs list',
  ],
  [
    'jobs whose instances are stopped or terminated, and one that may run',
    {
      instances: [
        instance({ status: 'STOPPED', bills: null }),
        instance({ id: 'i-2' }),
        instance({ id: 'i-3', status: 'TERMINATED', bills: false }),
      ],
      jobs: [
        job({ problem: PROBLEM }),
        job({ id: 'i-2', name: 'other' }),
        job({ id: 'i-3', name: 'ended', problem: PROBLEM }),
      ],
      enforcement: NOTHING_ARMED,
    },
    'job_x i-1: It waits. To go on > jobs x',
    'job_unfollowed i-2: The job of other, started 3 h ago, may have ended while its instance bills: nothing on this computer follows it. To check > jobs list',
  ],
  [
    'a job whose instance is stopped, and one that may run, with a scheduled reap',
    {
      instances: [instance({ status: 'STOPPED', bills: null }), instance({ id: 'i-2' })],
      jobs: [job({ problem: PROBLEM }), job({ id: 'i-2', name: 'other' })],
      enforcement: JOBS_ARMED,
    },
    'job_x i-1: It waits. To go on > jobs x',
  ],
  [
    'a job that a process follows',
    {
      instances: [instance({})],
      jobs: [job({ isFollowed: true })],
      enforcement: NOTHING_ARMED,
    },
  ],
  [
    'a job that a schedule finishes',
    { instances: [instance({})], jobs: [job({})], enforcement: JOBS_ARMED },
  ],
  [
    'a job of a terminated instance',
    {
      instances: [instance({ bills: false })],
      jobs: [job({}), job({ problem: PROBLEM })],
      enforcement: NOTHING_ARMED,
    },
  ],
  ['a job with unknown enforcement', { instances: [instance({})], jobs: [job({})] }],
  [
    'a job kept for a person',
    { instances: [instance({})], jobs: [job({ isOpen: false })], enforcement: NOTHING_ARMED },
  ],
  ...[
    { what: 'by a schedule', fields: {}, enforcement: ALL_ARMED, ends: true },
    { what: 'by its run', fields: { isFollowed: true }, enforcement: undefined, ends: true },
    { what: 'by nothing', fields: {}, enforcement: undefined, ends: false },
    {
      what: 'by its run, and is not kept',
      fields: { isFollowed: true, isKept: false },
      enforcement: undefined,
      ends: false,
    },
  ].map(({ what, fields, enforcement, ends }): [string, Partial<Look>, string] => [
    `an instance with results that is ended ${what}`,
    {
      instances: [instance({ ends_at: hoursOn(2) })],
      jobs: [job({ isKept: true, problem: PROBLEM, ...fields })],
      enforcement,
    },
    `job_x i-1: It waits.${ends ? ' In 2 h, it is terminated with what was not copied.' : ''} To go on > jobs x`,
  ]),
  [
    'an instance that was kept for its results, at its deadline',
    {
      instances: [instance({ ends_at: hoursOn(0) })],
      jobs: [job({ isKept: true, isFollowed: true, problem: PROBLEM })],
    },
    'deadline_passed i-1: trainer is 0 s past its deadline > instances reap',
    'job_x i-1: It waits. To go on > jobs x',
  ],
  [
    'finished jobs, the earlier deadline first',
    {
      instances: [
        instance({}),
        instance({ id: 'i-2', ends_at: hoursOn(2) }),
        instance({ id: 'i-3', ends_at: hoursOn(1) }),
      ],
      jobs: ['i-1', 'i-2', 'i-3'].map((id) => job({ id, problem: { ...PROBLEM, resource: id } })),
    },
    ...['i-3', 'i-2', 'i-1'].map((id) => `job_x ${id}: It waits. To go on > jobs x`),
  ],
  ['jobs that lost their results', { lost: PROBLEM }, 'job_x i-1: It waits. To go on > jobs x'],
  ['almost a day', { instances: [instance({ age_seconds: 24 * HOUR - 1 })] }],
  [
    'a day',
    { instances: [instance({ age_seconds: 24 * HOUR })] },
    'running_long i-1: trainer was rented 1 day ago and has no deadline > instances expire trainer --if-idle 45m',
  ],
  [
    'a day with a deadline',
    { instances: [instance({ age_seconds: 24 * HOUR, ends_at: hoursOn(1) })] },
  ],
  [
    'a day with an idle rule',
    { instances: [instance({ age_seconds: 24 * HOUR, if_idle_seconds: 60 })] },
  ],
  ['a day of an unknown request', { instances: [instance({ age_seconds: 24 * HOUR, id: null })] }],
  [
    'a blocked account',
    accountOf({ is_active: false }),
    'account_inactive user-1: The account is not active (blocked)',
  ],
  ['an active account', accountOf({ is_active: true })],
  [
    'no balance',
    accountOf({ balance: null as unknown as string }),
    'balance_unknown null: The service returned no readable balance',
  ],
  [
    'a negative balance',
    accountOf({ balance: '-0.01' }),
    'balance_negative null: The balance is negative: -0.01 ₽',
  ],
  ['an empty balance', accountOf({ balance: '0.00' })],
  ['a balance for a day', lasting('24.00')],
  [
    'a balance for less than a day',
    lasting('23.99'),
    "balance_low null: The balance lasts 23 h 59 min at this rate: top up, or terminate what you don't need",
  ],
  [
    'a balance that is used up',
    lasting('0.00'),
    'balance_low null: The balance is used up: top up',
  ],
  [
    'a suspended drive',
    { drives: [drive('SUSPENDED')] },
    'drive_suspended d-1: Drive data is SUSPENDED because the balance ran out. Its debt grows, and the service deletes it 7 days after the suspension. Top up the balance, then > drives resume data',
  ],
  [
    'a drive in ERROR',
    { drives: [drive('ERROR', LONG_NAME), drive('AVAILABLE')] },
    'drive_error d-1: Drive ddddddddddddddddddddddddddddddddddddddd… is in ERROR and still billing > drives get d-1',
  ],
  [
    'a drive without a name',
    { drives: [drive('ERROR', null)] },
    'drive_error d-1: Drive d-1 is in ERROR and still billing > drives get d-1',
  ],
  [
    'a missing instance',
    { instances: [instance({ status: 'GONE' })] },
    'instance_gone i-1: The service does not find trainer: check in the web console whether it is billing > instances untrack i-1',
  ],
  [
    'a failed instance',
    { instances: [instance({ status: 'ERROR', failure_reason: 'n'.repeat(81) })] },
    `instance_error i-1: trainer is in ERROR (${'n'.repeat(79)}…) and may be billing > instances terminate trainer`,
  ],
  [
    'an unknown price',
    { instances: [instance({ price_per_hour_snapshot: null })] },
    'price_not_told i-1: The price of trainer is unknown and not part of the burn rate',
  ],
  [
    'an unknown price of an instance that may bill',
    { instances: [instance({ price_per_hour_snapshot: null, bills: null })] },
  ],
  ['a late charge', { instances: [overdue(600)] }],
  [
    'an overdue charge',
    { instances: [overdue(601)] },
    'instance_overdue i-1: trainer is ACTIVE and was paid until 10 min ago > instances events trainer',
  ],
  [
    'an overdue charge without a price',
    { instances: [instance({ ...overdue(601), price_per_hour_snapshot: null })] },
    'price_not_told i-1: The price of trainer is unknown and not part of the burn rate',
  ],
])('reports %s', (_what, more, ...found) => {
  const look = { ...lookAt(more.reading ?? reading), ...more };
  // Charges have tests of their own.
  const others = findingsOf(look).filter(({ code }) => code !== 'charges_unchecked');
  const lines = others.map(
    ({ code, resource, message, next }) =>
      `${code} ${resource}: ${message}${next === null ? '' : ` > ${next.join(' ')}`}`,
  );
  expect(lines).toEqual(found);
});

test('shows the evidence of a deadline, a copy and a long time', () => {
  const row = instance({
    ...{ ends_at: hoursOn(-1), age_seconds: 25 * HOUR, rescue_failing: 'disk full' },
  });
  const look = { ...lookAt(reading), instances: [row, { ...row, id: 'i-2', ends_at: null }] };
  const found = findingsOf(look).filter(({ evidence }) => evidence !== undefined);
  expect(found.map(({ code, row, evidence }) => `${code} ${row?.id}: ${evidence}`)).toEqual([
    'deadline_passed i-1: trainer (i-1), ACTIVE, 1.00 ₽ per hour, 1 h past its deadline',
    'rescue_failing i-1: trainer (i-1), ACTIVE, 1.00 ₽ per hour, disk full',
    'rescue_failing i-2: trainer (i-2), ACTIVE, 1.00 ₽ per hour, disk full',
    'running_long i-2: trainer (i-2), ACTIVE, 1.00 ₽ per hour, rented 1 day 1 h ago',
  ]);
});
