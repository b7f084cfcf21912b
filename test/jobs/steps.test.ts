import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { ownJournal } from '../../src/instances/recover/pending.ts';
import type { Steps } from '../../src/jobs/drive.ts';
import { driveJob } from '../../src/jobs/driver.ts';
import type { Job } from '../../src/jobs/job.ts';
import { createPhases } from '../../src/jobs/phases.ts';
import type { RentedRecord } from '../../src/jobs/record/record.ts';
import { ensureRunning } from '../../src/jobs/stages/follow-to-end.ts';
import type { Observation } from '../../src/jobs/state.ts';
import { type HowToDrive, stepsOf } from '../../src/jobs/steps.ts';
import { timeOf } from '../../src/jobs/verbs/finish.ts';
import { zero } from '../../src/rules/money.ts';
import { atTerminal } from '../support/at-terminal.ts';
import { jobRecord } from '../support/job-record.ts';
import { RentingService } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { withoutLimits } from './passing-clock.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const BEFORE = '2026-01-15T11:00:00.000Z';
const NOW = '2026-01-15T12:00:00.000Z';

let world: World;
let renting: RentingService;
beforeEach(async () => {
  renting = new RentingService();
  world = await createWorld({ handler: renting.handler });
});
afterEach(() => world.close());

const never = new AbortController().signal;
const aborted = (failure: CliError['failure'] = 'deadline') =>
  AbortSignal.abort(new CliError(failure, 'Over.'));
const STOPS = {
  ...{ any: never, near: never, half: never, past: never, last: never, interrupt: never },
  close: () => undefined,
};
const session = (ended = never) => ({
  ...{ id: 'one', call: 1, maxCost: zero(), maxInstances: undefined, endsAt: 0 },
  ...{ keeps: false, ended },
});

type Given = Omit<Partial<Context>, 'host'> & { readonly session?: Context['host']['session'] };

/** Returns the steps of a job, its parts, and what they print. */
function stepping(more: object, job: object = {}, how: HowToDrive = {}, given: Given = {}) {
  const { context: plain, stderr } = atTerminal(withoutLimits(world), []);
  const { session: own, ...rest } = given;
  const context = { ...plain, ...rest, host: { ...plain.host, session: own } } as Context;
  const start = { id: ID, name: 'box', service: world.service.url };
  const scripts: string[] = [];
  const run = async (script: string) => {
    scripts.push(script);
    return { code: 0, stdout: '', stderr: '' };
  };
  const made = {
    record: jobRecord(start, { on: true, shown_at: null, ...more }) as RentedRecord,
    ...{ by: 'run', how: { options: [], words: [] }, phases: createPhases('box', context, true) },
    ...{ stops: STOPS, fetched: [], isInterrupted: false, isOutputWhole: true },
    ...{ isStopAsked: () => false, seen: { kind: 'absent' }, there: { shell: { run } } },
    ...job,
  } as unknown as Job;
  return { job: made, steps: stepsOf(made, how, context), stderr, scripts, context };
}

const arm = () => world.cli(['instances', 'reap', '--every', '30m'], { isAlive: () => true });

test('reads the situation of a driver', async () => {
  const calm = {
    ...{ time: 'early', isLastTry: true, interrupt: 'none', isArmed: false },
    ...{ skipsResults: false, keepsOnFailure: false, keepsForResults: true },
  };
  const pressed = (first?: CliError['failure'], second?: CliError['failure']): Given => ({
    interrupts: {
      first: first === undefined ? never : aborted(first),
      second: second === undefined ? never : aborted(second),
    },
  });
  const stops = (...names: (keyof typeof STOPS)[]) => ({
    stops: { ...STOPS, ...Object.fromEntries(names.map((name) => [name, aborted()])) },
  });
  const rows: [object, object, object?, HowToDrive?, Given?][] = [
    [{}, {}],
    [{ time: 'near' }, {}, stops('near')],
    [{ time: 'half' }, {}, stops('near', 'half')],
    [{ time: 'past' }, {}, stops('near', 'half', 'past')],
    [{ time: 'near' }, {}, {}, { time: 'near' }],
    [{ time: 'past' }, {}, stops('half'), { time: 'past' }],
    [{ time: 'half' }, {}, stops('half'), { time: 'near' }],
    [{ isLastTry: false }, {}, stops('last')],
    [{}, {}, { by: 'reap', ...stops('last') }],
    [{ interrupt: 'first' }, {}, {}, {}, pressed('interrupted')],
    [{ interrupt: 'last' }, {}, {}, {}, pressed('interrupted', 'interrupted')],
    [{ interrupt: 'last' }, {}, {}, {}, pressed('terminated')],
    [{ interrupt: 'last' }, {}, {}, {}, pressed(undefined, 'terminated')],
    [{ interrupt: 'hangUp' }, {}, {}, {}, pressed('hungUp')],
    [{ interrupt: 'hangUp' }, {}, {}, {}, pressed('interrupted', 'hungUp')],
    [{ interrupt: 'last' }, {}, {}, {}, pressed('hungUp', 'interrupted')],
    [{ skipsResults: true }, {}, {}, { skipsResults: true }],
    [{ keepsForResults: false }, { keep_on_failure: 0 }],
    [{ keepsOnFailure: true }, { keep_on_failure: 1 }],
    [{}, {}, {}, {}, { session: session() }],
    [{ keepsForResults: false }, {}, {}, {}, { session: session(aborted()) }],
  ];
  for (const [change, ...given] of rows)
    expect(await stepping(...given).steps.situation(), JSON.stringify(change)).toEqual({
      ...calm,
      ...change,
    });
  await arm();
  expect(await stepping({}).steps.situation()).toEqual({ ...calm, isArmed: true });
});

test('looks at an instance that SSH does not reach', async () => {
  const lines: string[] = [];
  const failed = { failure: new CliError('storage', 'The disk is full.') };
  for (const [by, before] of [
    ['stop', {}],
    ['reap', failed],
  ] as const) {
    for (const status of [
      'ACTIVE',
      'STOPPED',
      'ERROR',
      'TERMINATING',
      'TERMINATED',
      '404',
      '500',
    ]) {
      renting.instances.clear();
      renting.failing.clear();
      if (status !== '404') renting.rent(ID, 'box', { status });
      if (status === '500') renting.failing.add(`/instances/${ID}`);
      const { steps, job, stderr } = stepping({}, { by, ...before });
      const seen = await steps.look();
      expect(job.seen).toBe(seen);
      const { failure, message } = job.failure ?? {};
      const why = `${failure}: ${message} (${job.failure?.hint})`;
      lines.push(
        `${by} ${status}: ${JSON.stringify(seen)} ${job.instance?.status}, ${why}${stderr()}`,
      );
    }
  }
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "stop ACTIVE: {"kind":"unreachable"} ACTIVE, wrongState: box is ACTIVE. (it is running: gpucloud﷐ instances get box)
    stop STOPPED: {"kind":"unreachable"} STOPPED, wrongState: box is STOPPED. (start the instance (this bills): gpucloud﷐ instances start box --wait)
    stop ERROR: {"kind":"gone","isOver":false} ERROR, wrongState: box is ERROR, so its job has ended. (undefined)
    stop TERMINATING: {"kind":"gone","isOver":true} TERMINATING, wrongState: box is TERMINATING, so its job has ended. (undefined)
    stop TERMINATED: {"kind":"gone","isOver":true} TERMINATED, wrongState: box is TERMINATED, so its job has ended. (undefined)
    stop 404: {"kind":"unreachable"} undefined, notFound: Instance 3f0c5d9e-1111-4222-8333-444455556666 not found (404): Instance not found. (undefined)
    stop 500: {"kind":"unreachable"} undefined, refused: The service failed to show instance 3f0c5d9e-1111-4222-8333-444455556666 (500): Internal server error. (undefined)
    reap ACTIVE: {"kind":"unreachable"} ACTIVE, storage: The disk is full. (undefined)
    reap STOPPED: {"kind":"unreachable"} STOPPED, storage: The disk is full. (undefined)
    reap ERROR: {"kind":"gone","isOver":false} ERROR, wrongState: box is ERROR, so its job has ended. (undefined)
    reap TERMINATING: {"kind":"gone","isOver":true} TERMINATING, storage: The disk is full. (undefined)
    reap TERMINATED: {"kind":"gone","isOver":true} TERMINATED, storage: The disk is full. (undefined)
    reap 404: {"kind":"unreachable"} undefined, storage: The disk is full. (undefined)
    reap 500: {"kind":"unreachable"} undefined, storage: The disk is full. (undefined)"
  `);
});

test.each([
  ['unreachable', 'ACTIVE', { kind: 'unreachable' }, 'No.'],
  ['unreachable', 'ERROR', { kind: 'gone', isOver: false }, 'box is ERROR, so its job has ended.'],
  [
    'unreachable',
    'TERMINATED',
    { kind: 'gone', isOver: true },
    'box is TERMINATED, so its job has ended.',
  ],
  ['interrupted', 'TERMINATED', { kind: 'unreachable' }, 'No.'],
] as const)('after a look that is %s, an instance that is %s is %j', async (...row) => {
  const [failure, status, seen, message] = row;
  renting.rent(ID, 'box', { status });
  let looks = 0;
  const api: Context['api'] = async () => {
    looks += 1;
    if (looks === 1) throw new CliError(failure, 'No.');
    return context.api();
  };
  const { context } = stepping({});
  const { steps, job } = stepping({}, { by: 'stop' }, {}, { api });
  expect(await steps.look()).toEqual(seen);
  expect([job.seen, job.failure?.message]).toEqual([seen, message]);
});

test.each([
  [{}, 'Early.'],
  // Why the wait stopped early is known better than why the run does.
  [{ stops: { ...STOPS, any: aborted() } }, 'Over.'],
])('does not start the command with %j', async (given, message) => {
  const early = new CliError('refused', 'Early.');
  const fresh = { command_started_at: null, signed_in_at: null };
  const { steps, job } = stepping(fresh, { early, ...given });
  expect([await steps.start(), job.failure?.message]).toEqual(['start', message]);
  expect(job.record).toMatchObject(fresh);
});

test('looks once at an instance whose deadline has passed', async () => {
  renting.rent(ID, 'box', { status: 'ERROR' });
  const { steps } = stepping({}, { by: 'attach', stops: { ...STOPS, past: aborted() } });
  expect(await steps.look()).toEqual({ kind: 'gone', isOver: false });
});

test('goes on while the instance can respond', async () => {
  const { context } = stepping({});
  const lines: string[] = [];
  for (const status of ['ACTIVE', 'STOPPED', 'ERROR', 'NEW_STATUS', 'TERMINATED']) {
    renting.rent(ID, 'box', { status });
    const goesOn = (isFirst: boolean) =>
      ensureRunning({ id: ID, name: 'box' }, context, isFirst).catch(({ message }) => message);
    lines.push(`${status}: ${await goesOn(true)}, ${await goesOn(false)}`);
  }
  expect(lines).toMatchInlineSnapshot(`
    [
      "ACTIVE: true, true",
      "STOPPED: box is STOPPED, so its job has ended., box is STOPPED, so its job has ended.",
      "ERROR: true, box is ERROR, so its job has ended.",
      "NEW_STATUS: true, true",
      "TERMINATED: box is TERMINATED, so its job has ended., box is TERMINATED, so its job has ended.",
    ]
  `);
});

test('says how a driver keeps the instance', async () => {
  renting.rent(ID, 'box', { status: 'ACTIVE' });
  const failure = new CliError('notFound', 'out does not exist.');
  const seen = { kind: 'exited', code: 3 };
  const rows: [string, ('command' | 'results')?, object?, object?][] = [
    ['run'],
    ['detach'],
    ['attach'],
    ['reap'],
    ['run', 'results', { here: true }, { failure }],
    ['run', 'command', {}, { seen }],
    // What an earlier process did not find.
    ['attach', 'command', { keep_on_failure: 120_000 }, { seen, failure }],
    ['attach', 'results', {}, { seen }],
    ['reap', 'results', {}, { seen, failure }],
  ];
  const lines: string[] = [];
  for (const [by, why = 'results', more, given] of rows) {
    const { steps, job, stderr } = stepping({ on: false, ...more }, { by, ...given });
    await steps.keep(why);
    lines.push(`${by}, ${job.record.kept}: ${stderr().trim()}`);
  }
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "run, results: warning: Kept box, although its job's folder is gone, so that you can look for the results: it bills until 2026-01-15 12:30 +00:00. Nothing else terminates it then, so gpucloud waits, tries again every minute and terminates it. Ctrl-C terminates it now. Connect: gpucloud instances ssh box. Terminate it: gpucloud jobs stop box
    detach, results: warning: Kept box, although its job's folder is gone, so that you can look for the results: it bills until 2026-01-15 12:30 +00:00. Nothing else terminates it then, so gpucloud waits, tries again every minute and terminates it. Ctrl-C terminates it now. Connect: gpucloud instances ssh box. Terminate it: gpucloud jobs stop box
    attach, results: warning: Kept box, although its job's folder is gone, so that you can look for the results: it bills until 2026-01-15 12:30 +00:00. Nothing else terminates it then, so gpucloud waits, tries again every minute and terminates it. Ctrl-C leaves it, and it bills on. Connect: gpucloud instances ssh box. Terminate it: gpucloud jobs stop box
    reap, results: warning: Kept box, although its job's folder is gone, so that you can look for the results: it bills until you terminate it; its deadline passes at 2026-01-15 12:30 +00:00 and nothing enforces it. Connect: gpucloud instances ssh box. Terminate it: gpucloud jobs stop box
    run, results: warning: Kept box: it bills until 2026-01-15 12:30 +00:00. Nothing else terminates it then, so gpucloud waits, tries again every minute and terminates it. Ctrl-C terminates it now. A path of --fetch is missing there. To see what is there: gpucloud instances ssh box -- ls gpucloud-run/work; copy it: gpucloud instances scp -r box:gpucloud-run/work/PATH .; then terminate it: gpucloud jobs stop box --no-fetch
    run, command: warning: Kept box: it bills until 2026-01-15 12:30 +00:00. Nothing else terminates it then, so gpucloud waits and terminates it. Ctrl-C terminates it now. Connect: gpucloud instances ssh box. Terminate it: gpucloud instances terminate box
    attach, command: warning: Kept box: it bills until 2026-01-15 12:02 +00:00. Nothing else terminates it then, so gpucloud waits and terminates it. Ctrl-C leaves it, and it bills on. Connect: gpucloud instances ssh box. Terminate it: gpucloud instances terminate box
    attach, results: warning: Kept box with its output: it bills until 2026-01-15 12:02 +00:00. Nothing else terminates it then, so gpucloud waits, tries again every minute and terminates it. Ctrl-C leaves it, and it bills on. Fix the cause while gpucloud waits. Connect: gpucloud instances ssh box
    reap, results: warning: Kept box: it bills until you terminate it; its deadline passes at 2026-01-15 12:02 +00:00 and nothing enforces it. A path of --fetch is missing there. To see what is there: gpucloud instances ssh box -- ls gpucloud-run/work; copy it and terminate the instance: gpucloud jobs attach box --fetch PATH; give the results up: gpucloud jobs stop box --no-fetch"
  `);
});

test('says how a driver leaves a kept instance to a schedule', async () => {
  await arm();
  renting.rent(ID, 'box', { status: 'ACTIVE' });
  const lines: string[] = [];
  for (const why of ['command', 'results'] as const) {
    const { steps, stderr } = stepping({ on: false }, { seen: { kind: 'exited', code: 3 } });
    await steps.keep(why);
    lines.push(stderr().trim());
  }
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "warning: Kept box: it bills until 2026-01-15 12:30 +00:00. Connect: gpucloud instances ssh box. Terminate it: gpucloud instances terminate box
    warning: Kept box with its output: it bills until 2026-01-15 12:30 +00:00. Fix the cause, then fetch and terminate: gpucloud jobs attach box. Connect: gpucloud instances ssh box"
  `);
});

test('stays beside a kept instance for a minute, or until something happens', async () => {
  const stayed = async (given: object) => {
    const { steps, context } = stepping({}, given);
    const before = context.clock.monotonic();
    await steps.stay();
    return context.clock.monotonic() - before;
  };
  const near = new AbortController();
  const after = (most: number, act: () => boolean) => {
    let looks = 0;
    return () => ++looks > most && act();
  };
  const abort = () => {
    near.abort();
    return false;
  };
  expect(await stayed({})).toBe(60_000);
  expect(await stayed({ isStopAsked: () => true })).toBe(0);
  expect(await stayed({ isStopAsked: after(3, () => true) })).toBe(3_000);
  const stops = { ...STOPS, near: near.signal };
  expect(await stayed({ stops, isStopAsked: after(2, abort) })).toBe(2_000);
  expect(await stayed({ stops })).toBe(0);
});

test('says how a driver interrupts the command', async () => {
  const near = { ...STOPS, near: aborted() };
  const fetch = [{ remote: 'out', local: '/out', fetched_at: null }];
  const rows: [string, object, object?, Given?][] = [
    ['Ctrl-C', { on: false }],
    ['Ctrl-C with results', { on: false, fetch }],
    ['Ctrl-C of --on', {}],
    ['an agent', { fetch }, {}, { session: session() }],
    ['near the deadline', { fetch }, { stops: near }],
    ['reap near the deadline', { fetch }, { by: 'reap', stops: near }],
  ];
  const lines: string[] = [];
  for (const [what, more, other, given] of rows) {
    const { steps, job, stderr, scripts } = stepping(more, other, {}, given);
    await steps.interrupt();
    lines.push(`${what} (${job.isInterrupted}, ${scripts.length}): ${stderr().trim()}`);
  }
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "Ctrl-C (true, 1): Interrupting the command. Ctrl-C again terminates box without copying its output.
    Ctrl-C with results (true, 1): Interrupting the command. Ctrl-C again terminates box without copying its results.
    Ctrl-C of --on (true, 1): Interrupting the command. Ctrl-C again leaves box without copying its output.
    an agent (true, 1): Interrupting the command. Its results will be copied next.
    near the deadline (true, 1): warning: Interrupting the command to fetch its results before box's deadline.
    reap near the deadline (true, 2): "
  `);
});

test('stores what the end of a job shows', async () => {
  const at = { exited_at: NOW, reason: null };
  const ended = { ended_at: NOW };
  const lost = {
    ended_at: NOW,
    lost_at: NOW,
    reason: 'The command was killed together with its supervisor.',
  };
  const fetch = [
    { remote: 'a', local: '/a', fetched_at: BEFORE },
    { remote: 'c', local: '/c', fetched_at: null, unplaced: { staging: '/d', isWhole: true } },
    { remote: 'b', local: '/b', fetched_at: null },
  ];
  const exited = (code: number) => ({ kind: 'exited', code }) as const;
  const rows: [object, Parameters<ReturnType<typeof stepsOf>['end']>[0], object, HowToDrive?][] = [
    [{ ...ended, ...at, exit_code: 3 }, exited(3), {}],
    [ended, exited(4), { exit_code: 3, exited_at: BEFORE }],
    [{ ...ended, ...at, exit_code: 0 }, exited(0), { here: true }],
    [lost, { kind: 'lost' }, {}],
    [{ ...lost, lost_at: BEFORE }, { kind: 'lost' }, { lost_at: BEFORE }],
    [
      { ...ended, command_started_at: null, reason: 'The command was never started.' },
      { kind: 'absent' },
      {},
    ],
    [{ ...ended, reason: lost.reason }, { kind: 'absent' }, { shown_at: BEFORE }],
    [{ ...ended, ...at, exit_code: 3 }, exited(3), { fetch }],
    [
      { ...ended, ...at, exit_code: 3, fetch: fetch.slice(0, 2) },
      exited(3),
      { fetch },
      { skipsResults: true },
    ],
  ];
  for (const [change, seen, more, how] of rows) {
    const { steps, job } = stepping(more, { seen }, how);
    const { record } = job;
    await steps.end(seen);
    const { report: _, ...stored } = job.record;
    expect(stored).toEqual({ ...record, ...change, report: undefined });
  }
});

const MINUTE = 60_000;
test.each([
  [0, 10, { time: 'past', after: 10 }],
  [-3, 10, { time: 'past', after: 13 }],
  [0, 1, { time: 'past', after: 2 }],
  [0, 15, { time: 'past', after: 10 }],
  [1, 10, { time: 'near', after: 0 }],
  [15, 10, { time: 'near', after: 0 }],
  [15.1, 10, { time: 'early', after: 0 }],
  [1, 0, { time: 'early', after: 0 }],
  [undefined, 10, { time: 'early', after: 0 }],
])(
  'reap %s min before a deadline, with --grace %i min and --every 5 min',
  async (left, grace, expected) => {
    const { context } = atTerminal(world, []);
    const deadline = { deadline: new Date(Date.parse(NOW) + (left ?? 0) * MINUTE).toISOString() };
    const journal = await ownJournal(context);
    await journal.withDeadline(ID, (held) => held.set('box', left === undefined ? {} : deadline));
    const start = { id: ID, name: 'box', service: world.service.url };
    const record = jobRecord(start, { grace: grace * MINUTE }) as RentedRecord;
    const exact = {
      ...context,
      serviceClock: { ...context.serviceClock, now: () => Date.parse(NOW) },
    };
    const { time, after } = await timeOf(record, 5 * MINUTE, exact);
    expect({ time, after: after / MINUTE }).toEqual(expected);
  },
);

test('leaves a job without a word if nothing has changed', async () => {
  const failure = new CliError('storage', 'The disk is full.');
  const exited = { kind: 'exited', code: 3 } as const;
  const ended = { exit_code: 3, setup_exit_code: null };
  const uncollected = { fetch: [{ remote: 'out', local: '/out', fetched_at: null }] };
  const kept = { ...ended, kept: 'command', output_kept_at: BEFORE };
  const rows: [string, 'detach' | 'reap', Observation, object, object, object?][] = [
    ['a detached job', 'detach', { kind: 'running' }, {}, {}],
    ['a detached job that is kept', 'detach', exited, ended, { kept: 'command' }],
    ['a kept instance out of reach', 'reap', { kind: 'unreachable' }, kept, {}, { failure }],
    ['results out of reach', 'reap', exited, { ...ended, ...uncollected }, {}, { failure }],
    ['a job that this pass keeps', 'reap', exited, { ...kept, kept: null }, { kept: 'command' }],
  ];
  const lines: string[] = [];
  for (const [what, by, seen, more, after, given] of rows) {
    const { job, context } = stepping({ on: false, ...more }, { by, seen, ...given });
    const around = (steps: Steps): Steps => ({
      ...steps,
      // Another process has ended the job, so this one leaves it.
      happened: async () => ({ ...(await steps.happened()), started: false, ended: true }),
      async situation() {
        job.record = { ...job.record, ...after };
        return steps.situation();
      },
    });
    const end = await driveJob(job, { around }, context);
    lines.push(`${what}: ${end && `${end.terminated} ${end.kept} ${end.error?.message}`}`);
  }
  expect(lines).toMatchInlineSnapshot(`
    [
      "a detached job: undefined",
      "a detached job that is kept: false command undefined",
      "a kept instance out of reach: undefined",
      "results out of reach: unknown null box: The disk is full. The instance still has the results, and bills until you terminate it.",
      "a job that this pass keeps: false command undefined",
    ]
  `);
});

test.each([
  ['a rented instance of run', 'run', false, true],
  ['a rented instance of run --detach', 'detach', false, true],
  ['an instance of run --on', 'run', true, false],
  ['an instance of jobs attach', 'attach', false, false],
])('a bug in a step ends %s: %s, on %s, %s', async (_what, by, on, ends) => {
  const { job, context } = stepping({ on }, { by });
  const seen: unknown[] = [];
  const around = (steps: object) =>
    ({
      ...steps,
      situation: async () => {
        throw new TypeError('a bug');
      },
      end: async (kind: unknown) => {
        seen.push(kind);
      },
    }) as unknown as Steps;
  const outcome = await driveJob(job, { around }, context).catch((error: unknown) => error);
  const failure = expect.objectContaining({ message: expect.stringContaining('a bug') });
  expect({ outcome, failure: job.failure, seen }).toEqual({
    outcome: ends ? undefined : failure,
    failure,
    seen: ends ? [{ kind: 'unreachable' }] : [],
  });
});
