import { describe, expect, test } from 'vitest';
import {
  armedFor,
  billsUntil,
  endsNeed,
  runOf,
  unenforcedText,
} from '../../src/instances/deadlines/armed.ts';
import { inZone } from '../support/in-zone.ts';

const RUNS = { isArmed: true, reason: undefined };
const STOPPED = { isArmed: false, reason: 'it has not run yet' };
const ALL = ['deadline', 'idle', 'job', 'of-the-future'];

describe('what a schedule enforces', () => {
  const older = 'the schedule runs an older gpucloud, which does not';
  const newer = 'the schedule runs gpucloud 1.4.0, which does not';
  test.each([
    ['deadline', {}, undefined],
    ['idle', {}, `${older} enforce idle rules`],
    ['job', {}, `${older} finish jobs`],
    ['idle', { program: '1.4.0', features: ['deadline', 'idle'] }, undefined],
    ['job', { program: '1.4.0', features: ['deadline', 'idle'] }, `${newer} finish jobs`],
    ['deadline', { program: '1.4.0', features: [] }, `${newer} enforce deadlines`],
    ['job', { program: '9.0.0', features: ALL }, undefined],
    ['rescue', { program: '1.4.0', features: ['job'] }, `${newer} copy files with --rescue`],
  ])('%s with the heartbeat %j: %s', (feature, heartbeat, reason) => {
    const armed = (schedule: typeof RUNS | typeof STOPPED) =>
      armedFor(feature as keyof typeof OLD, heartbeat, schedule);
    expect(armed(RUNS)).toEqual({ isArmed: reason === undefined, reason });
    expect(armed(STOPPED)).toEqual(STOPPED);
  });
});

const OLD = {
  deadline: RUNS,
  idle: { isArmed: false, reason: 'old' },
  job: STOPPED,
  rescue: STOPPED,
};

test.each([
  [[], undefined],
  [['deadline'], undefined],
  [['job', 'idle'], 'Nothing on this computer enforces idle rules: old'],
  [['rescue'], 'Nothing on this computer copies files with --rescue: it has not run yet'],
  [['deadline', 'job'], 'Nothing on this computer finishes jobs: it has not run yet'],
] as const)('reports the first thing of %j that nothing does', (needed, text) => {
  expect(unenforcedText(needed, OLD)).toBe(text);
});

test.each([
  [{}, []],
  [{ deadline: null }, []],
  [{ deadline: '2026-01-15T20:00:00.000Z' }, ['deadline']],
  [{ if_idle: 60_000 }, ['idle']],
  [{ deadline: '2026-01-15T20:00:00.000Z', if_idle: 60_000 }, ['deadline', 'idle']],
  [{ deadline: '2026-01-15T20:00:00.000Z', rescue: {} }, ['deadline', 'rescue']],
])('%j needs %j', (ends, needed) => {
  expect(endsNeed(ends)).toEqual(needed);
});

const TIME = '2026-01-15T20:00:00.000Z';
const AT = inZone('2026-01-15 20:00 +00:00');
const NOBODY = `its deadline passes at ${AT} and nothing enforces it`;

test.each([
  [RUNS, TIME, undefined, `until ${AT}`],
  [RUNS, undefined, undefined, 'until its deadline'],
  [RUNS, null, undefined, 'until you terminate it'],
  [STOPPED, null, undefined, 'until you terminate it'],
  [STOPPED, TIME, undefined, `until you terminate it; ${NOBODY}`],
  [STOPPED, undefined, undefined, 'until you terminate it; nothing enforces its deadline'],
  [STOPPED, TIME, { keeps: false }, `until ${AT}`],
  [STOPPED, undefined, { keeps: false }, 'until its deadline'],
  [STOPPED, null, { keeps: false }, 'until the session ends'],
  [STOPPED, TIME, { keeps: true }, `until you terminate it; ${NOBODY}`],
])(
  'with the schedule %j, the deadline %s and the session %j: bills %s',
  (armed, time, session, text) => {
    expect(billsUntil(time, { ...OLD, deadline: armed }, session)).toBe(`bills ${text}`);
  },
);

const EVERY = 5 * 60_000;
const NOW = Date.parse('2026-01-15T12:00:00Z');
const SINCE = { now: NOW, every: EVERY, hostName: 'here', typed: false, env: {} };

const LOOP = { pid: 6, parent: 4, proves: 'loop' } as const;
const FIRST = { pid: 6, parent: 4, proves: 'first' } as const;
const AGAIN = { pid: 6, parent: 3, proves: 'repeats' } as const;
type Before = NonNullable<Parameters<typeof runOf>[0]>['run'];

test.each<[string, string, Partial<Before> | undefined, number, parent?: number]>([
  ['the first run', 'first', undefined, EVERY],
  ['a second run of the same process', 'loop', FIRST, EVERY],
  ['two runs of one process by hand', 'first', FIRST, 20_000],
  ['a later run of a known loop', 'loop', LOOP, 3 * EVERY],
  ['a second pass of a run of a loop', 'loop', { ...LOOP, pid: 7 }, EVERY],
  ['a second pass of the first run', 'first', { ...FIRST, pid: 7 }, EVERY],
  ['a run of another process after the interval', 'repeats', { ...LOOP, parent: 3 }, EVERY],
  ['a run of another computer', 'repeats', { ...LOOP, host: 'far' }, EVERY],
  ['a run that the system started', 'repeats', { ...FIRST, parent: 1 }, EVERY, 1],
  ['a run from outside its container', 'repeats', { ...FIRST, parent: 0 }, EVERY, 0],
  ['a late run of a scheduler', 'repeats', AGAIN, 2 * EVERY - 1],
  ['two runs by hand', 'first', AGAIN, 20_000],
  ['two runs by hand, half an interval apart', 'first', AGAIN, EVERY / 2],
  ['a run after a long gap', 'first', AGAIN, 2 * EVERY],
  ['a second pass of a later run', 'repeats', { ...AGAIN, pid: 7 }, EVERY],
])(
  'recognizes what repeats reap by its process and time: %s',
  (_what, proves, run, ago, parent = 4) => {
    const at = new Date(NOW - ago).toISOString();
    const before = run && { run: { host: 'here', ...run } as Before, at };
    const host = { pid: 7, parent };
    const expected = (typed: boolean) => (typed && proves === 'first' ? 'nothing' : proves);
    for (const typed of [true, false]) {
      const found = runOf(before, { ...SINCE, typed, host });
      expect(found).toEqual({ pid: 7, parent, host: 'here', proves: expected(typed) });
    }
  },
);

test.each([
  ['systemd itself', '7', 'repeats'],
  ['a loop that systemd started', '4', 'loop'],
])('recognizes a run that %s started', (_what, started, proves) => {
  const before = { run: { ...FIRST, host: 'here' }, at: new Date(NOW - EVERY).toISOString() };
  const how = { ...SINCE, host: { pid: 7, parent: 4 }, env: { SYSTEMD_EXEC_PID: started } };
  expect(runOf(before, how).proves).toBe(proves);
});
