import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { withBill } from '../../src/instances/change/outcome.ts';
import { leftJob } from '../../src/jobs/end/end-job.ts';
import type { Job } from '../../src/jobs/job.ts';
import type { RentedRecord } from '../../src/jobs/record/record.ts';
import { ODD, ofOddName } from './odd-name.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const RECORD = {
  id: ID,
  name: 'box',
  on: false,
  here: false,
  exit_code: null,
  setup_exit_code: null,
  command_started_at: '2026-01-15T12:00:00.000Z',
  lost_at: null,
  ended_at: null,
  kept: null,
  fetch: [{ remote: 'out', local: '/out', fetched_at: null }],
  keep_on_failure: null,
};

function jobWith(more: object, job: object = {}): Job {
  return {
    record: { ...RECORD, ...more },
    by: 'attach',
    fetched: [],
    phases: { current: 'running' },
    stops: { interrupt: new AbortController().signal },
    isStopAsked: () => false,
    ...job,
  } as unknown as Job;
}

const context = {
  shielded: async () => 'bills until you terminate it',
} as unknown as Context;

const interrupt = AbortSignal.abort(new CliError('interrupted', 'Interrupted.'));
const INTERRUPTED = { stops: { interrupt } };
const failed = (failure: CliError['failure']) => ({
  failure: new CliError(failure, 'It failed', { hint: 'mend it' }),
});
const MISSING = { uncopied: { why: 'reslts does not exist.', isMissing: true } };
const FAILED_SETUP = { setup_exit_code: 3, exit_code: 3, command_started_at: null };
const wait = { target: { id: ID, name: 'box' }, until: 'ssh' } as Parameters<typeof withBill>[1];
const late = new CliError('deadline', 'SSH did not respond within 5 min.');

const JOBS: readonly [how: string, record: object, job: object, before?: RentedRecord['kept']][] = [
  ['with a command that runs', {}, INTERRUPTED],
  ['with a command that exited', { exit_code: 3 }, INTERRUPTED],
  ['with a wrong path', { exit_code: 0, ...MISSING }, INTERRUPTED],
  ['before its command', { command_started_at: null }, INTERRUPTED],
  ['whose command is lost', { lost_at: '2026-01-15T13:00:00.000Z' }, INTERRUPTED],
  ['of --here', { here: true }, INTERRUPTED],
  ['of --on', { on: true }, INTERRUPTED],
  ['of --on that exited', { on: true, exit_code: 4 }, INTERRUPTED],
  ['of --on out of reach', { on: true }, failed('unreachable')],
  ['of --on with results', { on: true, exit_code: 3 }, failed('refused')],
  ['out of reach', {}, {}],
  ['out of reach after a wait', {}, { failure: withBill(late, wait, 'ACTIVE') }],
  ['out of reach, and STOPPED', {}, { instance: { status: 'STOPPED' } }],
  ['out of reach of jobs stop', {}, { by: 'stop', ...failed('unreachable') }],
  ['with results', { exit_code: 3 }, failed('storage')],
  ['with output', { exit_code: 3, fetch: [] }, failed('storage')],
  ['without results', { exit_code: 3 }, failed('notFound')],
  ['kept for a person', { exit_code: 3, kept: 'command' }, {}],
  [
    'kept for a person after its setup',
    { ...FAILED_SETUP, kept: 'command', keep_on_failure: 3_600_000 },
    {},
  ],
  ['kept for its results', { exit_code: 3, kept: 'results' }, failed('storage')],
  ['kept for its results again', { exit_code: 3, kept: 'results' }, failed('storage'), 'results'],
];

const textsOf = ({ message, hint }: Pick<CliError, 'message' | 'hint'>) =>
  [message, hint].map((text) => `  ${text?.replaceAll('\ufdd0', '')}`);

test('reports how a job stands that goes on', async () => {
  const lines: string[] = [];
  for (const [how, record, job, before] of JOBS) {
    const end = await leftJob(jobWith(record, job), context, before);
    const { terminated, stage, kept, command_exit_code, error } = end;
    lines.push(`a job ${how}: ${JSON.stringify({ terminated, stage, kept, command_exit_code })}`);
    if (error === undefined) continue;
    const { failure, mayBeBilling, resource } = error;
    lines.push(
      `  ${failure}${mayBeBilling ? ', bills' : ''}${resource === ID ? ', names its ID' : ''}`,
      ...textsOf(error),
    );
    const odd = await leftJob(jobWith({ ...record, name: ODD }, job), context, before);
    expect(textsOf(odd.error ?? error)).toEqual(
      textsOf(error).map((text) => ofOddName(text, 'box', ID)),
    );
  }
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "a job with a command that runs: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":null}
      interrupted, bills, names its ID
      Stopped following box. Its command still runs, and the instance still bills.
      continue: gpucloud jobs attach box; stop the job, fetch its results and terminate: gpucloud jobs stop box
    a job with a command that exited: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":3}
      interrupted, bills, names its ID
      Stopped following box. Its command exited with 3, and the instance still bills.
      copy the results and terminate box: gpucloud jobs attach box; stop paying: gpucloud jobs stop box
    a job with a wrong path: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":0}
      interrupted, bills, names its ID
      Stopped following box. Its command exited with 0, and the instance still bills.
      copy another path: gpucloud jobs attach box --fetch PATH; give the results up: gpucloud jobs stop box --no-fetch
    a job before its command: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":null}
      interrupted, bills, names its ID
      Stopped following box. Its command has not started, and the instance still bills.
      continue: gpucloud jobs attach box; stop the job, fetch its results and terminate: gpucloud jobs stop box
    a job whose command is lost: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":null}
      interrupted, bills, names its ID
      Stopped following box. Its command's exit code is unknown, and the instance still bills.
      copy its results and terminate box: gpucloud jobs stop box
    a job of --here: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":null}
      interrupted, bills, names its ID
      Stopped following box. Its command's exit code is unknown, and the instance still bills.
      continue: gpucloud jobs attach box; stop the job, fetch its results and terminate: gpucloud jobs stop box
    a job of --on: {"terminated":false,"stage":"running","kept":null,"command_exit_code":null}
      interrupted, bills, names its ID
      Stopped following box. Its command may still run.
      follow it again: gpucloud jobs attach box; stop it: gpucloud jobs stop box
    a job of --on that exited: {"terminated":false,"stage":"running","kept":null,"command_exit_code":4}
      interrupted, bills, names its ID
      Stopped following box. Its command exited with 4.
      follow it again: gpucloud jobs attach box; stop it: gpucloud jobs stop box
    a job of --on out of reach: {"terminated":false,"stage":"running","kept":null,"command_exit_code":null}
      runFailed, bills, names its ID
      box: It failed. Its command may still run.
      follow it again: gpucloud jobs attach box
    a job of --on with results: {"terminated":false,"stage":"running","kept":null,"command_exit_code":3}
      runFailed, bills, names its ID
      box: It failed. The instance still has its results.
      follow it again: gpucloud jobs attach box
    a job out of reach: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":null}
      outcomeUnknown, bills, names its ID
      Could not connect to box, and its command may still run: it did not respond. It may still be billing.
      try again: gpucloud jobs attach box; or terminate it: gpucloud instances terminate box
    a job out of reach after a wait: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":null}
      outcomeUnknown, bills, names its ID
      Could not connect to box, and its command may still run: SSH did not respond within 5 min. It may still be billing.
      try again: gpucloud jobs attach box; or terminate it: gpucloud instances terminate box
    a job out of reach, and STOPPED: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":null}
      outcomeUnknown, bills, names its ID
      box is STOPPED, so its command no longer runs. It may still be billing.
      reach the results (this bills): gpucloud instances start box --wait=ssh; give the results up: gpucloud instances terminate box
    a job out of reach of jobs stop: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":null}
      unreachable, bills, names its ID
      It failed
      mend it
    a job with results: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":3}
      runFailed, bills, names its ID
      box: It failed. The instance still has the results, and bills until you terminate it.
      fix the cause, then run: gpucloud jobs attach box; inspect the instance: gpucloud instances ssh box
    a job with output: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":3}
      runFailed, bills, names its ID
      box: It failed. The instance still has the output, and bills until you terminate it.
      fix the cause, then run: gpucloud jobs attach box; inspect the instance: gpucloud instances ssh box
    a job without results: {"terminated":"unknown","stage":"running","kept":null,"command_exit_code":3}
      runFailed, bills, names its ID
      box: It failed. The instance still has the results, and bills until you terminate it.
      see what is there: gpucloud instances ssh box -- ls gpucloud-run/work; copy it and terminate the instance: gpucloud jobs attach box --fetch PATH; give the results up: gpucloud jobs stop box --no-fetch
    a job kept for a person: {"terminated":false,"stage":"done","kept":"command","command_exit_code":3}
    a job kept for a person after its setup: {"terminated":false,"stage":"setup","kept":"command","command_exit_code":null}
      runFailed, bills, names its ID
      The setup failed with exit code 3, so the command was not started.
      see its output: gpucloud jobs logs box --tail 10
    a job kept for its results: {"terminated":false,"stage":"running","kept":"results","command_exit_code":3}
      runFailed, bills, names its ID
      It failed
      mend it
    a job kept for its results again: {"terminated":false,"stage":"running","kept":"results","command_exit_code":3}
      runFailed, bills, names its ID
      box: It failed. The instance still has the results, and bills until you terminate it.
      fix the cause, then run: gpucloud jobs attach box; inspect the instance: gpucloud instances ssh box"
  `);
});
