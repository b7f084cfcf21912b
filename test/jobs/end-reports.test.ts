import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliError, type Failure } from '../../src/errors.ts';
import { withBill } from '../../src/instances/change/outcome.ts';
import { handedOver } from '../../src/jobs/driver.ts';
import { endedElsewhere, endJob, saveEnd } from '../../src/jobs/end/end-job.ts';
import { notifyOfEnds } from '../../src/jobs/end/notify.ts';
import { type JobEnd, NO_RECEIPT } from '../../src/jobs/end/report.ts';
import { finishHere } from '../../src/jobs/here/report.ts';
import type { HereRun } from '../../src/jobs/here/run.ts';
import type { Job } from '../../src/jobs/job.ts';
import { createPhases } from '../../src/jobs/phases.ts';
import { writeJob } from '../../src/jobs/record/record.ts';
import { atTerminal } from '../support/at-terminal.ts';
import { jobRecord } from '../support/job-record.ts';
import { RentingService, whole } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { no } from '../support/service.ts';
import { ODD, ofOddName } from './odd-name.ts';
import { withoutLimits } from './passing-clock.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const OTHER = '3f0c5d9e-1111-4222-8333-444455557777';
const AT = '2026-01-15T10:30:09.000Z';

let world: World;
let renting: RentingService;
let heard: string;
beforeEach(async () => {
  renting = new RentingService();
  world = await createWorld({ handler: renting.handler });
  heard = join(world.home, 'heard');
  await mkdir(join(world.home, 'config'), { recursive: true });
  const notify = ['sh', '-c', `cat >>${heard}`];
  const profiles = { work: { base_url: world.service.url, notify } };
  const path = join(world.home, 'config', 'config.json');
  await writeFile(path, JSON.stringify({ current: 'work', profiles }), { mode: 0o600 });
});
afterEach(() => world.close());

/** Returns the events since the last call, each in a line. */
async function events(): Promise<string[]> {
  if (!existsSync(heard)) return [];
  const lines = readFileSync(heard, 'utf8').trim().split('\n');
  await rm(heard);
  return lines.map((line) => {
    const { event, id, name, exit_code, message } = JSON.parse(line);
    return `  ${event} ${id} ${name} ${exit_code}: ${message}`;
  });
}

const failed = (failure: Failure, message = 'Why.') => new CliError(failure, message);
/** Shows phases and cards only as present: each end has the same. */
const withoutPhases = (key: string, value: unknown) =>
  /^(phases|gpu)$/.test(key) && value !== null ? key : value;
const inDoubt = (name: string, cause: Failure) =>
  new CliError('outcomeUnknown', `Could not terminate ${name}.`, { cause: failed(cause) });

test('sends the event of how a run ended, once', async () => {
  const { context } = atTerminal(world, []);
  const one = { instance: { id: ID, name: 'job-1' }, terminated: true, error: undefined } as const;
  const two = { ...one, instance: { id: OTHER, name: 'job-2' } };
  const kept = { ...two, terminated: false } as const;
  const none = { instance: null, terminated: false, error: failed('refused') } as const;
  const unsure = (cause: Failure) =>
    ({ ...two, terminated: 'unknown', error: inDoubt('job-2', cause) }) as const;
  const rows: [string, Parameters<typeof notifyOfEnds>[0]['members'], object?][] = [
    ['terminated', [one]],
    ['disappeared', [one], { command_exit_code: null }],
    ['failed', [one], { error: failed('storage', 'The disk is full.') }],
    ['kept', [kept]],
    ['both terminated', [one, two]],
    ['both kept', [{ ...one, terminated: false }, kept]],
    ['one kept', [one, kept]],
    ['one rented', [none, two]],
    ['nothing rented', [none]],
    ['in doubt', [one, unsure('outcomeUnknown')]],
    ['refused', [unsure('refused'), one]],
    ['third Ctrl-C', [one, unsure('interrupted')]],
  ];
  const lines: string[] = [];
  for (const [what, members, more] of rows) {
    const end = { name: 'job', command_exit_code: 3, error: undefined, members, ...more };
    for (let times = 0; times < 2; times += 1) await notifyOfEnds(end, what, context);
    lines.push(`${what}:`, ...(await events()));
  }
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "terminated:
      job_ended 3f0c5d9e-1111-4222-8333-444455556666 job 3: The command on job-1 exited with 3. Terminated job-1.
    disappeared:
      job_ended 3f0c5d9e-1111-4222-8333-444455556666 job null: The command on job-1 disappeared without an exit code. Terminated job-1.
    failed:
      job_ended 3f0c5d9e-1111-4222-8333-444455556666 job 3: The disk is full. Terminated job-1.
    kept:
      job_ended 3f0c5d9e-1111-4222-8333-444455557777 job 3: The command on job-2 exited with 3. Kept job-2: it bills.
    both terminated:
      job_ended 3f0c5d9e-1111-4222-8333-444455556666 job 3: The command on job-1 and job-2 exited with 3. Terminated job-1 and job-2.
    both kept:
      job_ended 3f0c5d9e-1111-4222-8333-444455556666 job 3: The command on job-1 and job-2 exited with 3. Kept job-1 and job-2: it bills.
    one kept:
      job_ended 3f0c5d9e-1111-4222-8333-444455556666 job 3: The command on job-1 and job-2 exited with 3. Kept job-2: it bills.
    one rented:
      job_ended 3f0c5d9e-1111-4222-8333-444455557777 job 3: The command on job-2 exited with 3. Terminated job-2.
    nothing rented:
    in doubt:
      outcome_unknown 3f0c5d9e-1111-4222-8333-444455557777 job-2 3: Could not terminate job-2.
    refused:
      terminate_failed 3f0c5d9e-1111-4222-8333-444455557777 job-2 3: Could not terminate job-2.
    third Ctrl-C:"
  `);
});

test('reports the ends of several instances together', async () => {
  const phases = { renting: 12, copying: 4, setup: null, running: 185, fetching: 2 };
  const gpu = { busy_percent: 12, peak_memory_mib: 3174, memory_total_mib: 24_564 };
  const end = {
    ...{ command_exit_code: null, stage: 'done' as const, error: undefined, terminated: true },
    ...{ instance: { id: ID, name: 'job-1' }, fetched: ['/got/1'] },
    ...{ cost: '0.35', cost_at_most: '89.90', phases, gpu },
  };
  const two = { ...end, instance: { id: OTHER, name: 'job-2' }, fetched: ['/got/2'], cost: '0.45' };
  const kept = { ...two, terminated: false, cost: null, cost_at_most: null } as const;
  const unsure = {
    ...({ ...kept, terminated: 'unknown', stage: 'terminating', fetched: [] } as const),
    error: inDoubt('job-2', 'refused'),
  } as const;
  const none: JobEnd = {
    ...{ command_exit_code: null, stage: 'renting' as const, instance: null, terminated: false },
    ...{ fetched: [], ...NO_RECEIPT, error: failed('refused') },
  };
  const faults = new Map([['job-2', failed('wrongState', 'out of stock')]]);
  const rows: [string, readonly (JobEnd | undefined)[], Partial<HereRun>?][] = [
    ['both terminated', [end, two], { exitCode: 3 }],
    ['one kept without its results', [end, kept], { exitCode: 0, faults }],
    ['one not rented', [end, none], { exitCode: 0, faults }],
    ['one in doubt', [end, unsure], { exitCode: 0 }],
    ['nothing rented', [none], { failure: failed('refused', 'No money.'), stage: 'renting' }],
    ['failed', [two, end], { failure: failed('deadline', 'SSH is late.'), stage: 'connecting' }],
  ];
  const lines: string[] = [];
  for (const [what, ends, more] of rows) {
    const { context, stderr } = atTerminal(world, []);
    const ready = new Set([{ record: { name: 'job-1' } }, { record: { name: 'job-2' } }]);
    const report_file = join(world.home, 'report.json');
    const run = {
      plan: { names: ['job-1', 'job-2'], report_file, request: { instance_name: 'job' } },
      ...{ failure: undefined, exitCode: undefined, stage: 'done', faults: new Map(), ready },
      ...more,
    };
    const given = { ...run, plan: { ...run.plan, command: ['true'] } } as unknown as HereRun;
    const started_at = new Date(world.clock.now() - 65_400).toISOString();
    const thrown = await finishHere(given, ends as JobEnd[], started_at, context).then(
      () => `exit ${context.exitCode}`,
      (error: CliError) => `${error.failure}: ${error.message}`,
    );
    const { instances, ...report } = JSON.parse(readFileSync(report_file, 'utf8'));
    lines.push(
      `${what}: ${thrown}`,
      ...[report, ...instances].map((row) => `  ${JSON.stringify(row, withoutPhases)}`),
      ...stderr()
        .trim()
        .split('\n')
        .map((line) => `  | ${line}`),
    );
  }
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "both terminated: exit 0
      {"command_exit_code":3,"stage":"done","terminated":true,"fetched":["/got/1","/got/2"],"seconds":65,"cost":"0.80","cost_at_most":"179.80","exit_code":3,"error":null}
      {"id":"3f0c5d9e-1111-4222-8333-444455556666","name":"job-1","terminated":true,"fetched":["/got/1"],"cost":"0.35","cost_at_most":"89.90","phases":"phases","gpu":"gpu","error":null}
      {"id":"3f0c5d9e-1111-4222-8333-444455557777","name":"job-2","terminated":true,"fetched":["/got/2"],"cost":"0.45","cost_at_most":"89.90","phases":"phases","gpu":"gpu","error":null}
      | true: exit code 3
      | Fetched /got/1, /got/2
      | Terminated job-1 and job-2 after 1 min.
      | They cost 0.80 ₽: job-1 0.35 ₽, job-2 0.45 ₽.
    one kept without its results: runFailed: job-2: out of stock
      {"command_exit_code":0,"stage":"done","terminated":false,"fetched":["/got/1","/got/2"],"seconds":65,"cost":null,"cost_at_most":null,"exit_code":125,"error":"job-2: out of stock"}
      {"id":"3f0c5d9e-1111-4222-8333-444455556666","name":"job-1","terminated":true,"fetched":["/got/1"],"cost":"0.35","cost_at_most":"89.90","phases":"phases","gpu":"gpu","error":null}
      {"id":"3f0c5d9e-1111-4222-8333-444455557777","name":"job-2","terminated":false,"fetched":["/got/2"],"cost":null,"cost_at_most":null,"phases":"phases","gpu":"gpu","error":"out of stock"}
      | true: exit code 0
      | Fetched /got/1, /got/2
      | Terminated job-1 after 1 min.
      | It cost 0.35 ₽: 12 s renting, 4 s copying, 3 min running (GPU busy 12 % on average, peak memory 3.1 of 24 GiB), 2 s fetching.
    one not rented: runFailed: job-2: out of stock
      {"command_exit_code":0,"stage":"done","terminated":true,"fetched":["/got/1"],"seconds":65,"cost":"0.35","cost_at_most":"89.90","exit_code":125,"error":"job-2: out of stock"}
      {"id":"3f0c5d9e-1111-4222-8333-444455556666","name":"job-1","terminated":true,"fetched":["/got/1"],"cost":"0.35","cost_at_most":"89.90","phases":"phases","gpu":"gpu","error":null}
      {"id":null,"name":"job-2","terminated":false,"fetched":[],"cost":null,"cost_at_most":null,"phases":null,"gpu":null,"error":"out of stock"}
      | true: exit code 0
      | Fetched /got/1
      | Terminated job-1 after 1 min.
      | It cost 0.35 ₽: 12 s renting, 4 s copying, 3 min running (GPU busy 12 % on average, peak memory 3.1 of 24 GiB), 2 s fetching.
    one in doubt: outcomeUnknown: Could not terminate job-2.
      {"command_exit_code":0,"stage":"terminating","terminated":"unknown","fetched":["/got/1"],"seconds":65,"cost":null,"cost_at_most":null,"exit_code":7,"error":"Could not terminate job-2."}
      {"id":"3f0c5d9e-1111-4222-8333-444455556666","name":"job-1","terminated":true,"fetched":["/got/1"],"cost":"0.35","cost_at_most":"89.90","phases":"phases","gpu":"gpu","error":null}
      {"id":"3f0c5d9e-1111-4222-8333-444455557777","name":"job-2","terminated":"unknown","fetched":[],"cost":null,"cost_at_most":null,"phases":"phases","gpu":"gpu","error":"Could not terminate job-2."}
      | true: exit code 0
      | Fetched /got/1
      | Terminated job-1 after 1 min.
      | It cost 0.35 ₽: 12 s renting, 4 s copying, 3 min running (GPU busy 12 % on average, peak memory 3.1 of 24 GiB), 2 s fetching.
    nothing rented: refused: No money.
      {"command_exit_code":null,"stage":"renting","terminated":false,"fetched":[],"seconds":65,"cost":null,"cost_at_most":null,"exit_code":1,"error":"No money."}
      {"id":null,"name":"job-1","terminated":false,"fetched":[],"cost":null,"cost_at_most":null,"phases":null,"gpu":null,"error":null}
      {"id":null,"name":"job-2","terminated":false,"fetched":[],"cost":null,"cost_at_most":null,"phases":null,"gpu":null,"error":null}
      | 
    failed: runFailed: SSH is late.
      {"command_exit_code":null,"stage":"connecting","terminated":true,"fetched":["/got/2","/got/1"],"seconds":65,"cost":"0.80","cost_at_most":"179.80","exit_code":125,"error":"SSH is late."}
      {"id":"3f0c5d9e-1111-4222-8333-444455557777","name":"job-1","terminated":true,"fetched":["/got/2"],"cost":"0.45","cost_at_most":"89.90","phases":"phases","gpu":"gpu","error":null}
      {"id":"3f0c5d9e-1111-4222-8333-444455556666","name":"job-2","terminated":true,"fetched":["/got/1"],"cost":"0.35","cost_at_most":"89.90","phases":"phases","gpu":"gpu","error":null}
      | Fetched /got/2, /got/1
      | Terminated job-1 and job-2 after 1 min.
      | They cost 0.80 ₽: job-1 0.45 ₽, job-2 0.35 ₽."
  `);
});

/** The service proves a cost of 0.35 roubles. */
function prove(): void {
  const how = { id: 't', type: 'USAGE_CHARGE', status: 'COMPLETED', direction: 'OUTGOING' };
  renting.transactions = [{ ...how, amount: '0.350', created_at: AT }];
  const payloads = [
    { action: 'release', amount: '89.555' },
    { action: 'charge', amount: '0.35' },
    { action: 'reserve', amount: '89.905' },
  ];
  const about = { type: 'BILLING', message: 'Billing', created_at: AT };
  renting.events = () =>
    whole(payloads.map((payload, at) => ({ ...about, id: `e-${at}`, payload })));
}

const never = new AbortController().signal;
const aborted = (message: string) => AbortSignal.abort(failed('deadline', message));
const STOPS = { any: never, near: never, half: never, last: never, interrupt: never };
const NEAR = { any: aborted('At any.'), near: aborted('At near.'), last: aborted('At last.') };
const LATE = { stops: { ...STOPS, ...NEAR } };
const CTRL_C = { stops: { ...STOPS, interrupt: AbortSignal.abort(failed('interrupted')) } };
const UNSTARTED = { command_started_at: null };
const EXITED = { exit_code: 3, exited_at: AT, output_kept_at: AT };
const SETUP = { setup_exit_code: 4, exit_code: 125, ...UNSTARTED };
const WAIT = { target: { id: ID, name: 'box' }, until: 'ssh' } as Parameters<typeof withBill>[1];
const REFUSED = { failure: failed('wrongState', 'box is STOPPED.') };

const ENDS: readonly [what: string, record: object, job?: object, status?: string][] = [
  ['exited', EXITED],
  ['exited, with results', { ...EXITED, fetch: [{ remote: 'a', local: '/a', fetched_at: AT }] }],
  ['uncopied', { ...EXITED, output_kept_at: null }, { failure: failed('storage', 'Full.') }],
  ['lost', {}],
  ['running at the deadline', {}, { seen: { kind: 'running' } }],
  [
    'near the deadline',
    {},
    { seen: { kind: 'running' }, stops: { ...STOPS, half: LATE.stops.near } },
  ],
  ['never started', UNSTARTED],
  ['late', {}, LATE],
  ['late before the command', UNSTARTED, LATE],
  ['late with all results', EXITED, LATE],
  ['jobs stop', {}, { by: 'stop' }],
  ['jobs stop, failed', {}, { by: 'stop', failure: failed('storage', 'The disk is full.') }],
  ['reap of --here', { here: true }, { by: 'reap' }],
  ['setup', SETUP],
  ['setup, which may be kept', { ...SETUP, keep_on_failure: 0 }],
  ['setup near the deadline', SETUP, { isInterrupted: true, ...LATE }],
  ['setup of --on near the deadline', { ...SETUP, on: true }, { isInterrupted: true, ...LATE }],
  ['setup, interrupted', SETUP, { isInterrupted: true, ...CTRL_C }],
  ['setup, stopped', SETUP, { isStopAsked: () => true }],
  ['setup, stopped by this process', SETUP, { by: 'stop', isInterrupted: true }],
  ['setup, failed before jobs stop', SETUP, { by: 'stop' }],
  ['--on', { ...EXITED, on: true }],
  ['STOPPED', EXITED, REFUSED, 'STOPPED'],
  ['refused', EXITED, {}, 'REFUSED'],
  ['setup of --on', { ...SETUP, on: true }],
  ['--here at the deadline of another instance', { here: true }, { seen: { kind: 'running' } }],
  // The run sends one event for all.
  ['one of several of --here', { ...EXITED, here: true }, { together: { gates: {} } }],
  ['interrupted wait', UNSTARTED, { failure: withBill(failed('interrupted'), WAIT, 'ACTIVE') }],
];

test('stores and reports how jobs end', async () => {
  prove();
  const lines: string[] = [];
  const elsewhere = ENDS.slice(0, 4).concat(
    ENDS.filter(([what]) => /^(jobs stop|--on)/.test(what)),
  );
  for (const [at, [what, more, other, status = 'ACTIVE']] of [...ENDS, ...elsewhere].entries()) {
    const { context } = atTerminal(withoutLimits(world), []);
    const price = { price_per_hour_snapshot: '89.90', created_at: '2026-01-15T10:30:00.000Z' };
    const instance = renting.rent(ID, 'box', { status, ...price });
    renting.terminations =
      status === 'REFUSED' ? Array.from({ length: 9 }, () => () => no(403, 'Forbidden')) : [];
    const started_at = new Date(world.clock.now() - at * 1000).toISOString();
    const start = { id: ID, name: 'box', service: world.service.url };
    const phases = createPhases('box', context, true);
    phases.begin('fetching');
    const job = {
      record: jobRecord(start, { uid: `job-${at}`, started_at, ...more }),
      ...{ by: 'run', fetched: ['/got'], phases, stops: STOPS, isOutputWhole: false, instance },
      ...{
        isStopAsked: () => false,
        isInterrupted: false,
        seen: at < ENDS.length ? { kind: 'lost' } : { kind: 'gone', isOver: true },
        ...other,
      },
    } as unknown as Job;
    const end = await (at < ENDS.length
      ? endJob(job, { isAtDeadline: false }, context)
      : endedElsewhere(job, context));
    await saveEnd(job, end, context);
    const { error, ...rest } = end;
    const { ending_at, ended_at, reason, report } = job.record;
    const { exit_code, seconds, error: reported } = report ?? {};
    const stored = { ending_at, ended_at, reason, exit_code, seconds, reported };
    const { failure, message, hint, resource } = error ?? {};
    lines.push(
      `${at < ENDS.length ? '' : 'elsewhere, '}${what}: ${JSON.stringify({ ...rest, stored }, withoutPhases)}`,
      ...(error ? [`  ${failure} ${resource}: ${message} (${hint})`] : []),
      ...(await events()),
    );
  }
  expect(lines.join('\n').replaceAll(ID, 'ID')).toMatchInlineSnapshot(`
    "exited: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"done","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":3,"seconds":0,"reported":null}}
      job_ended ID box 3: The command on box exited with 3. Terminated box.
    exited, with results: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/a","/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"done","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":3,"seconds":1,"reported":null}}
      job_ended ID box 3: The command on box exited with 3. Terminated box.
    uncopied: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":2,"reported":"Full."}}
      runFailed undefined: Full. (undefined)
      job_ended ID box 3: Full. Terminated box.
    lost: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":"The command was killed together with its supervisor.","exit_code":125,"seconds":3,"reported":"The command was killed together with its supervisor."}}
      runFailed undefined: The command was killed together with its supervisor. (undefined)
      job_ended ID box null: The command was killed together with its supervisor. Terminated box.
    running at the deadline: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":"The command was still running at the deadline.","exit_code":125,"seconds":4,"reported":"The command was still running at the deadline."}}
      runFailed undefined: The command was still running at the deadline. (undefined)
      job_ended ID box null: The command was still running at the deadline. Terminated box.
    near the deadline: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":"The command did not exit after SIGINT, and the deadline is near.","exit_code":125,"seconds":5,"reported":"The command did not exit after SIGINT, and the deadline is near."}}
      runFailed undefined: The command did not exit after SIGINT, and the deadline is near. (undefined)
      job_ended ID box null: The command did not exit after SIGINT, and the deadline is near. Terminated box.
    never started: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":"The command was never started.","exit_code":125,"seconds":6,"reported":"The command was never started."}}
      runFailed undefined: The command was never started. (undefined)
      job_ended ID box null: The command was never started. Terminated box.
    late: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":"At last.","exit_code":125,"seconds":7,"reported":"At last."}}
      runFailed undefined: At last. (undefined)
      job_ended ID box null: At last. Terminated box.
    late before the command: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":"At any.","exit_code":125,"seconds":8,"reported":"At any."}}
      runFailed undefined: At any. (undefined)
      job_ended ID box null: At any. Terminated box.
    late with all results: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"done","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":3,"seconds":9,"reported":null}}
      job_ended ID box 3: The command on box exited with 3. Terminated box.
    jobs stop: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"done","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":10,"reported":null}}
      job_ended ID box null: The command on box disappeared without an exit code. Terminated box.
    jobs stop, failed: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":"The disk is full.","exit_code":125,"seconds":11,"reported":"The disk is full."}}
      runFailed undefined: The disk is full. (undefined)
      job_ended ID box null: The disk is full. Terminated box.
    reap of --here: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":"The run was killed.","exit_code":125,"seconds":12,"reported":"The run was killed."}}
      runFailed undefined: The run was killed. (undefined)
      job_ended ID box null: The run was killed. Terminated box.
    setup: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"setup","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":13,"reported":"The setup failed with exit code 4, so the command was not started."}}
      runFailed undefined: The setup failed with exit code 4, so the command was not started. (see its output: gpucloud﷐ jobs logs box --tail 10; to inspect the instance, add --keep-on-failure 1h)
      job_ended ID box null: The setup failed with exit code 4, so the command was not started. Terminated box.
    setup, which may be kept: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"setup","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":14,"reported":"The setup failed with exit code 4, so the command was not started."}}
      runFailed undefined: The setup failed with exit code 4, so the command was not started. (see its output: gpucloud﷐ jobs logs box --tail 10)
      job_ended ID box null: The setup failed with exit code 4, so the command was not started. Terminated box.
    setup near the deadline: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"setup","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":15,"reported":"The setup was stopped near box's deadline, so the command was not started."}}
      runFailed undefined: The setup was stopped near box's deadline, so the command was not started. (see its output: gpucloud﷐ jobs logs box --tail 10; to give it more time, use a longer --terminate-after)
      job_ended ID box null: The setup was stopped near box's deadline, so the command was not started. Terminated box.
    setup of --on near the deadline: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":null,"cost_at_most":null,"phases":"phases","gpu":null,"kept":null,"stage":"setup","terminated":false,"isOver":true,"stored":{"ending_at":null,"ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":16,"reported":"The setup was stopped near box's deadline, so the command was not started."}}
      runFailed ID: The setup was stopped near box's deadline, so the command was not started. (see its output: gpucloud﷐ jobs logs box --tail 10)
      job_ended ID box null: The setup was stopped near box's deadline, so the command was not started. Kept box: it bills.
    setup, interrupted: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"setup","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":130,"seconds":17,"reported":"Why."}}
      interrupted undefined: Why. (undefined)
      job_ended ID box null: Why. Terminated box.
    setup, stopped: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"setup","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":18,"reported":"gpucloud jobs stop stopped the setup, so the command was not started."}}
      runFailed undefined: gpucloud﷐ jobs stop stopped the setup, so the command was not started. (see its output: gpucloud﷐ jobs logs box --tail 10)
      job_ended ID box null: gpucloud jobs stop stopped the setup, so the command was not started. Terminated box.
    setup, stopped by this process: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"setup","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":19,"reported":"gpucloud jobs stop stopped the setup, so the command was not started."}}
      runFailed undefined: gpucloud﷐ jobs stop stopped the setup, so the command was not started. (see its output: gpucloud﷐ jobs logs box --tail 10)
      job_ended ID box null: gpucloud jobs stop stopped the setup, so the command was not started. Terminated box.
    setup, failed before jobs stop: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"setup","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":20,"reported":"The setup failed with exit code 4, so the command was not started."}}
      runFailed undefined: The setup failed with exit code 4, so the command was not started. (see its output: gpucloud﷐ jobs logs box --tail 10; to inspect the instance, add --keep-on-failure 1h)
      job_ended ID box null: The setup failed with exit code 4, so the command was not started. Terminated box.
    --on: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":null,"cost_at_most":null,"phases":"phases","gpu":null,"kept":null,"stage":"done","terminated":false,"isOver":true,"stored":{"ending_at":null,"ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":3,"seconds":21,"reported":null}}
      job_ended ID box 3: The command on box exited with 3. Kept box: it bills.
    STOPPED: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":22,"reported":"box was STOPPED, so nothing more was copied from it, and it was terminated."}}
      runFailed undefined: box was STOPPED, so nothing more was copied from it, and it was terminated. (undefined)
      job_ended ID box 3: box was STOPPED, so nothing more was copied from it, and it was terminated. Terminated box.
    refused: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":null,"cost_at_most":null,"phases":"phases","gpu":null,"kept":null,"stage":"terminating","terminated":"unknown","stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":null,"reason":null}}
      outcomeUnknown ID: Could not terminate box (ID): The service does not permit this request with the API key (403): Forbidden. It may still be billing. (gpucloud﷐ instances terminate box)
      terminate_failed ID box 3: Could not terminate box (ID): The service does not permit this request with the API key (403): Forbidden. It may still be billing.
    setup of --on: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":null,"cost_at_most":null,"phases":"phases","gpu":null,"kept":null,"stage":"setup","terminated":false,"isOver":true,"stored":{"ending_at":null,"ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":24,"reported":"The setup failed with exit code 4, so the command was not started."}}
      runFailed ID: The setup failed with exit code 4, so the command was not started. (see its output: gpucloud﷐ jobs logs box --tail 10)
      job_ended ID box null: The setup failed with exit code 4, so the command was not started. Kept box: it bills.
    --here at the deadline of another instance: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":"The command did not exit after SIGINT, and the deadline is near.","exit_code":125,"seconds":25,"reported":"The command did not exit after SIGINT, and the deadline is near."}}
      runFailed undefined: The command did not exit after SIGINT, and the deadline is near. (undefined)
      job_ended ID box null: The command did not exit after SIGINT, and the deadline is near. Terminated box.
    one of several of --here: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"done","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":3,"seconds":26,"reported":null}}
    interrupted wait: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"stored":{"ending_at":"2026-01-15T12:00:00.000Z","ended_at":"2026-01-15T12:00:00.000Z","reason":"Why.","exit_code":130,"seconds":27,"reported":"Why."}}
      interrupted undefined: Why. (undefined)
      job_ended ID box null: Why. Terminated box.
    elsewhere, exited: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"done","terminated":true,"isOver":true,"stored":{"ending_at":null,"ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":3,"seconds":28,"reported":null}}
      job_ended ID box 3: The command on box exited with 3. Terminated box.
    elsewhere, exited, with results: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/a","/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"done","terminated":true,"isOver":true,"stored":{"ending_at":null,"ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":3,"seconds":29,"reported":null}}
      job_ended ID box 3: The command on box exited with 3. Terminated box.
    elsewhere, uncopied: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"isOver":true,"stored":{"ending_at":null,"ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":30,"reported":"Full."}}
      runFailed ID: Full. (undefined)
      job_ended ID box 3: Full. Terminated box.
    elsewhere, lost: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"isOver":true,"stored":{"ending_at":null,"ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":31,"reported":null}}
      job_ended ID box null: The command on box disappeared without an exit code. Terminated box.
    elsewhere, jobs stop: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"isOver":true,"stored":{"ending_at":null,"ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":125,"seconds":32,"reported":null}}
      job_ended ID box null: The command on box disappeared without an exit code. Terminated box.
    elsewhere, jobs stop, failed: {"command_exit_code":null,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":"0.35","cost_at_most":"179.80","phases":"phases","gpu":null,"kept":null,"stage":"fetching","terminated":true,"isOver":true,"stored":{"ending_at":null,"ended_at":"2026-01-15T12:00:00.000Z","reason":"The disk is full.","exit_code":125,"seconds":33,"reported":null}}
      job_ended ID box null: The command on box disappeared without an exit code. Terminated box.
    elsewhere, --on: {"command_exit_code":3,"output_complete":false,"instance":{"id":"ID","name":"box"},"fetched":["/got"],"cost":null,"cost_at_most":null,"phases":"phases","gpu":null,"kept":null,"stage":"done","terminated":false,"isOver":true,"stored":{"ending_at":null,"ended_at":"2026-01-15T12:00:00.000Z","reason":null,"exit_code":3,"seconds":34,"reported":null}}
      job_ended ID box 3: The command on box exited with 3. Terminated box."
  `);
});

test('reports how jobs stop ends a job that it took over', async () => {
  const report = {
    ...{ command_exit_code: 3, stage: 'fetching', instance: { id: ID, name: 'other' } },
    ...{
      terminated: true,
      fetched: ['/r'],
      seconds: 9,
      exit_code: 125,
      error: 'Full.',
      ...NO_RECEIPT,
    },
  } as const;
  const ended = { ended_at: AT, exit_code: 3 };
  const rows: [string, object, boolean?][] = [
    ['with a report', { ...ended, report, reason: 'Near.' }],
    ['with a report without an error', { ...ended, report: { ...report, error: null } }],
    ['without a report', { ...ended, reason: 'Near.' }],
    ['without an exit code', { ended_at: AT, reason: 'Killed.', on: true }],
    ['not yet', {}],
    ['after Ctrl-C', {}, true],
  ];
  const of = async (name: string) => {
    const lines: string[] = [];
    for (const [at, [what, more, isPressed]] of rows.entries()) {
      const { context: plain, stderr } = atTerminal(world, []);
      const interrupts = { first: isPressed ? CTRL_C.stops.interrupt : never, second: never };
      const context = Object.assign(plain, { interrupts });
      const start = { id: ID, name, service: world.service.url };
      const record = jobRecord(start, { uid: `job-${at}`, ...more });
      await writeJob(record, context);
      const before = world.clock.slept.length;
      const phases = createPhases('box', context, true);
      const stops = isPressed ? CTRL_C.stops : STOPS;
      const job = { record, by: 'run', fetched: [], phases, stops, isOutputWhole: true };
      const { error, ...end } = await handedOver(job as unknown as Job, context);
      const { failure, message, hint, mayBeBilling } = error ?? {};
      lines.push(
        `${what}, after ${world.clock.slept.slice(before).length} s: ${JSON.stringify(end)}`,
        ...(error ? [`  ${failure} ${mayBeBilling}: ${message} (${hint})`] : []),
        `  ${stderr().trim()}`,
      );
    }
    return lines.join('\n').replaceAll('\ufdd0', '');
  };
  const text = await of('box');
  expect(await of(ODD)).toBe(ofOddName(text, 'box', ID));
  expect(text.replaceAll(ID, 'ID')).toMatchInlineSnapshot(`
    "with a report, after 0 s: {"command_exit_code":3,"stage":"fetching","instance":{"id":"ID","name":"other"},"terminated":true,"fetched":["/r"],"seconds":9,"cost":null,"cost_at_most":null,"phases":null,"gpu":null,"exit_code":125}
      runFailed false: Full. (undefined)
      gpucloud jobs stop box takes over. Waiting until it has ended the job.
    with a report without an error, after 0 s: {"command_exit_code":3,"stage":"fetching","instance":{"id":"ID","name":"other"},"terminated":true,"fetched":["/r"],"seconds":9,"cost":null,"cost_at_most":null,"phases":null,"gpu":null,"exit_code":125}
      gpucloud jobs stop box takes over. Waiting until it has ended the job.
    without a report, after 0 s: {"stage":"done","fetched":[],"cost":null,"cost_at_most":null,"phases":null,"gpu":null,"command_exit_code":3,"instance":{"id":"ID","name":"box"},"terminated":true}
      gpucloud jobs stop box takes over. Waiting until it has ended the job.
    without an exit code, after 0 s: {"stage":"done","fetched":[],"cost":null,"cost_at_most":null,"phases":null,"gpu":null,"command_exit_code":null,"instance":{"id":"ID","name":"box"},"terminated":false}
      runFailed true: Killed. (undefined)
      gpucloud jobs stop box takes over. Waiting until it has ended the job.
    not yet, after 15 s: {"command_exit_code":null,"output_complete":true,"instance":{"id":"ID","name":"box"},"fetched":[],"cost":null,"cost_at_most":null,"phases":{"renting":0,"copying":null,"setup":null,"running":null,"fetching":null},"gpu":null,"kept":null,"stage":"renting","terminated":"unknown"}
      outcomeUnknown true: gpucloud jobs stop box took over, but has not terminated box. It may still be billing. (finish the job: gpucloud jobs attach box; or terminate the instance: gpucloud instances terminate box)
      gpucloud jobs stop box takes over. Waiting until it has ended the job.
    after Ctrl-C, after 0 s: {"command_exit_code":null,"output_complete":true,"instance":{"id":"ID","name":"box"},"fetched":[],"cost":null,"cost_at_most":null,"phases":{"renting":0,"copying":null,"setup":null,"running":null,"fetching":null},"gpu":null,"kept":null,"stage":"renting","terminated":"unknown"}
      interrupted true: Stopped following box. Its command still runs, and the instance still bills. (continue: gpucloud jobs attach box; stop the job, fetch its output and terminate: gpucloud jobs stop box)
      gpucloud jobs stop box takes over. Waiting until it has ended the job."
  `);
});
