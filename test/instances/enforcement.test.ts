import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { createServiceClock } from '../../src/context/service-clock.ts';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { armedStatus } from '../../src/instances/deadlines/arm.ts';
import {
  beat,
  ensureArmed,
  type Feature,
  judge,
  lastAhead,
  noteFault,
  readEnforcement,
  warnUnarmed,
} from '../../src/instances/deadlines/armed.ts';
import { serviceTime, warnOfDifference } from '../../src/instances/deadlines/service-time.ts';
import { warnOfUnenforcedDeadlines } from '../../src/instances/deadlines/unenforced.ts';
import { ENTRY } from '../../src/instances/scheduler/index.ts';
import {
  type Heartbeat,
  heartbeatOf,
  type Journal,
  writeHeartbeat,
} from '../../src/journal/index.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { manualClock } from '../support/clock.ts';
import { inZone } from '../support/in-zone.ts';

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
const NOW = Date.parse('2026-01-15T12:00:00Z');
const ago = (time: number) => new Date(NOW - time).toISOString();
const HOME = 'https://api.example.com';
const ALL = ['deadline', 'idle', 'job', 'rescue'];

const PROFILES = {
  mine: { base_url: HOME, api_key: 'k', account: { id: 'a' } },
  unread: { base_url: HOME, api_key: 'k' },
  keyless: { base_url: HOME, account: { id: 'a' } },
  theirs: { base_url: HOME, api_key: 'k', account: { id: 'b' } },
  moved: { base_url: 'https://other.example.com', api_key: 'k', account: { id: 'a' } },
};

/** A computer on which process 7 runs, whose last response showed a clock so far ahead. */
function computer(ahead?: number, state = '/none', isExact = false) {
  const clock = manualClock();
  const serviceClock = createServiceClock(clock);
  if (isExact) serviceClock.set(NOW + 3 * HOUR);
  if (ahead !== undefined) serviceClock.learn(new Date(NOW + ahead).toUTCString());
  const warnings: string[] = [];
  const context = {
    ...{ clock, serviceClock, flags: {}, host: { isAlive: (pid: number) => pid === 7 } },
    ...{ env: {}, signal: new AbortController().signal },
    config: async () => ({ read: async () => ({ profiles: PROFILES }) }),
    folders: async () => ({ config: '/config', state }),
    settings: async () => ({ sandbox: false, baseUrl: { value: HOME } }),
    err: { warn: (code: string, text: string) => warnings.push(`${code}: ${text}`) },
  } as unknown as Context;
  return { clock, serviceClock, warnings, context };
}

const BEAT = { version: 1, service: HOME, account: 'a', every: 5 * MINUTE } as const;
const FRESH: Heartbeat = { ...BEAT, at: ago(MINUTE), features: ALL };
const runs = (proves: string, parent: number, host = hostname()) => ({
  run: { pid: 1, parent, host, proves } as NonNullable<Heartbeat['run']>,
});
const failed = { failure: { at: ago(2 * MINUTE), message: 'No. More.' } };
const BY = 'only by the loop of process 7, last seen 1 min ago';
const ONCE = '"instances reap" has run only once (1 min ago), which proves no schedule';

type Row = [
  string,
  Partial<Heartbeat>,
  boolean,
  (string | undefined)?,
  (string | undefined)?,
  number?,
];
test.each<Row>([
  ['a recent run', {}, true],
  ['no run yet', { at: null }, false, '"instances reap" has not run yet'],
  ['a late run', { at: ago(10 * MINUTE - 1) }, true],
  ['a missed run', { at: ago(10 * MINUTE) }, false, '"instances reap" last ran 10 min ago'],
  ['an early run', { at: ago(1 - 10 * MINUTE) }, true],
  ['a clock set back', { at: ago(-10 * MINUTE) }, false, '"instances reap" last ran in 10 min'],
  ['a failure', failed, true, '"instances reap" failed 2 min ago: No. More'],
  ['only a failure', { ...failed, at: null }, false, '"instances reap" failed 2 min ago: No. More'],
  ['a loop', runs('loop', 7), true, undefined, BY],
  [
    ...(['an ended loop', runs('loop', 8), false] as const),
    'the loop of process 8 has ended, last seen 1 min ago',
  ],
  ['a loop elsewhere', runs('loop', 8, 'far'), true],
  ['a scheduler', runs('repeats', 8), true],
  ['a first run', runs('first', 7), true],
  ['an ended first run', runs('first', 8), false, ONCE],
  ['a first run elsewhere', runs('first', 8, 'far'), false, ONCE],
  ['a typed run', runs('nothing', 7), false, ONCE],
  [
    'a typed run before',
    { ...runs('nothing', 7), at: null },
    false,
    ONCE.replace(/1 .*?o/, 'never'),
  ],
  ['a lost entry', { ...runs('loop', 7), entry: 'x' }, false, 'schedule x not found'],
  ['an even clock', { ahead: 5 * MINUTE }, true, undefined, undefined, -5 * MINUTE],
  [
    'a clock ahead',
    { ahead: 301 * SECOND },
    true,
    "the service's clock is 5 min ahead of this computer's",
  ],
  [
    ...(['a clock now behind', { ahead: 5 * MINUTE }, true] as const),
    ...(["the service's clock is 4 h behind this computer's", undefined, -4 * HOUR] as const),
  ],
  [
    ...(['two far clocks', { ...runs('loop', 7), ahead: 3 * HOUR }, true] as const),
    ...(["the service's clock is 3 h ahead of this computer's", BY, -4 * HOUR] as const),
  ],
])('judges a heartbeat by %s', async (_what, more, isArmed, reason, by, ahead) => {
  const { context } = computer(ahead);
  const { deadline, ...others } = await judge({ ...FRESH, ...more }, 'mine', context);
  expect(deadline).toEqual({ isArmed, reason, ...(by !== undefined && { by }) });
  expect(others).toEqual({ idle: deadline, job: deadline, rescue: deadline });
});

test("does not compare the sandbox's clock, which users set", async () => {
  const { context } = computer(undefined, undefined, true);
  expect((await judge(FRESH, 'mine', context)).deadline).toEqual({ isArmed: true });
});

test('asks the sandbox for its time, which is exact', async () => {
  const { context, serviceClock } = computer(undefined, undefined, true);
  const status = async () => ({ now: new Date(NOW + 5 * HOUR).toISOString() });
  const own = { ...context, sandbox: async () => ({ status }) } as unknown as Context;
  const time = await serviceTime(own, () => Promise.reject(new Error('asked for nothing')));
  expect([time.now(), serviceClock.now(), time.isFresh(), time.ahead]).toEqual([
    ...[NOW + 5 * HOUR, NOW + 5 * HOUR, true, 0],
  ]);
});

test.each([
  ['mine', 'a', undefined],
  ['mine', null, undefined],
  ['unread', 'a', undefined],
  ['unread', null, undefined],
  ['keyless', 'a', 'has no key'],
  ['removed', 'a', 'has no key'],
  ['theirs', 'a', 'signs in to another account'],
  ['theirs', null, undefined],
  ['moved', 'a', 'signs in to another account'],
  ['moved', null, 'signs in to another account'],
])('a schedule of the profile %s for the account %s: %s', async (profile, account, lost) => {
  const { context } = computer();
  const found = await judge({ ...FRESH, account, stored: true }, profile, context);
  const reason = lost && `the profile "${profile}" ${lost}`;
  expect(found.deadline).toEqual({ isArmed: lost === undefined, reason });
  const byKey = await judge({ ...FRESH, account, stored: false }, profile, context);
  expect(byKey.deadline).toEqual({ isArmed: true });
});

const LATE = '"instances reap" last ran';
const AHEAD = "the service's clock is 3 h ahead of this computer's";

/** Schedules from the surest to the most doubtful, with what they do about deadlines. */
const SURE: readonly [Partial<Heartbeat>, unknown][] = [
  [{}, { isArmed: true }],
  [runs('loop', 7), { isArmed: true, by: BY }],
  [{ ahead: 3 * HOUR }, { isArmed: true, reason: AHEAD }],
  [{ at: ago(20 * MINUTE) }, { isArmed: false, reason: `${LATE} 20 min ago` }],
];
const PAIRS = SURE.flatMap(([worse], at) =>
  SURE.slice(0, at).flatMap(([better, found]) => [
    ...[[worse, { ...better, at: better.at ?? ago(MINUTE) }, found] as const],
    ...[[{ ...worse, at: worse.at ?? ago(2 * MINUTE) }, better, found] as const],
  ]),
);

/** Stores heartbeats, in any order, and those of another service and of another account. */
async function scheduled(...all: readonly Partial<Heartbeat>[]): Promise<Context> {
  const { context } = computer(undefined, await temporaryFolder());
  const { state } = await context.folders();
  const others = [{ service: 'else' }, { account: 'b', ahead: -MINUTE, features: ['job'] }];
  for (const [at, one] of [...all, ...others].entries())
    await writeHeartbeat(state, `p${at}`, { ...FRESH, ...one });
  return context;
}

test.each(PAIRS)('of %j and %j, the surest counts', async (one, other, found) => {
  for (const both of [[one, other] as const, [other, one] as const])
    expect((await readEnforcement({ account: 'a' }, await scheduled(...both))).deadline).toEqual(
      found,
    );
});

test('of schedules as doubtful, the newest counts, for each thing alone', async () => {
  const late = (minutes: number, more = {}) => ({ at: ago(minutes * MINUTE), ...more });
  const none = await readEnforcement({ account: 'a' }, await scheduled());
  expect(none.rescue).toEqual({ isArmed: false, reason: NOT_SCHEDULED });
  const context = await scheduled(late(30, { ahead: 1 }), late(20, { ahead: 2 }), late(25));
  const { deadline } = await readEnforcement({ account: 'a' }, context);
  expect(deadline).toEqual({ isArmed: false, reason: `${LATE} 20 min ago` });
  expect((await readEnforcement({}, context)).job).toEqual({ isArmed: true });
  expect((await readEnforcement({ account: 'a', service: 'else' }, context)).job).toEqual({
    isArmed: true,
  });
  const again = await scheduled(late(30, { ...failed, ahead: 1 }), late(20, { ahead: 2 }));
  expect((await readEnforcement({ account: 'a' }, again)).deadline.reason).toContain('failed');
  expect(await lastAhead(again)).toBe(-MINUTE);
  const parts = await scheduled({ features: ['idle'] }, { features: ['deadline'], ...late(2) });
  expect(await readEnforcement({ account: 'a' }, parts)).toMatchObject({
    ...{ deadline: { isArmed: true }, idle: { isArmed: true }, job: { isArmed: false } },
  });
});

const older = 'the schedule runs an older gpucloud, which does not enforce idle rules';
const ENDS = '2026-01-15T20:00:00.000Z';
const AT = inZone('2026-01-15 20:00 +00:00');
const due = (name: string, more: object) => ({ id: name, name, status: 'ACTIVE', ...more });
const IDLE = { deadline: null, if_idle: {} };
const NOTHING = { deadline: null };
const NOBODY = 'Nothing on this computer enforces';
const NOT_SCHEDULED = '"instances reap" is not scheduled';

test.each([
  [[], undefined, undefined],
  [[due('a', NOTHING)], undefined, undefined],
  [[due('a', { deadline: ENDS, status: 'TERMINATED' })], undefined, undefined],
  [[due('a', { deadline: ENDS })], undefined, `the deadline of a (${AT}): ${NOT_SCHEDULED}`],
  [[due('a', IDLE)], undefined, `the deadline of a (idle rule): ${NOT_SCHEDULED}`],
  [
    [
      due('a', IDLE),
      due('b', { deadline: ENDS.replace('15T', '16T') }),
      due('c', { deadline: ENDS }),
    ],
    undefined,
    `the deadlines of c (${AT}), b (${inZone('2026-01-16 20:00 +00:00')}), a (idle rule): ${NOT_SCHEDULED}`,
  ],
  [[due('a', { deadline: ENDS })], {}, undefined],
  [
    [due('b', { deadline: ENDS }), due('a', { deadline: ENDS, if_idle: {} })],
    ...([{}, `the deadline of a (${AT}): ${older}`] as const),
  ],
])(
  'without its key, nothing enforces what %j needs, with the schedule %j',
  async (all, beat, text) => {
    const { context, warnings } = computer(undefined, await temporaryFolder());
    const { state } = await context.folders();
    const { features: _none, ...known } = FRESH;
    if (beat !== undefined) await writeHeartbeat(state, 'p', { ...known, ...beat });
    const expected = text === undefined ? [] : [`deadline_unenforced: ${NOBODY} ${text}.`];
    for (const each of [all, all.toReversed()]) {
      const journal = { deadlines: async () => each } as unknown as Journal;
      await warnOfUnenforcedDeadlines(
        { service: HOME, account: 'a' },
        async () => journal,
        context,
      );
      expect(warnings.splice(0)).toEqual(expected);
    }
  },
);

/** Asks for the time at a service whose second response shows it so many seconds later. */
async function timeOf(ahead: number, before?: number, drift: number | undefined = 0) {
  const { context, clock, serviceClock, warnings } = computer(undefined, await temporaryFolder());
  const { state } = await context.folders();
  if (before !== undefined) await writeHeartbeat(state, 'p', { ...FRESH, ahead: before * SECOND });
  const learn = (seconds: number) =>
    serviceClock.learn(new Date(clock.now() + seconds * SECOND).toUTCString());
  learn(ahead);
  const found = serviceTime(context, async () => learn(ahead + drift));
  const time = await found.catch(({ message }) => message);
  if (typeof time === 'string') return time;
  warnOfDifference(time, context);
  expect([time.ahead, time.now() - clock.now(), time.isFresh()]).toEqual([
    ...[ahead * SECOND, ahead * SECOND, true],
  ]);
  clock.step(-HOUR);
  expect(time.isFresh()).toBe(false);
  return [clock.slept, ...warnings];
}

test.each([
  [300, undefined, [], '5 min ahead of'],
  [301, undefined, [3000], '5 min ahead of'],
  [-300, undefined, [], '5 min behind'],
  [-301, undefined, [3000], '5 min behind'],
  [61, 71, [], '1 min ahead of'],
  [61, 51, [], '1 min ahead of'],
  [61, 50, [3000], '1 min ahead of'],
  [61, 72, [3000], '1 min ahead of'],
  [60, undefined, [], undefined],
  [-60, 0, [3000], undefined],
])('a clock %i s ahead, before %s s: pauses %j, is %s', async (ahead, before, slept, how) => {
  const text = `clock_differs: The service's clock is ${how} this computer's. Deadlines follow the service's clock.`;
  for (const drift of slept.length === 0 ? [9] : [0, 2, -2])
    expect(await timeOf(ahead, before, drift)).toEqual([slept, ...(how ? [text] : [])]);
});

test('refuses a time that the second response contradicts, and a response without a time', async () => {
  const shown = (second: string) =>
    inZone(
      `The service's clock is inconsistent: one response shows 2026-01-15 12:10:00 +00:00, and the next, 3 s later, shows ${second}. No changes made.`,
    );
  expect(await timeOf(600, undefined, 3)).toBe(shown('2026-01-15 12:10:06 +00:00'));
  expect(await timeOf(600, undefined, -3)).toBe(shown('2026-01-15 12:10:00 +00:00'));
  expect(await timeOf(600, undefined, Number.NaN)).toBe(shown('no time'));
  const slept = computer(0);
  // Before that, a response had a time.
  slept.clock.step(HOUR);
  for (const { context } of [computer(), slept]) {
    const asked: string[] = [];
    await expect(serviceTime(context, async () => void asked.push(''))).rejects.toThrow(
      "Could not read the service's clock, which deadlines follow: the response has no Date header.",
    );
    expect(asked).toHaveLength(1);
  }
});

/** The profile `mine` of the account `a`, with heartbeats by profile. */
async function ofMine(all: Readonly<Record<string, Partial<Heartbeat>>>, more: object = {}) {
  const { context, warnings } = computer(undefined, await temporaryFolder());
  const { state } = await context.folders();
  for (const [name, one] of Object.entries(all))
    await writeHeartbeat(state, name, { ...FRESH, ...one });
  const note = (text: string) => warnings.push(text);
  const settings = { sandbox: false, baseUrl: { value: HOME }, profile: { value: 'mine' } };
  const own = {
    ...context,
    ...{ journal: async () => ({ account: async () => 'a' }), version: '1.2.3' },
    ...{ settings: async () => ({ ...settings, apiKey: { source: 'profile' } }) },
    ...{ err: { ...context.err, note }, out: { terminal: true } },
    host: { ...context.host, pid: 41, parent: 7, platform: 'linux' },
    ...more,
  } as unknown as Context;
  return { own, warnings, state };
}

const FEW = { features: ['deadline'] };
test.each<[string, Record<string, Partial<Heartbeat>>, Feature[]]>([
  ['nothing', {}, ['deadline']],
  ['everything', { mine: {} }, ['deadline', 'idle', 'rescue']],
  ['a loop', { mine: runs('loop', 7) }, ['deadline']],
  ['too little', { mine: FEW }, ['rescue', 'idle']],
  ['enough', { mine: FEW }, ['deadline']],
  ['another account', { theirs: { account: 'b' } }, ['deadline']],
])(
  'with a schedule that does %s, refuses or warns before a request',
  async (_what, all, needed) => {
    const { own, warnings } = await ofMine(all);
    await ensureArmed(needed, own).catch(({ message, hint }: CliError) =>
      warnings.push(`${message} | ${hint}`),
    );
    await warnUnarmed(needed, own);
    await warnUnarmed(needed, { ...own, host: { ...own.host, session: {} } } as Context);
    expect(warnings).toMatchSnapshot();
  },
);

const LATER = { at: ago(11 * MINUTE) };
test.each<[string, Record<string, Partial<Heartbeat>>, object?]>([
  ['nothing', {}],
  ['its own', { mine: {} }],
  ['its own, which does less than another', { mine: FEW, other: {} }],
  ['its own, which is late, and another', { mine: LATER, other: FEW }],
  ['its own, which is late', { mine: LATER, theirs: { account: 'b' } }],
  ['its own loop', { mine: { ...runs('loop', 7), ...FEW } }],
  ['its own, which fails', { mine: failed }],
  ['its own for another service', { mine: { service: 'else' } }],
  [
    'another, of an unknown account',
    { other: {} },
    { journal: async () => ({ account: async () => undefined }) },
  ],
])('shows what enforces deadlines with the schedules: %s', async (_what, all, more) => {
  const { own } = await ofMine(all, more);
  expect(await armedStatus(own)).toMatchSnapshot();
});

test.each<[string, Record<string, Partial<Heartbeat>>, object]>([
  ['a first run', {}, {}],
  [
    'a run of a scheduler',
    {},
    { env: { [ENTRY]: 'gpucloud-reap-mine' }, out: { terminal: false } },
  ],
  ['the next run of a loop', { mine: { ...runs('first', 7), at: ago(5 * MINUTE) } }, {}],
  [
    'a run of an unknown account',
    {},
    { journal: async () => ({ account: async () => undefined }) },
  ],
])('stores %s, and that it failed', async (_what, all, more) => {
  const { own, state } = await ofMine(all, more);
  const stored = () => {
    const text = JSON.stringify(heartbeatOf(state, 'mine'));
    return JSON.parse(text.replace(`"host":"${hostname()}"`, '"host":"HOST"'));
  };
  const shown: unknown[] = [];
  await noteFault(10 * MINUTE, new CliError('unreachable', 'No network.'), own);
  shown.push(stored());
  await beat(5 * MINUTE, 9, own);
  shown.push(stored());
  const page = { operation: 'GET /users/me', obstacle: 'web page' } as const;
  for (const request of [page, undefined]) {
    await noteFault(MINUTE, new CliError('authentication', 'No key.', { request }), own);
    shown.push(stored());
  }
  expect(shown).toMatchSnapshot();
});
