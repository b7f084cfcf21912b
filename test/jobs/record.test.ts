import { utimesSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError, failuresOf } from '../../src/errors.ts';
import { exactCosts } from '../../src/jobs/end/cost.ts';
import { NO_RECEIPT } from '../../src/jobs/end/report.ts';
import type { Job, JobPlan } from '../../src/jobs/job.ts';
import { newRecord } from '../../src/jobs/new-record.ts';
import { filesText, sizeText } from '../../src/jobs/phases.ts';
import { ensureOpen, findJob } from '../../src/jobs/record/find-job.ts';
import { Followed, withJob } from '../../src/jobs/record/lock.ts';
import { note } from '../../src/jobs/record/note.ts';
import {
  askToStop,
  isShown,
  type JobRecord,
  jobPath,
  jobsIn,
  readAllJobs,
  readEnded,
  readJob,
  readJobs,
  removeJob,
  removeOldJobs,
  stopAsked,
  writeJob,
} from '../../src/jobs/record/record.ts';
import { ensureOwnTargets } from '../../src/jobs/same-target.ts';
import { createPosition } from '../../src/jobs/stages/position.ts';
import { adopt, adopted } from '../../src/jobs/verbs/adopt.ts';
import { finishJobs } from '../../src/jobs/verbs/finish.ts';
import { foreseeJob } from '../../src/jobs/verbs/foresee.ts';
import { jobRows } from '../../src/jobs/verbs/rows.ts';
import { manualClock } from '../support/clock.ts';

const START = Date.UTC(2026, 0, 15);
const uidOf = (at: number) => `3f0c5d9e-1111-4222-8333-${String(at).padStart(12, '0')}`;
const SERVICE = 'https://api.example';

let state: string;
let context: Context;
let account: string | undefined;
const warnings: string[] = [];
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'gpucloud-record-'));
  await mkdir(join(state, 'jobs'));
  account = 'user-1';
  warnings.length = 0;
  context = {
    folders: async () => ({ state }),
    settings: async () => ({ baseUrl: { value: SERVICE } }),
    journal: async () => ({ account: async () => account }),
    err: { warn: (_code: string, text: string) => warnings.push(text) },
    clock: { now: () => START },
    serviceClock: { now: () => START },
  } as unknown as Context;
});
afterEach(() => rm(state, { recursive: true }));

/** Builds the record of a job that began that many minutes after the first. */
async function job(at: number, change: Partial<JobRecord> = {}): Promise<JobRecord> {
  const plan = {
    command: ['true'],
    toStart: { words: ['true'], variables: [{ key: 'TOKEN', value: 'secret' }] },
    exclude: [],
    gitignore: true,
    fetch: [{ remote: 'out', local: '/out/' }],
    report_file: null,
    how: { identity: undefined, user: 'root', options: [], words: ['-4'] },
  } as unknown as JobPlan;
  const start = { id: null, name: `job-${at}`, on: false, here: false, sync: null, grace: 0 };
  const started_at = new Date(START + at * 60_000).toISOString();
  return { ...(await newRecord(plan, start, context)), uid: uidOf(at), started_at, ...change };
}
const path = (at: number, kind = 'json') => join(state, 'jobs', `${uidOf(at)}.${kind}`);
const names = async () => (await readJobs(context)).map(({ name }) => name);

test('stores a job without the values of its variables', async () => {
  await writeJob(await job(1), context);
  const [stored] = await readJobs(context);
  expect(stored).toEqual(await job(1));
  expect(stored).toMatchObject({
    service: SERVICE,
    account: 'user-1',
    variables: ['TOKEN'],
    fetch: [{ remote: 'out', local: '/out/', fetched_at: null }],
    fetch_every: null,
    keep_on_failure: null,
    identity: null,
    user: 'root',
    ssh_words: ['-4'],
  });
});

test("lists only the account's jobs, newest first", async () => {
  for (const at of [2, 1, 3]) await writeJob(await job(at), context);
  await writeJob(await job(4, { account: 'user-2' }), context);
  await writeJob(await job(5, { service: 'sandbox' }), context);
  expect(await names()).toEqual(['job-3', 'job-2', 'job-1']);
  account = undefined;
  expect(await names()).toEqual(['job-4', 'job-3', 'job-2', 'job-1']);
  await rm(join(state, 'jobs'), { recursive: true });
  expect(await names()).toEqual([]);
  await writeFile(join(state, 'jobs'), '');
  await expect(names()).rejects.toMatchObject({ failure: 'storage' });
});

test.each([
  ['a text instead of a number', { grace: 'x' }],
  ['no command', { command: [] }],
  ['a negative position', { printed: { out: -1, err: 0 } }],
  ['a result without its state', { fetch: [{ remote: 'a', local: '/a' }] }],
  ['an unknown reason to keep the instance', { kept: 'why' }],
])('warns about a record with %s, and lists the others', async (_what, change) => {
  await writeJob(await job(1), context);
  await writeJob(await job(2, change as object), context);
  expect(await names()).toEqual(['job-1']);
  expect(warnings).toEqual([
    `Could not read the job: ${path(2)} (it is damaged, or another version of gpucloud wrote it).`,
  ]);
});

/** Lists the jobs that ran since that minute, without looking at an instance. */
async function rowsSince(from: number) {
  const own = withJournal({ ends: async () => ({ deadline: null }) });
  return (await jobRows(START + from * 60_000, own)).rows;
}

test('shows the last phase of each job, and how it ended', async () => {
  const at = new Date(START).toISOString();
  const [signed, ended] = [{ id: 'a', here: true, signed_in_at: at }, { ended_at: at }];
  const ran = { ...signed, command_started_at: at };
  const fetched = { fetch: [{ remote: 'out', local: '/out/', fetched_at: at }] };
  const failed = { ...signed, exit_code: 3, setup_exit_code: 3 };
  const jobs: [string, Partial<JobRecord>][] = [
    ['renting EXITED null', ended],
    ['starting RUNNING null', { id: 'a', here: true }],
    ['starting EXITED null', { id: 'a', ...ended }],
    ['copying RUNNING null', signed],
    ['running LOST null', ran],
    ['running LOST null', { ...ran, ...ended }],
    ['fetching EXITED 5', { ...ran, ...ended, exit_code: 5 }],
    ['done EXITED 5', { ...ran, ...ended, ...fetched, exit_code: 5 }],
    ['terminating EXITED 5', { ...ran, ...fetched, exit_code: 5, ending_at: at }],
    ['done EXITED 5', { ...ran, ...ended, ...fetched, exit_code: 5, ending_at: at }],
    ['setup EXITED 3', { ...failed, ...ended }],
  ];
  for (const [each, [, change]] of jobs.entries()) await writeJob(await job(each, change), context);
  const rows = (await rowsSince(-1)).reverse();
  expect(rows.map((row) => `${row.phase} ${row.status} ${row.exit_code}`)).toEqual(
    jobs.map(([row]) => row),
  );
});

test('shows a run of --here as lost unless a process follows it', async () => {
  const at = new Date(START).toISOString();
  const record = await job(1, { id: 'a', here: true, signed_in_at: at, command_started_at: at });
  await writeJob(record, context);
  const statuses = async () => (await rowsSince(-1)).map(({ status }) => status);
  expect(await withJob(record, context, statuses)).toEqual(['RUNNING']);
  expect(await statuses()).toEqual(['LOST']);
});

test('lists the jobs that ran since a time, and every job that may still run', async () => {
  const time = (at: number) => new Date(START + at * 60_000).toISOString();
  await writeJob(await job(1, { id: 'a', ended_at: time(2) }), context);
  await writeJob(await job(3, { id: 'b', ended_at: time(9) }), context);
  await writeJob(await job(0, { id: 'c', here: true }), context);
  const since = async (from: number) => (await rowsSince(from)).map(({ name }) => name);
  expect(await since(Number.NEGATIVE_INFINITY)).toEqual(['job-3', 'job-1', 'job-0']);
  expect(await since(2)).toEqual(['job-3', 'job-1', 'job-0']);
  expect(await since(5)).toEqual(['job-3', 'job-0']);
  expect(await since(10)).toEqual(['job-0']);
});

test('names a record of a newer gpucloud, and lists the others', async () => {
  await writeJob(await job(1), context);
  await writeFile(path(2), '{"version": 3, "anything": true}');
  const { jobs, newer } = await readAllJobs(context);
  expect(jobs).toMatchObject([{ name: 'job-1' }]);
  const message = `A newer gpucloud wrote the job ${path(2)} (version 3).`;
  const hint = 'update gpucloud on this computer';
  const error = { failure: 'storage', message, hint, mayBeBilling: true };
  expect(newer).toMatchObject([error]);
  expect({ names: await names(), warnings }).toEqual({ names: ['job-1'], warnings: [message] });
  // A process that drives the job must not replace the newer record.
  await expect(readJob(uidOf(2), context)).rejects.toMatchObject(error);
});

test('writes nothing over a job that another process has ended', async () => {
  const ended_at = new Date(START).toISOString();
  const held = { record: await job(1) };
  await writeJob(held.record, context);
  expect(await readEnded(uidOf(1), context)).toBeUndefined();
  await writeJob(await job(1, { ended_at }), context);
  await note(held, { exit_code: 5 }, context);
  expect(await readEnded(uidOf(1), context)).toMatchObject({ ended_at, exit_code: null });
});

test('warns once if what happened to a job cannot be stored', async () => {
  await rm(join(state, 'jobs'), { recursive: true });
  await writeFile(join(state, 'jobs'), '');
  const held = { record: await job(1) };
  await note(held, { exit_code: 5 }, context);
  await note(held, { kept: 'results' }, context);
  expect(held.record).toMatchObject({ exit_code: 5, kept: 'results' });
  expect(warnings).toEqual([expect.stringContaining('Could not save the job')]);
});

test('saves the printed position a second after it changed, and not while it is held', async () => {
  const wake: (() => void)[] = [];
  const slept: number[] = [];
  const sleep = (time: number) => {
    slept.push(time);
    return new Promise<void>((resolve) => wake.push(resolve));
  };
  const held = { record: await job(1) };
  const offsets = { out: 0, err: 0 };
  const own = { ...context, clock: { ...context.clock, sleep } } as Context;
  const position = createPosition(held as unknown as Job, offsets, own);
  const moved = (out: number) => {
    offsets.out = out;
    position.moved();
  };
  const second = async () => {
    wake.pop()?.();
    await new Promise((resolve) => setImmediate(resolve));
    return [held.record.printed.out, slept.length];
  };

  moved(1);
  moved(2);
  expect(await second()).toEqual([2, 1]);
  moved(3);
  await position.hold();
  moved(4);
  expect(await second()).toEqual([3, 2]);
  moved(5);
  expect(await second()).toEqual([3, 2]);
  position.resume();
  moved(6);
  expect(await second()).toEqual([6, 3]);
  moved(7);
  await position.close();
  expect((await readJob(uidOf(1), context)).printed.out).toBe(7);
  expect(slept).toEqual([1000, 1000, 1000, 1000]);
});

test.each([
  [false, null, false],
  [false, '2026-01-15T00:00:00Z', true],
  [true, null, true],
])('a job (here: %s) that was shown at %j is shown: %s', (here, shown_at, shown) => {
  expect(isShown({ here, shown_at })).toBe(shown);
});

test('asks the process that follows a job to stop it', async () => {
  const isAsked = await stopAsked(uidOf(1), context);
  expect(isAsked()).toBe(false);
  await askToStop(uidOf(1), context);
  expect(isAsked()).toBe(true);
  // A later process heeds only a later call.
  const isAskedNow = await stopAsked(uidOf(1), context, { isNew: true });
  expect(isAskedNow()).toBe(false);
  await utimes(await jobPath(uidOf(1), 'stop', context), 1, 1);
  expect(isAskedNow()).toBe(true);
  await removeJob(uidOf(1), context);
  expect(isAsked()).toBe(false);
  await mkdir(path(1, 'stop'));
  const message = `Could not save the job: ${path(1, 'stop')} (EISDIR).`;
  await expect(askToStop(uidOf(1), context)).rejects.toMatchObject({ failure: 'storage', message });
  await rm(join(state, 'jobs'), { recursive: true });
  await writeFile(join(state, 'jobs'), '');
  expect(isAsked()).toBe(false);
});

test('completes the instances of the jobs that it can read, oldest first', async () => {
  const at = new Date(START).toISOString();
  for (const [each, more] of [{ id: 'a' }, {}, { id: 'b', ended_at: at }, { id: 'c' }].entries())
    await writeJob(await job(each, more), context);
  await writeFile(path(3), '{');
  expect(jobsIn(state)).toEqual([
    { id: 'a', state: '' },
    { id: 'b', state: 'EXITED' },
  ]);
});

test('finds a job without an instance, and says that it has ended', async () => {
  for (const at of [1, 2]) await writeJob(await job(at), context);
  expect(await findJob('job-1', context)).toEqual(await job(1));
  const [ended_at, reason] = [new Date(START).toISOString(), 'It was killed.'];
  const refused = async (id: string | null) => {
    const record = await job(1, { id, ended_at, reason });
    const [end] = await Promise.allSettled([(async () => ensureOpen(record, context))()]);
    const { message, resource, hint } = (end as PromiseRejectedResult).reason;
    return [message, resource, hint?.replaceAll('\ufdd0', '')];
  };
  const message = expect.stringMatching(/^The job on job-1 ended .*\. It was killed\.$/);
  expect(await refused(null)).toEqual([message, 'job-1', undefined]);
  expect(await refused('a')).toEqual([message, 'a', 'see its output: gpucloud jobs logs job-1']);
});

test('refuses a job that another process follows, and says whether that process lives', async () => {
  const followed = async (id: string | null, yields: boolean) => {
    const record = await job(1, { id });
    const again = () => withJob(record, context, async () => [], { patience: 0, yields });
    const [end] = await withJob(record, context, () => Promise.allSettled([again()]));
    const { message, resource, isAlive, hint } = (end as PromiseRejectedResult).reason;
    return [message, resource, isAlive, hint.replaceAll('\ufdd0', '')];
  };
  const said = ['Another gpucloud process is following job-1.', 'job-1', false];
  expect(await followed(null, false)).toEqual([
    ...said,
    'see its output: gpucloud jobs logs job-1',
  ]);
  expect((await followed('a', false))[1]).toBe('a');
});

test.each<[{ patience: number; yields?: boolean }, boolean]>([
  [{ patience: 40 }, false],
  // Ends at the first sign of life.
  [{ patience: 10_000, yields: true }, true],
])(
  'waits with %j for a process that follows a job, which shows that it lives: %s',
  async (...row) => {
    const [how, isAlive] = row;
    const lock = `${path(1)}.lock`;
    await mkdir(lock);
    let refreshes = 0;
    const refresh = () => {
      refreshes += 1;
      utimesSync(lock, new Date(), new Date(Date.now() + refreshes));
    };
    const timer = setInterval(refresh, 3);
    const began: string[] = [];
    const work = async () => void began.push('work');
    const [fault] = await failuresOf(withJob(await job(1), context, work, how));
    clearInterval(timer);
    expect([fault instanceof Followed && fault.isAlive, began]).toEqual([isAlive, []]);
  },
);

test('finds a job by the beginning of its ID, with --yes only to show it', async () => {
  const own = withJournal({ read: async () => ({ instances: [] }) });
  const yes = { ...own, flags: { yes: true } } as Context;
  const [one, ended] = [await job(1, { id: 'abcd-1' }), await job(3, { id: 'abcd-1' })];
  await writeJob(one, context);
  await writeJob({ ...ended, ended_at: new Date(START).toISOString() }, context);
  expect(await findJob('abcd', yes)).toEqual(one);
  const asked = { ...own, flags: { yes: false } } as Context;
  expect(await findJob('abcd', asked, { changes: true })).toEqual(one);
  expect(await findJob('job-1', yes, { changes: true })).toEqual(one);
  await expect(findJob('abcd', yes, { changes: true })).rejects.toMatchObject({ failure: 'usage' });
});

test('reads the proven costs of terminated instances that jobs rented', async () => {
  const report = { command_exit_code: 0, stage: 'done', instance: null, fetched: [], seconds: 1 };
  const more = { ...report, ...NO_RECEIPT, exit_code: 0, error: null };
  const rows = [
    ['a', false, true, '0.35'],
    ['b', true, true, '1.00'],
    ['c', false, 'unknown', '2.00'],
    ['d', false, true, null],
  ] as const;
  for (const [at, [id, on, terminated, cost]] of rows.entries()) {
    const change = { id, on, report: { ...more, terminated, cost } } as Partial<JobRecord>;
    await writeJob(await job(at, change), context);
  }
  expect(await exactCosts([{ status: 'ACTIVE' }, { status: 'TERMINATED' }], context)).toEqual(
    new Map([['a', '0.35']]),
  );
  expect(await exactCosts([{ status: 'ACTIVE' }], context)).toEqual(new Map());
});

const asked = { name: 'job-1', asked_at: new Date(START + 60_000).toISOString() };
const made = { ...asked, id: 'a', origin: 'create' };
const before = { asked_at: new Date(START + 59_999).toISOString() };
const killed = {
  ended_at: new Date(START).toISOString(),
  reason: 'The run was killed before it rented an instance.',
};
const withJournal = (more: object) =>
  ({ ...context, journal: async () => ({ account: async () => account, ...more }) }) as Context;

test.each<[string, object[], object[], Partial<JobRecord>, Partial<JobRecord>?]>([
  ['its instance', [made], [], { id: 'a', rented_at: asked.asked_at }],
  ['nothing more after its end', [made], [], killed, killed],
  ['nothing yet, since it may be rented', [{ ...made, origin: 'track' }], [asked], {}],
  ['nothing of an earlier run', [{ ...made, ...before }], [{ ...asked, ...before }], killed],
  ['nothing of another name', [{ ...made, name: 'job-2' }], [{ ...asked, name: 'job-2' }], killed],
])('a killed run has rented %s', async (_what, instances, requests, change, before = {}) => {
  const own = withJournal({ read: async () => ({ instances }), requests: async () => requests });
  expect(await adopt(await job(1, before), own)).toEqual(await job(1, change));
});

test('a run whose request is unknown may still write its results', async () => {
  const own = withJournal({ read: async () => ({ instances: [] }), requests: async () => [asked] });
  await writeJob(await job(1), own);
  await expect(adopted(uidOf(1), own)).rejects.toMatchObject({
    ...{ failure: 'outcomeUnknown', resource: 'job-1', mayBeBilling: true },
    message: 'The outcome of the request for job-1 is unknown. It may be billing.',
  });
  const whose = { name: 'x', from: () => '--fetch' };
  const fetchTo = (local: string) => ensureOwnTargets([{ remote: 'out', local }], whose, own);
  expect(await fetchTo('/other')).toBeUndefined();
  await expect(fetchTo('/out')).rejects.toThrow('the job on job-1 has not ended');
  expect((await jobRows(0, own)).rows).toMatchObject([{ status: 'UNKNOWN', ends_at: null }]);
  const missing: object[] = [];
  const at = { ...own, signal: new AbortController().signal } as Context;
  await finishJobs({ open: [await job(2)], every: 0 }, at, (one) => missing.push(one));
  expect(missing).toMatchObject([{ error: { failure: 'storage' } }]);
});

const COLLECTED = {
  ...{ id: 'a', command_started_at: 'x', exit_code: 1, fetch: [], output_kept_at: 'x' },
};
test.each<[string, string, Partial<JobRecord>]>([
  ['nothing', 'the outcome of its request is unknown', {}],
  ['finish_job', 'its command was never started', { id: 'a' }],
  ['nothing', 'its job does not respond', { id: 'a', command_started_at: 'x' }],
  ['finish_job', 'its command has exited', COLLECTED],
  ['keep', 'its command has exited', { ...COLLECTED, keep_on_failure: 1 }],
  ['keep', 'its job kept it', { id: 'a', command_started_at: 'x', exit_code: 1, kept: 'results' }],
])('foresees for a job: %s, %s', async (action, why, change) => {
  const api = () => Promise.reject(new CliError('unreachable', 'No network.'));
  const journal = { ends: async () => ({ deadline: null }), read: async () => ({ instances: [] }) };
  const own = { ...context, api, journal: async () => journal, clock: manualClock() };
  const at = { ...own, signal: new AbortController().signal } as unknown as Context;
  expect(await foreseeJob(await job(1, change), 0, at)).toEqual({ action, why });
});

test('keeps the last 100 ended jobs and every open job', async () => {
  for (let at = 0; at < 103; at += 1) {
    const ended_at = at === 1 ? null : new Date(START).toISOString();
    await writeFile(path(at), JSON.stringify(await job(at, { ended_at })));
    await writeFile(path(at, 'out.0'), '');
  }
  await removeOldJobs(context);
  const left = (await names()).length;
  expect({ left, files: (await readdir(join(state, 'jobs'))).length }).toEqual({
    left: 101,
    files: 202,
  });
  for (const at of [0, 2]) expect(await names()).not.toContain(`job-${at}`);
  expect(await names()).toContain('job-1');
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1.0 KB'],
  [9_940, '9.9 KB'],
  [10_000, '10 KB'],
  [83_400_000, '83 MB'],
  [2_500_000_000, '2.5 GB'],
  [4e12, '4.0 TB'],
  [4e15, '4000 TB'],
])('prints %i bytes as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
  expect(filesText({ count: 1, bytes })).toBe(`1 file (${text})`);
  expect(filesText({ count: 1_204, bytes })).toBe(`1,204 files (${text})`);
});
