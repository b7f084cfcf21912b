import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { withBill } from '../../src/instances/change/outcome.ts';
import { leftJob } from '../../src/jobs/end/end-job.ts';
import type { Job } from '../../src/jobs/job.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const RECORD = {
  id: ID,
  name: 'job',
  on: false,
  here: false,
  exit_code: null,
  setup_exit_code: null,
  command_started_at: '2026-01-15T12:00:00.000Z',
  lost_at: null,
  kept: null,
  fetch: [],
};

function jobWith(more: object, job: object = {}): Job {
  return {
    record: { ...RECORD, ...more },
    by: 'attach',
    fetched: [],
    phases: { current: 'running' },
    stops: { interrupt: new AbortController().signal },
    ...job,
  } as unknown as Job;
}

const context = {} as Context;

test.each([
  [{}, 'Its command still runs'],
  [{ exit_code: 3 }, 'Its command exited with 3'],
  [{ command_started_at: null }, 'Its command has not started'],
  [{ lost_at: '2026-01-15T13:00:00.000Z' }, "Its command's exit code is unknown"],
  [{ here: true }, "Its command's exit code is unknown"],
])('says how the command stands after Ctrl-C: %j', async (record, text) => {
  const interrupted = AbortSignal.abort(new CliError('interrupted', 'Interrupted.'));
  const job = jobWith(record, { stops: { interrupt: interrupted } });
  const { error } = await leftJob(job, context);
  expect(error?.message).toBe(`Stopped following job. ${text}, and the instance still bills.`);
});

test('says once that an instance out of reach may be billing', async () => {
  const wait = { target: { id: ID, name: 'job' }, until: 'ssh' } as Parameters<typeof withBill>[1];
  const late = new CliError('deadline', 'SSH did not respond within 5 min.');
  const failure = withBill(late, wait, 'ACTIVE');
  expect(failure.message).toContain('It is billing.');
  const { error } = await leftJob(jobWith({}, { failure }), context);
  expect(error?.message).toBe(
    'Could not connect to job, and its command may still run: SSH did not respond within 5 min. It may still be billing.',
  );
});
