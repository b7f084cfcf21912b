import { describe, expect, test } from 'vitest';
import {
  armedFor,
  billsUntil,
  endsNeed,
  runOf,
  unenforcedText,
} from '../../src/instances/deadlines/armed.ts';

const RUNS = { isArmed: true, reason: undefined };
const STOPPED = { isArmed: false, reason: 'it has not run yet' };
const ALL = ['deadline', 'idle', 'job', 'of-the-future'];

describe('what a schedule enforces', () => {
  test.each([
    ['deadline', {}, true],
    ['idle', {}, false],
    ['job', {}, false],
    ['idle', { program: '1.4.0', features: ['deadline', 'idle'] }, true],
    ['job', { program: '1.4.0', features: ['deadline', 'idle'] }, false],
    ['deadline', { program: '1.4.0', features: [] }, false],
    ['job', { program: '9.0.0', features: ALL }, true],
    ['rescue', { program: '1.4.0', features: ['deadline', 'idle', 'job'] }, false],
  ] as const)('%s with the heartbeat %j: %s', (feature, heartbeat, isArmed) => {
    const given =
      'features' in heartbeat ? { ...heartbeat, features: [...heartbeat.features] } : {};
    expect(armedFor(feature, given, RUNS).isArmed).toBe(isArmed);
    expect(armedFor(feature, given, STOPPED)).toEqual(STOPPED);
  });

  test('names the version of the schedule and what it does not do', () => {
    expect(armedFor('job', { program: '1.4.0', features: ['idle'] }, RUNS).reason).toBe(
      'the schedule runs gpucloud 1.4.0, which does not finish jobs',
    );
    expect(armedFor('idle', {}, RUNS).reason).toBe(
      'the schedule runs an older gpucloud, which does not enforce idle rules',
    );
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

test.each([
  [RUNS, '2026-01-15T20:00:00.000Z', /^bills until \S+ \S+ \S+$/],
  [RUNS, undefined, /^bills until its deadline$/],
  [RUNS, null, /^bills until you terminate it$/],
  [
    STOPPED,
    '2026-01-15T20:00:00.000Z',
    /^bills until you terminate it; its deadline passes at .+ and nothing enforces it$/,
  ],
  [STOPPED, undefined, /^bills until you terminate it; nothing enforces its deadline$/],
])('with the schedule %j and the deadline %s: %s', (deadline, time, text) => {
  expect(billsUntil(time, { ...OLD, deadline }, undefined)).toMatch(text);
});

test.each([
  [false, /^bills until \S+ \S+ \S+$/],
  [true, /^bills until you terminate it; its deadline passes at .+ and nothing enforces it$/],
])('without a schedule, in a session that keeps its instances (%s): %s', (keeps, text) => {
  const enforcement = { ...OLD, deadline: STOPPED };
  expect(billsUntil('2026-01-15T20:00:00.000Z', enforcement, { keeps })).toMatch(text);
});

const EVERY = 5 * 60_000;
const NOW = Date.parse('2026-01-15T12:00:00Z');
const SINCE = { now: NOW, every: EVERY, hostName: 'here', typed: false, env: {} };

test.each([
  ['the first run', undefined, EVERY, 4, false],
  ['a second run of the same process', { pid: 6, parent: 4, loops: false }, EVERY, 4, true],
  ['two runs by hand', { pid: 6, parent: 4, loops: false }, 20_000, 4, false],
  ['a later run of a known loop', { pid: 7, parent: 4, loops: true }, 3 * EVERY, 4, true],
  ['a second pass of one run', { pid: 7, parent: 4, loops: false }, EVERY, 4, false],
  ['a run of another process', { pid: 6, parent: 3, loops: true }, EVERY, 4, false],
  ['a run of another computer', { pid: 6, parent: 4, loops: true, host: 'far' }, EVERY, 4, false],
  ['a run that the system started', { pid: 6, parent: 1, loops: false }, EVERY, 1, false],
  ['a run from outside its container', { pid: 6, parent: 0, loops: false }, EVERY, 0, false],
])('recognizes a loop by the process that starts it: %s', (_what, run, ago, parent, loops) => {
  const before = run && { run: { host: 'here', ...run }, at: new Date(NOW - ago).toISOString() };
  const host = { pid: 7, parent };
  expect(runOf(before, { ...SINCE, host })).toMatchObject({ pid: 7, parent, loops });
});

test.each([
  ['systemd itself', '7', false],
  ['a loop that systemd started', '4', true],
])('recognizes a run that %s started', (_what, started, loops) => {
  const run = { pid: 6, parent: 4, loops: false, host: 'here' };
  const before = { run, at: new Date(NOW - EVERY).toISOString() };
  const how = { ...SINCE, host: { pid: 7, parent: 4 }, env: { SYSTEMD_EXEC_PID: started } };
  expect(runOf(before, how).loops).toBe(loops);
});

test.each([
  ['the first run', undefined, 0, false],
  ['a run after the interval', { pid: 6 }, EVERY, true],
  ['a late run', { pid: 6 }, 2 * EVERY - 1, true],
  ['two runs by hand', { pid: 6, repeats: true }, 20_000, false],
  ['a run after a long gap', { pid: 6, repeats: true }, 2 * EVERY, false],
  ['a second pass of the first run', { pid: 7, repeats: false }, EVERY, false],
  ['a second pass of a later run', { pid: 7, repeats: true }, EVERY, true],
])('recognizes another scheduler by the time between two runs: %s', (_what, run, ago, repeats) => {
  const at = new Date(NOW - ago).toISOString();
  const before = run && { run: { parent: 3, loops: false, ...run }, at };
  const host = { pid: 7, parent: 4 };
  expect(runOf(before, { ...SINCE, host })).toMatchObject({ repeats });
});
