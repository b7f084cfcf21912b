import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import type { FileList } from '../../src/jobs/files/files.ts';
import { HereRun } from '../../src/jobs/here/run.ts';
import type { Job, JobPlan } from '../../src/jobs/job.ts';
import { copyLine, createPhases, leftOutText, progressText } from '../../src/jobs/phases.ts';
import { createMessages } from '../../src/output/messages.ts';
import { manualClock } from '../support/clock.ts';

test.each([
  [undefined, false, '1,204 files (83 MB) by --exclude: data/ (82 MB), a (1 byte)'],
  [
    '.gitignore',
    true,
    'at least 1,204 files (83 MB) by .gitignore or --exclude: data/ (82 MB), a (1 byte)',
  ],
] as const)('says what --sync leaves out by %s', (rules, isPart, text) => {
  const largest = Object.entries({ 'data/': 82e6, a: 1 }).map(([path, bytes]) => ({ path, bytes }));
  const overview = { largest: [], leftOut: { count: 1_204, bytes: 83e6, largest, isPart } };
  expect(leftOutText({ rules } as FileList, overview)).toBe(text);
});

test.each([
  ['of an unknown total', { count: 5_000 }, '5.0 KB'],
  ['of an unknown total with its speed', { count: 30_000, seconds: 3 }, '30 KB, 10 KB/s'],
  ['at once', { count: 0, total: 2_700_000_000 }, '0 % of 2.7 GB'],
  [
    'with the time left',
    { count: 1e9, total: 4e9, seconds: 100 },
    '25 % of 4.0 GB, 10 MB/s, 5 min left',
  ],
  [
    'of this attempt only',
    { count: 1e9, total: 4e9, seconds: 100, since: 5e8 },
    '25 % of 4.0 GB, 5.0 MB/s, 10 min left',
  ],
  ['of a stalled copy', { count: 1e9, total: 4e9, seconds: 99, since: 1e9 }, '25 % of 4.0 GB'],
  ['beyond the estimate', { count: 3_000, total: 2_000, seconds: 1 }, '3.0 KB'],
])('formats the progress %s', (_what, copied, text) => {
  expect(progressText({ total: 0, seconds: 0, since: 0, ...copied })).toBe(text);
});

test.each([
  [
    false,
    'Fetching out\nFetching out  50 % of 2.0 GB, 16 MB/s, 1 min left\nFetching out  50 % of 2.0 GB, 42 MB/s, 24 s left\n',
  ],
  [true, ''],
])('prints a line per minute of a copy without a terminal, none with json: %s', (json, text) => {
  const [stderr, clock] = [new PassThrough(), manualClock()];
  let time = 0;
  const passing = { ...clock, monotonic: () => time };
  const err = createMessages({ stderr, clock: passing, colour: false, json });
  const host = { stderr } as unknown as Context['host'];
  const phases = createPhases('job', { err, host, clock: passing } as unknown as Context);
  phases.begin('fetching', 'out');
  for (const [seconds, bytes] of [
    [0, 1e7],
    [59, 9e8],
    [62, 1e9],
    [63, 1.1e9],
    // Another attempt.
    [100, 0],
    [124, 1e9],
  ] as const) {
    time = seconds * 1000;
    phases.bytes(bytes, 2e9);
  }
  phases.clear();
  expect(`${stderr.read() ?? ''}`).toBe(text);
});

test.each([
  [120, 'Copying 1 file (4.0 GB)  █████░░░░░░░░░░░░░░░ 25 % of 4.0 GB, 10 MB/s, 5 min left'],
  [80, 'Copying 1 file (4.0 GB)  ████░░░░░░░░░░░░ 25 % of 4.0 GB, 10 MB/s, 5 min left'],
  [70, 'Copying 1 file (4.0 GB)  25 % of 4.0 GB, 10 MB/s, 5 min left'],
  [50, 'Copying  25 % of 4.0 GB, 10 MB/s, 5 min left'],
  [40, 'Copying  25 % of 4.0 GB, 10 MB/s, 5 …'],
])('fits a copy into one line of %i columns', (columns, line) => {
  const copied = { count: 1e9, total: 4e9 };
  const said = progressText({ ...copied, seconds: 100, since: 0 });
  const shown = copyLine('Copying 1 file (4.0 GB)', said, copied, columns);
  expect(shown).toBe(line);
  // The spinner and a space come before the line.
  expect([...shown].length).toBeLessThanOrEqual(columns - 2);
});

/** Builds a run of three instances, and what it says. */
function runOf(plan: object, signal = new AbortController().signal) {
  const said: string[] = [];
  const shown: string[] = [];
  const progress = (text: string) => {
    shown.push(text);
    return { update: (more: string) => said.push(more), done: () => shown.push('') };
  };
  const warn = (code: string, text: string) => said.push(`${code}: ${text}`);
  const context = {
    err: { progress, note: () => undefined, warn },
    host: { stderr: {} },
    clock: { monotonic: () => 0 },
    signal,
  } as unknown as Context;
  return {
    run: new HereRun({ fetch: [], ...plan } as unknown as JobPlan, '/', context),
    said,
    shown,
  };
}

test('shows no bar of an unknown total', () => {
  const copied = { count: 5_000, total: 0 };
  expect(copyLine('Fetching out', '5.0 KB', copied, 120)).toBe('Fetching out  5.0 KB');
});

test.each([
  [undefined, ['c'], 'a: No a.'],
  [2, ['c'], 'Fewer than 2 instances (--min-count) could be rented. a: No a.'],
  [1, ['a', 'c'], undefined],
])(
  'names each refused instance of run --here, with --min-count %j',
  async (minCount, warned, message) => {
    const { run, said } = runOf({ names: ['a', 'b', 'c'], here: { minCount } });
    const no = (name: string) => run.rented(name, new CliError('wrongState', `No ${name}.`));
    await Promise.all([no('c'), no('a'), run.rented('b')]);
    expect(said).toEqual(warned.map((name) => `incomplete: Could not rent ${name}: No ${name}.`));
    expect({ message: run.failure?.message, isOver: run.needless.aborted }).toEqual({
      message,
      isOver: message !== undefined,
    });
  },
);

test('says of an interrupted run --here only that it was interrupted', async () => {
  const [reason, fault] = ['interrupted', 'wrongState'].map(
    (failure) => new CliError(failure as 'interrupted', failure),
  );
  const aborted = AbortSignal.abort(reason);
  const [renting, preparing] = [runOf({ names: ['a'] }, aborted), runOf({ names: ['a'] }, aborted)];
  await renting.run.rented('a', fault);
  preparing.run.leaveOut({ record: { name: 'a' } } as Job, fault as CliError);
  for (const { run, said } of [renting, preparing])
    expect([run.failure, said]).toEqual([reason, []]);
});

test('goes on without an instance that is left out before all are rented', () => {
  const { run, said } = runOf({ names: ['a', 'b'], here: {} });
  run.leaveOut({ record: { name: 'a' } } as Job, new CliError('unreachable', 'No a.'));
  expect([run.failure, said]).toEqual([undefined, ['incomplete: a: No a. Terminating a.']]);
});

test('shows the bytes of all instances of run --here together', async () => {
  const { run, said } = runOf({ names: ['a', 'b'] });
  await Promise.all([run.rented('a'), run.rented('b')]);
  run.copied('a', 100, 1_000);
  run.copied('b', 500, 1_000);
  run.copied('a', 1_000, 1_000);
  expect(said).toEqual([
    'Starting a and b  100 bytes',
    'Starting a and b  30 % of 2.0 KB',
    'Starting a and b  75 % of 2.0 KB',
  ]);
});

test('shows the phases of run --here', async () => {
  const plan = { names: ['a', 'b', 'c'], fetch: [{}], here: { minCount: 2 } };
  const { run, shown, said } = runOf(plan);
  await Promise.all(['b', 'a', 'c'].map((name) => run.rented(name)));
  const stops = { any: new AbortController().signal };
  const member = (name: string, kept: unknown = null) =>
    ({ record: { name, kept }, stops }) as unknown as Job;
  run.copied('b', 500, 1_000);
  const fault = new CliError('unreachable', 'No SSH.');
  run.leaveOut(member('c'), fault);
  expect(run.faults.get('c')?.message).toBe('c: No SSH.');
  // Waits for the other.
  void run.begin(member('b', 'results'));
  run.ready.add(member('a'));
  expect(run.what).toBe('a and b');
  run.showFetching();
  run.copied('a', 10, 100);
  run.showFetching();
  for (let times = 0; times < 2; times += 1) run.showTerminating();
  await run.end(0);
  expect(shown).toEqual([
    ...['Renting a, b and c', '', 'Starting a, b and c', ''],
    ...['Fetching from a and b', '', 'Terminating a', ''],
  ]);
  expect(said).toEqual([
    'Starting a, b and c  500 bytes',
    'incomplete: c: No SSH. Terminating c.',
    'Starting a, b and c  1 of 2 ready',
    'Fetching from a and b  10 bytes',
  ]);
  expect([run.failure, run.needless.aborted, run.stage]).toEqual([undefined, false, 'done']);
  run.leaveOut(member('b'), fault);
  expect(run.failure?.message).toBe(
    'Fewer than 2 instances (--min-count) could be prepared. b: No SSH.',
  );
  expect([run.needless.aborted, run.stage]).toEqual([true, 'terminating']);
  run.fail(new CliError('storage', 'Later.'));
  expect(run.failure).toMatchObject({ failure: 'unreachable' });
});
