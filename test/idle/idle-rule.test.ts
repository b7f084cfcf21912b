import { describe, expect, test } from 'vitest';
import {
  type IdleState,
  judge,
  NOTHING_KNOWN,
  type Signs,
  signsOf,
} from '../../src/idle/idle-rule.ts';
import { parseSample } from '../../src/idle/sample.ts';
import { idleTime } from '../../src/instances/deadlines/idle-time.ts';
import { CLOCKS } from '../../src/system/clock.ts';
import { fc, runs } from '../support/random.ts';
import { probeOutput } from './probe-output.ts';

const MINUTE = 60_000;
const RULE = { after: 45 * MINUTE, every: 5 * MINUTE };
const START = Date.parse('2026-01-15T12:00:00Z');

/** Returns the signs of an idle instance after this many seconds. */
function idleAt(seconds: number, more: Partial<Signs> = {}): Signs {
  return {
    uptime: 1000 + seconds,
    booted: 1_768_473_400,
    boot: 'one',
    // 2 % of a core, and 100 bytes per second.
    cpu: seconds * 2,
    traffic: seconds * 100,
    load: 0,
    job: false,
    input: Number.POSITIVE_INFINITY,
    ...more,
  };
}

/** Judges passes five minutes apart. Returns the first pass that finds the instance due. */
function firstDue(passes: number, signs: (pass: number, seconds: number) => Signs | undefined) {
  let state: IdleState = NOTHING_KNOWN;
  for (let pass = 0; pass < passes; pass += 1) {
    const verdict = judge(state, signs(pass, pass * 300), START + pass * 5 * MINUTE, RULE);
    if (verdict.isDue) return pass;
    state = verdict.state;
  }
  return undefined;
}

test('marks an instance as due after the idle time, not one reap earlier', () => {
  expect(firstDue(20, (_pass, seconds) => idleAt(seconds))).toBe(9);
});

const DAY = 24 * 12;

test.each<[string, (seconds: number, pass: number) => Partial<Signs> | undefined]>([
  ['a card at 6 %', () => ({ load: 6 })],
  ['a running job', () => ({ job: true })],
  ['a tenth of a core', (seconds) => ({ cpu: seconds * 10 })],
  ['10 kB per second', (seconds) => ({ traffic: seconds * 10_000 })],
  ['input that may be from after the last pass', () => ({ input: 309 })],
  [
    'a card that is busy in every eighth pass',
    (_seconds, pass) => (pass % 8 === 0 ? { load: 50 } : {}),
  ],
  [
    'a probe that fails in every eighth pass',
    (_seconds, pass) => (pass % 8 === 0 ? undefined : {}),
  ],
  ['a restart in every eighth pass', (_seconds, pass) => ({ boot: `${Math.floor(pass / 8)}` })],
  [
    'an instance clock set back',
    (_seconds, pass) => ({ booted: 1_768_473_400 - Math.floor(pass / 8) * 60 }),
  ],
  ['a CPU counter that restarts', (_seconds, pass) => ({ cpu: (pass % 8) * 600 })],
  ['a byte counter that restarts', (_seconds, pass) => ({ traffic: (pass % 8) * 600 })],
])('keeps an instance for a day with %s', (_what, change) => {
  const signs = (pass: number, seconds: number) => {
    const more = change(seconds, pass);
    return more && idleAt(seconds, more);
  };
  expect(firstDue(DAY, signs)).toBeUndefined();
});

test.each<[string, Partial<Signs>]>([
  ['the highest idle load', { load: 5 }],
  ['input before the last pass', { input: 360 }],
  ['a terminal older than a day', { input: 86_400 }],
  ['less than a tenth of a core', { cpu: 9.99 }],
  ['less than 10 kB per second', { traffic: 9_999.9 }],
  ['the oldest input that can be from before the last pass', { input: 310 }],
  ['counters that stand still', { cpu: 0, traffic: 0 }],
])('counts an instance with %s as idle', (_what, { cpu = 2, traffic = 100, ...more }) => {
  const signs = (seconds: number) => ({ cpu: seconds * cpu, traffic: seconds * traffic, ...more });
  expect(firstDue(20, (_pass, seconds) => idleAt(seconds, signs(seconds)))).toBe(9);
});

test('counts the idle time from the end of use', () => {
  const isBusy = (pass: number) => pass === 4;
  // The card is busy in the fourth pass, and idle from the fifth on.
  expect(firstDue(30, (pass, seconds) => idleAt(seconds, { load: isBusy(pass) ? 50 : 0 }))).toBe(
    14,
  );
  // The bytes arrived before the fourth pass.
  expect(
    firstDue(30, (pass, seconds) => idleAt(seconds, { traffic: pass < 4 ? 0 : 9_000_000 })),
  ).toBe(13);
});

test('accepts a gap of two intervals and rejects a longer gap', () => {
  const after = (seconds: number) => {
    const { state } = judge(NOTHING_KNOWN, idleAt(0), START, RULE);
    return judge(state, idleAt(seconds), START + seconds * 1000, { ...RULE, after: 10 * MINUTE });
  };
  expect(after(600).isDue).toBe(true);
  expect(after(601).isDue).toBe(false);
});

/** Judges a pass after an idle first one, with the clocks this much apart. */
test.each([
  [0, 0, true],
  [CLOCKS.interval, 0, true],
  [-CLOCKS.interval, 0, true],
  [CLOCKS.interval + 1, 0, false],
  [-CLOCKS.interval - 1, 0, false],
  [0, CLOCKS.interval, true],
  [0, CLOCKS.interval + 1, false],
])("accepts a gap of %d ms to the instance's clock, and its jump of %d ms: %s", (gap, jump, is) => {
  const { state } = judge(NOTHING_KNOWN, idleAt(0), START, RULE);
  const signs = idleAt(300, { booted: 1_768_473_400 + jump / 1000 });
  const rule = { ...RULE, after: MINUTE };
  const { isDue, state: after } = judge(state, signs, START + 300_000 + gap, rule);
  expect([isDue, after.since?.uptime]).toEqual([is, is ? 1000 : 1300]);
});

test.each([
  [0, 0, true],
  [1, 0, false],
  [0, 1, false],
])('needs the whole idle time by both clocks: %d s and %d s later', (at, uptime, isDue) => {
  const { last } = judge(NOTHING_KNOWN, idleAt(2400), START + 40 * MINUTE, RULE).state;
  const since = { at: START + at * 1000, uptime: 1000 + uptime };
  expect(judge({ since, last }, idleAt(2700), START + 45 * MINUTE, RULE).isDue).toBe(isDue);
});

test.each([
  [0, true],
  [29.9, true],
  [30, false],
])('ignores a check %d seconds after another: %s', (seconds, isIgnored) => {
  const { state } = judge(NOTHING_KNOWN, idleAt(0), START, RULE);
  // The check itself uses the processor.
  const soon = judge(state, idleAt(seconds, { cpu: 300 }), START + seconds * 1000 + 500, RULE);
  expect(soon.isDue).toBe(false);
  expect(soon.state === state).toBe(isIgnored);
});

describe('signsOf', () => {
  const signs = (change: Parameters<typeof probeOutput>[0] = {}) =>
    signsOf(parseSample(probeOutput(change), 3), { started_at: '2026-01-15T11:00:00Z' });

  test('takes a missing start of the instance for an unknown one', () => {
    const sample = parseSample(probeOutput(), 3);
    expect(signsOf(sample, { started_at: null })).toMatchObject({ boot: ' b1e2\n42' });
    expect(signsOf(sample, {})).toEqual(signsOf(sample, { started_at: null }));
  });

  test('returns the highest load of any card in any sample', () => {
    const two = (first: number, second: number) =>
      `0, H100, ${first}, 5, 81559, 31, 69.95\n1, H100, ${second}, 5, 81559, 31, 69.95`;
    expect(signs({ cards1: two(0, 0), cards2: two(1, 71), cards3: two(0, 0) })).toEqual({
      uptime: 5000.25,
      booted: 1_768_473_400,
      load: 71,
      boot: '2026-01-15T11:00:00Z b1e2\n42',
      cpu: 1520,
      traffic: 5000,
      job: false,
      input: Number.POSITIVE_INFINITY,
    });
  });

  test.each([
    ['cards1', { code: 127 }, 'nvidia-smi is missing'],
    [
      'cards3',
      '0, A100 MIG 1g.5gb, [N/A], 5, 81559, 31, 69.95',
      'nvidia-smi did not report the load of a GPU',
    ],
    ['terminals', { code: 137 }, 'who did not respond within 4 s'],
    [
      'job',
      'gpucloud-run ready\ngpucloud-run odd',
      'the state of the job printed unexpected output',
    ],
    ['net', { code: 1 }, '/proc/net/dev failed with exit code 1'],
    ['cpu1', 'cpu  1000 0 500 90000', '/proc/stat printed unexpected output'],
    ['cpu2', '', '/proc/stat printed unexpected output'],
    ['uptime', '', '/proc/uptime printed unexpected output'],
  ])('returns the reason if the part %s of a sample is %j', (part, value, why) => {
    expect(signs({ [part]: value })).toBe(why);
  });
});

/** One interval of a history, and the check at its end. */
interface Step {
  readonly seconds: number;
  readonly cores: number;
  readonly traffic: number;
  /** Seconds between the last typing and the check. */
  readonly typed: number | null;
  readonly load: number;
  readonly job: boolean;
  readonly fault: boolean;
  readonly crash: boolean;
  readonly restart: boolean;
  /** The service's clock jumps by this many hours. */
  readonly hours: number;
}

const quiet = fc.record({
  seconds: fc.integer({ min: 240, max: 420 }),
  cores: fc.constant(0.01),
  traffic: fc.constant(50),
  typed: fc.constant(null),
  load: fc.integer({ min: 0, max: 5 }),
  job: fc.constant(false),
  fault: fc.constant(false),
  crash: fc.constant(false),
  restart: fc.constant(false),
  hours: fc.constant(0),
});

/** Generates a quiet step with one event. */
const eventful = fc
  .tuple(
    quiet,
    fc.oneof(
      fc.record({ seconds: fc.integer({ min: 1, max: 2000 }) }),
      fc.record({ cores: fc.constant(0.5) }),
      fc.record({ traffic: fc.constant(60_000) }),
      fc.record({ typed: fc.integer({ min: 0, max: 300 }) }),
      fc.record({ load: fc.integer({ min: 6, max: 100 }) }),
      fc.record({ job: fc.constant(true) }),
      fc.record({ fault: fc.constant(true) }),
      fc.record({ crash: fc.constant(true) }),
      fc.record({ restart: fc.constant(true) }),
      fc.record({ hours: fc.constantFrom(26, -26, 1, -1) }),
      fc.record({
        typed: fc.integer({ min: 0, max: 300 }),
        seconds: fc.integer({ min: 1, max: 90 }),
      }),
    ),
  )
  .map(([step, event]): Step => ({ ...step, ...event }));

const step: fc.Arbitrary<Step> = fc.oneof({ weight: 12, arbitrary: quiet }, eventful);

test('never marks an instance as due while it is in use, in random histories', () => {
  let ended = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      let state: IdleState = NOTHING_KNOWN;
      // Models true time: `lastSign` is the latest possible moment of the last use.
      let [now, booted, lastSign] = [0, 0, 0];
      let [cpu, traffic, input, ahead, boots] = [0, 0, Number.NEGATIVE_INFINITY, 0, 0];
      for (const one of steps) {
        const before = now;
        now += one.seconds;
        ahead += one.hours * 3600;
        if (one.restart) {
          [booted, cpu, traffic] = [before, 0, 0];
          boots += 1;
        }
        cpu += one.cores * one.seconds * 100;
        traffic += one.traffic * one.seconds;
        if (one.typed !== null) input = Math.max(input, now - Math.min(one.typed, one.seconds - 1));
        const isLong = one.seconds >= 30;
        const isBusyBefore = isLong && (one.cores > 0.1 || one.traffic > 10_000);
        const isGap = one.seconds > 600;
        const isBusyNow = one.load > 5 || one.job;
        if (isBusyBefore || isGap || isBusyNow || one.fault || one.restart) lastSign = now;
        // `who` prints whole minutes.
        lastSign = Math.max(lastSign, input);
        const age = Math.floor((now - input) / 60) * 60;
        const signs: Signs = {
          uptime: now - booted,
          booted: 1_768_473_400,
          boot: String(boots),
          cpu,
          traffic,
          load: one.load,
          job: one.job,
          input: age,
        };
        const at = START + (now + ahead) * 1000;
        const verdict = judge(state, one.fault ? undefined : signs, at, RULE);
        if (verdict.isDue) {
          ended += 1;
          expect(now - lastSign).toBeGreaterThanOrEqual(RULE.after / 1000);
        }
        // A process killed before its write loses its state.
        if (one.crash) lastSign = now;
        state = one.crash ? NOTHING_KNOWN : verdict.state;
      }
    }),
    { numRuns: runs(4_000, 1_000) },
  );
  // Without a due instance, the test would check nothing.
  expect(ended).toBeGreaterThan(0);
});

test.each([
  ['unknown without a measurement', undefined, undefined, null],
  ['zero in use', 0, undefined, 0],
  ['the time since the use ended', 0, 61_999, 61],
  ['the time by a measurement of two hours ago', 120, 7_200_000, 7200],
  ['unknown after that', 120 + 1 / MINUTE, 7_300_000, null],
  ['the time by a measurement two hours ahead', -120, 0, 0],
  ['unknown before that', -120 - 1 / MINUTE, 0, null],
])('shows as idle time %s', (_what, minutesAgo, since, idle_seconds) => {
  const at = (ago: number) => ({ at: START - ago });
  const found = minutesAgo !== undefined && {
    last: at(minutesAgo * MINUTE),
    since: since === undefined ? null : at(since),
  };
  const known = { rule: RULE, found: found || undefined } as unknown as Parameters<
    typeof idleTime
  >[0];
  expect(idleTime(known, START)).toEqual({ if_idle_seconds: 2700, idle_seconds });
});
