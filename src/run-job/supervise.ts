import type { Context } from '../context.ts';
import { CliError, failuresOf, isInterrupt, throwAll, unforeseen } from '../errors.ts';
import type { JobReport } from '../results/jobs.ts';
import { endJob, leaveJob } from './end/end-job.ts';
import { type JobEnd, reportOf, writeReport } from './end/report.ts';
import { noteEnd, noteStarted } from './end/summary.ts';
import type { Job } from './job.ts';
import { createPhases } from './phases.ts';
import { type JobRecord, removeOldJobs, writeJob } from './record/record.ts';
import { createStops } from './stops.ts';

type Supervised = Pick<Job, 'record' | 'how' | 'by'> & {
  /** By the service's clock (ISO 8601), if it is known already. */
  readonly deadline?: string | undefined;
};

/**
 * Does the work of a job, then ends it: terminates or keeps its instance, whatever happened, and
 * reports. The caller holds the job's lock, so a job ends once. Throws CliError 'outcomeUnknown' before
 * any other if the instance may still run.
 */
export async function supervise(
  { record, how, by, deadline }: Supervised,
  work: (job: Job) => Promise<void>,
  context: Context,
): Promise<void> {
  const { id, name } = record;
  const leaves = by !== 'run' && by !== 'detach';
  const stops = createStops({ id, deadline, leaves }, context);
  const phases = createPhases(name, context, by === 'reap');
  const soFar = { exitCode: undefined, fetched: [], isCollected: false, instance: undefined };
  const job: Job = { record, how, stops, phases, by, ...soFar };
  let failure: CliError | undefined;
  phases.begin('starting');
  try {
    await writeJob(record, context);
    await work(job);
  } catch (error) {
    failure = error instanceof CliError ? error : unforeseen(error);
  }
  stops.close();
  phases.clear();
  if (by === 'detach' && failure === undefined) return noteStarted(record, deadline, context);
  const end =
    failure !== undefined && mayLeave(job, failure)
      ? leaveJob(job, failure)
      : await endJob(job, failure, context);
  await finish(end, job.record, context);
}

/** Whether a failure leaves the job alone: only `run` and `stop` end a command that may still run. */
function mayLeave({ by, phases, stops }: Job, failure: CliError): boolean {
  if (by === 'run' || by === 'detach') return false;
  if (isInterrupt(failure)) return true;
  if (by === 'reap') return true;
  const isBefore = phases.current === 'starting' || phases.current === 'connecting';
  return isBefore && failure.failure !== 'otherEnd' && !stops.any.aborted;
}

/** Of a job without an instance, only what its report needs. */
type Finished = JobRecord | Pick<JobRecord, 'command' | 'started_at' | 'report_file'>;

/** Reports the end of a job; the exit code is the command's, or the error's. */
export async function finish(end: JobEnd, job: Finished, context: Context): Promise<void> {
  const report = reportOf(end, context.clock.now() - Date.parse(job.started_at));
  // A file that can't be written changes nothing about the instance.
  const [fault] = await failuresOf(save(end, report, job, context));
  if (fault !== undefined) context.err.warn('local_storage', fault.message);
  const unread = await failuresOf(noteEnd(job.command, report, context));
  throwAll(end.error === undefined ? unread : [end.error]);
  context.endWith(report.exit_code);
}

async function save(
  { command_exit_code: exit_code, terminated, kept = null }: JobEnd,
  report: JobReport,
  job: Finished,
  context: Context,
): Promise<void> {
  if ('id' in job) {
    const ended_at = terminated === true ? new Date(context.clock.now()).toISOString() : null;
    const isOver = ended_at !== null || kept !== null;
    const stored = { exit_code, kept, ended_at, report: isOver ? report : job.report };
    await writeJob({ ...job, ...stored }, context);
    await removeOldJobs(context);
  }
  if (job.report_file !== null) await writeReport(job.report_file, report);
}
