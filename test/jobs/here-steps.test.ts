import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import type { Steps } from '../../src/jobs/drive.ts';
import type { HereRun } from '../../src/jobs/here/run.ts';
import { hereSteps } from '../../src/jobs/here/steps.ts';
import type { Job } from '../../src/jobs/job.ts';
import { jobRecord } from '../support/job-record.ts';

let state: string;
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'gpucloud-here-'));
});
afterEach(() => rm(state, { recursive: true }));

const NO_SPACE = new CliError('storage', 'No space.');
const MISSING = new CliError('notFound', 'out does not exist.');
const OVER = new CliError('terminated', 'Over.');
const EXITED = { kind: 'exited', code: 3 } as const;

interface Given {
  readonly job?: object;
  /** Which stops have aborted. */
  readonly stops?: readonly ('any' | 'last')[];
  /** How the steps of one instance behave. */
  readonly own?: Partial<Steps>;
  readonly run?: object;
  readonly isReady?: boolean;
}

/** Returns the steps of one of several instances, whose calls of the run are written down. */
function member({ job: more, stops = [], own, run: other, isReady = false }: Given) {
  const log: string[] = [];
  const signals = { any: new AbortController(), last: new AbortController() };
  for (const stop of stops) signals[stop].abort(OVER);
  const job = {
    record: jobRecord({ id: 'a', name: 'job-1', service: 'https://a.example' }, { here: true }),
    ...{ seen: EXITED, failure: undefined, early: undefined, there: undefined },
    stops: { any: signals.any.signal, last: signals.last.signal },
    ...more,
  } as unknown as Job;
  const say = (what: string) => async () => void log.push(what);
  const steps = {
    ...{ keep: say('keep'), end: say('end'), collect: async () => 'none' as const },
    ...own,
  } as unknown as Steps;
  const run = {
    ...{ ready: new Set(isReady ? [job] : []), faults: new Map([['job-1', MISSING]]) },
    failure: undefined,
    fail: ({ message }: CliError) => log.push(`fail ${message}`),
    leaveOut: (_job: Job, { message }: CliError) => log.push(`leave out: ${message}`),
    showFetching: () => log.push('fetching'),
    showTerminating: () => log.push('terminating'),
    pace: { reach: async (name: string, stage: string) => void log.push(`${name} ${stage}`) },
    ...other,
  };
  const context = {
    folders: async () => ({ state }),
    clock: { now: () => 0 },
    err: { warn: (_code: string, text: string) => log.push(text) },
  } as unknown as Context;
  const here = hereSteps(job, run as unknown as HereRun, steps, context);
  return { here, job, run, log, signals };
}

/** A connection over which the cards' use is sampled. */
function withSamples(...lines: string[]) {
  const start = async () => ({ stdout: Readable.from(lines), stderr: new PassThrough() });
  return { shell: { start } };
}

const NOW = { interrupt: 'none', keepsOnFailure: false, keepsForResults: true, time: 'near' };

test.each<[object, Given, object]>([
  // Missing results keep no instance.
  [{}, {}, { keepsForResults: false }],
  [{}, { job: { failure: MISSING } }, { keepsForResults: false }],
  [{}, { job: { failure: NO_SPACE } }, {}],
  [{ keepsOnFailure: true }, {}, { keepsOnFailure: true }],
  [{ keepsForResults: false }, { job: { failure: NO_SPACE } }, { keepsForResults: false }],
  [{ interrupt: 'hangUp' }, {}, { interrupt: 'hangUp', keepsForResults: false }],
  [{ interrupt: 'hangUp' }, { stops: ['last'] }, { interrupt: 'last', keepsForResults: false }],
])('one of several instances with %j and %j is in the situation %j', async (now, given, change) => {
  const situation = async () => ({ ...NOW, ...now }) as never;
  const { here, job } = member({ ...given, own: { situation } });
  expect(await here.situation()).toEqual({ ...NOW, ...change });
  expect(await here.look()).toBe(job.seen);
});

test.each<[string, Given, string]>([
  ['start', { stops: ['any'], job: { early: MISSING } }, 'Over.'],
  ['start', { job: { early: MISSING } }, 'out does not exist.'],
  [
    'follow',
    { job: { there: withSamples() }, run: { followed: () => Promise.reject(OVER) } },
    'Over.',
  ],
])('leaves out an instance at a failed %s: %j', async (step, given, why) => {
  const { here, job, log } = member(given);
  const how = step === 'start' ? await here.start() : await here.follow();
  expect(how).toEqual(step === 'start' ? 'start' : { seen: { kind: 'absent' }, failed: 'start' });
  expect(log).toEqual([`leave out: ${why}`]);
  expect(job.failure?.message).toBe(why);
  expect(job.record.command_started_at).toBeNull();
});

test.each([
  [[], null],
  [
    ['2 50 1000 24564\n4 100', ' 2000 24564\nno\n9 9'],
    { busy_percent: 25, peak_memory_mib: 2000, memory_total_mib: 24564 },
  ],
])('stores the use of the cards during a command of --here: %j', async (lines, gpu) => {
  const followed = async () => {
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    return EXITED;
  };
  const { here, job } = member({ job: { there: withSamples(...lines) }, run: { followed } });
  expect(await here.follow()).toEqual({ seen: EXITED, failed: 'none' });
  expect(job.record.gpu).toEqual(gpu);
});

test.each<[string, Given, string[], CliError | undefined]>([
  ['none', { job: { failure: NO_SPACE } }, [], undefined],
  ['here', { job: { failure: NO_SPACE } }, [], NO_SPACE],
  ['cut', {}, [], MISSING],
  ['here', { stops: ['last'], job: { failure: NO_SPACE } }, ['fail Over.'], MISSING],
])('after a copy that fails with %s and %j, the run says %j of it', async (...row) => {
  const [failed, given, said, fault] = row;
  const { here, run, log } = member({ ...given, own: { collect: async () => failed as never } });
  expect(await here.collect(EXITED)).toBe(failed);
  expect(log).toEqual(['fetching', ...said]);
  expect(run.faults.get('job-1')).toBe(fault);
});

test('lets the others end once it keeps its instance', async () => {
  const { here, log } = member({});
  await here.interrupt();
  await here.keep('results');
  expect(log).toEqual(['keep', 'job-1 fetched']);
});

test.each<[Given, string[]]>([
  [{}, ['end']],
  [{ run: { failure: OVER } }, ['terminating', 'end']],
  [{ isReady: true }, ['job-1 fetched', 'terminating', 'end']],
])('one of several instances with %j ends by %j', async (given, said) => {
  const { here, log } = member(given);
  await here.end(EXITED);
  expect(log).toEqual(said);
});

test('waits for the results of the others, but no longer than its last stop', async () => {
  const reach = () => new Promise<void>(() => undefined);
  const { here, log, signals } = member({ isReady: true, run: { pace: { reach } } });
  const ended = here.end(EXITED);
  await setImmediate();
  expect(log).toEqual([]);
  signals.last.abort(OVER);
  await ended;
  expect(log).toEqual(['terminating', 'end']);
});
