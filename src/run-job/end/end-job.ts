import type { Context } from '../../context.ts';
import { CliError, isInterrupt, unforeseen } from '../../errors.ts';
import { deadlineFrom, setDeadline } from '../../instances/deadlines/deadline.ts';
import { warnUnenforced } from '../../instances/deadlines/unenforced.ts';
import { ownJournal } from '../../instances/pending.ts';
import { minuteText } from '../../output/time.ts';
import { typedName } from '../../rules/names.ts';
import type { Job } from '../job.ts';
import type { JobEnd } from './report.ts';
import { costAtMost, terminate } from './terminate.ts';

/** Terminates the instance of a job, or keeps it after a failure if that was requested. */
export async function endJob(
  job: Job,
  failure: CliError | undefined,
  context: Context,
): Promise<JobEnd> {
  const { record, phases } = job;
  const end = { ...progressOf(job), error: failure && runFailed(failure) };
  const stage = failure === undefined ? 'done' : phases.current;
  const kept = keptFor(job, failure);
  if (kept !== null && (await keep(job, context))) {
    return { ...end, stage, terminated: false, kept };
  }
  phases.begin('terminating');
  const termination = await terminate(record, context);
  phases.clear();
  if (!termination.certain) {
    const { error } = termination;
    return { ...end, stage: 'terminating', terminated: 'unknown', error };
  }
  const cost_at_most = costAtMost(termination.instance ?? job.instance, context.serviceClock.now());
  return { ...end, stage, terminated: true, cost_at_most };
}

/** Leaves a job alone: its command may still run, or its results are still there. */
export function leaveJob(job: Job, cause: CliError): JobEnd {
  const error = isInterrupt(cause)
    ? interrupted(job, cause)
    : job.exitCode === undefined
      ? outOfReach(job, cause)
      : notCollected(job, cause);
  return { ...progressOf(job), stage: job.phases.current, terminated: 'unknown', error };
}

function notCollected({ record: { id, name } }: Job, cause: CliError): CliError {
  const typed = typedName(name, id);
  const end = /[.!?]$/.test(cause.message) ? '' : '.';
  return new CliError(
    'runFailed',
    `${name}: ${cause.message}${end} Its results are still there, and it bills until its deadline.`,
    {
      resource: id,
      mayBeBilling: true,
      hint: `repair that, then: gpucloud jobs attach ${typed}; to look: gpucloud instances ssh ${typed}`,
      cause,
    },
  );
}

function outOfReach({ record: { id, name } }: Job, cause: CliError): CliError {
  const typed = typedName(name, id);
  return new CliError(
    'outcomeUnknown',
    `Could not connect to ${name}, and its command may still run: ${cause.message} It may still be billing.`,
    {
      resource: id,
      mayBeBilling: true,
      hint: `try again: gpucloud jobs attach ${typed}; or terminate it: gpucloud instances terminate ${typed}`,
      cause,
    },
  );
}

function interrupted({ record: { id, name }, exitCode }: Job, cause: CliError): CliError {
  const typed = typedName(name, id);
  const what =
    exitCode === undefined ? 'Its command still runs' : `Its command ended with ${exitCode}`;
  return cause.with(`Stopped following ${name}. ${what}, and the instance bills.`, {
    resource: id,
    mayBeBilling: true,
    hint: `go on: gpucloud jobs attach ${typed}; stop it, fetch and terminate: gpucloud jobs stop ${typed}`,
  });
}

function progressOf({ record: { id, name }, exitCode, fetched }: Job) {
  const command_exit_code = exitCode ?? null;
  return {
    command_exit_code,
    instance: { id, name },
    fetched,
    cost_at_most: null,
    kept: null,
  };
}

/** Why the instance is kept, or null. Interrupts and deadlines end the run. */
function keptFor({ record, exitCode, stops, by }: Job, failure: CliError | undefined) {
  if (record.keep_on_failure === null || stops.any.aborted || by === 'stop') return null;
  return failure !== undefined || exitCode !== 0 ? 'command' : null;
}

/** Gives the instance its new deadline; false if that is not certain. */
function keep({ record }: Job, context: Context): Promise<boolean> {
  const { id, name, keep_on_failure } = record;
  return context.shielded(async (own) => {
    try {
      const journal = await ownJournal(own);
      const deadline = await deadlineFrom({ after: keep_on_failure ?? 0 }, own);
      await setDeadline({ id, name }, deadline, journal, own);
      await warnUnenforced(journal, own);
      const typed = typedName(name, id);
      own.err.warn(
        'may_be_billing',
        `Kept ${name}: it bills until ${minuteText(Date.parse(deadline))}. Connect: gpucloud instances ssh ${typed}. Terminate it: gpucloud instances terminate ${typed}`,
      );
      return true;
    } catch (error) {
      const { message } = error instanceof CliError ? error : unforeseen(error);
      own.err.warn('may_be_billing', `Could not keep ${name}: ${message}`);
      return false;
    }
  });
}

/** The reason, with the exit code of a run. An interrupt keeps its own. */
export function runFailed(failure: CliError): CliError {
  // The wait for SSH adds that the instance may still be billing, which has ended by now.
  if (failure.mayBeBilling && failure.cause instanceof CliError) return runFailed(failure.cause);
  if (isInterrupt(failure)) return failure;
  return new CliError('runFailed', failure.message, { hint: failure.hint, cause: failure });
}
