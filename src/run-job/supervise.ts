import type { Context } from '../context.ts';
import {
  CliError,
  type Failure,
  failuresOf,
  isInterrupt,
  throwAll,
  unforeseen,
} from '../errors.ts';
import { readEnforcement } from '../instances/deadlines/armed.ts';
import { endJob, leaveJob } from './end/end-job.ts';
import { endOn } from './end/end-on.ts';
import { notifyOfEnd } from './end/notify.ts';
import { type JobEnd, reportOf, writeReport } from './end/report.ts';
import { noteEnd, noteStarted } from './end/summary.ts';
import type { Job } from './job.ts';
import { LAST_TRY } from './jobs/hand-over.ts';
import { createPhases } from './phases.ts';
import { type JobRecord, readEnded, removeOldJobs, writeJob } from './record/record.ts';
import { createStops } from './stops.ts';

type Supervised = Pick<Job, 'record' | 'how' | 'by'> & {
  /** The deadline by the service's clock (ISO 8601), if already known. */
  readonly deadline?: string | undefined;
};

type Work = (job: Job) => Promise<void>;

/**
 * Supervises a job to its end and prints the outcome. If the instance may still run, throws
 * CliError('outcomeUnknown') rather than any other error.
 */
export async function supervise(given: Supervised, work: Work, context: Context): Promise<void> {
  const { record, end } = await superviseToEnd(given, work, context);
  if (end === undefined) return noteStarted(record, given.deadline, context);
  await print(end, record, context);
}

interface Supervision {
  /** The record as last stored. */
  readonly record: JobRecord;
  /** undefined if this process only started the command. */
  readonly end: JobEnd | undefined;
}

/**
 * Runs the stages of a job, then always terminates, keeps or leaves its instance, and stores the
 * report. The caller holds the job's lock, so only one process does this.
 */
export async function superviseToEnd(
  { record, how, by, deadline }: Supervised,
  work: Work,
  context: Context,
): Promise<Supervision> {
  const { id, name, grace } = record;
  const leaves = by !== 'run' && by !== 'detach';
  // The computer may have slept past the deadline.
  const lastTry = by === 'reap' ? LAST_TRY : undefined;
  const stops = createStops({ id, deadline, grace, leaves, lastTry }, context);
  const phases = createPhases(name, context, by === 'reap');
  const soFar = {
    exitCode: undefined,
    fetched: [],
    collection: 'none' as const,
    instance: undefined,
  };
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
  const elsewhere = await endedElsewhere(record, context);
  if (elsewhere !== undefined) return elsewhere;
  if (by === 'detach' && failure === undefined) return { record: job.record, end: undefined };
  // Stores the exit code first: after the termination, a later process could not read it.
  if (job.exitCode !== undefined) job.record = { ...job.record, exit_code: job.exitCode };
  // Ignores a full disk: the end of the job reports it.
  await failuresOf(writeJob(job.record, context));
  if (record.on) {
    const end = endOn(job, failure);
    await save(end, job.record, context);
    if (end.isOver) await notifyOfEnd(end, job.record.started_at, context);
    return { record: job.record, end };
  }
  if (failure !== undefined && (await mayLeave(job, failure, context))) {
    const left = await leaveJob(job, failure, context);
    await save(left, job.record, context);
    return { record: job.record, end: left };
  }
  const end = await endJob(job, failure, context);
  await save(end, job.record, context);
  await notifyOfEnd(end, job.record.started_at, context);
  return { record: job.record, end };
}

/** Returns the outcome if another process completed the job. */
async function endedElsewhere(job: JobRecord, context: Context): Promise<Supervision | undefined> {
  const record = await readEnded(job, context);
  if (record === undefined || record.report === null) return undefined;
  const { report } = record;
  const error = report.error === null ? undefined : new CliError('runFailed', report.error);
  return { record, end: { ...report, error } };
}

/** Failures that reveal nothing about a command started earlier. */
const UNKNOWN: readonly Failure[] = ['unreachable', 'refused', 'notUnderstood'];

/**
 * Whether a failure leaves the job running: only `run` and `stop` stop a command that may still
 * run.
 */
async function mayLeave(
  { by, phases, stops, record, exitCode, collection }: Job,
  failure: CliError,
  context: Context,
): Promise<boolean> {
  if (by === 'run' || by === 'detach') {
    // After a hang-up, `reap` finishes the job.
    const isStarted = phases.current === 'running' || phases.current === 'fetching';
    return failure.failure === 'hungUp' && isStarted && (await isReaped(context));
  }
  if (isInterrupt(failure)) return true;
  // A file missing on the instance can't be copied later. Other causes can be fixed before the next
  // run of `reap`.
  if (by === 'reap') {
    // Results are already copied, although the command ignored its interrupt.
    if (collection === 'done') return false;
    return !stops.last.aborted && (failure.failure !== 'notFound' || record.kept !== null);
  }
  const isBefore = phases.current === 'starting' || phases.current === 'connecting';
  // The command's state is unknown, for example after a new host key or garbled output.
  const isSilent = exitCode === undefined && collection === 'none';
  const isUnknown = isBefore || (isSilent && UNKNOWN.includes(failure.failure));
  return isUnknown && failure.failure !== 'otherEnd' && !stops.any.aborted;
}

/** Whether a later process finishes the job. */
function isReaped(context: Context): Promise<boolean> {
  return context.shielded(async (own) => {
    const account = await (await own.journal()).account();
    return (await readEnforcement({ account }, own)).job.isArmed;
  });
}

/** Stores and prints the end of a job that has no instance. */
export async function finishUnrented(
  end: JobEnd,
  job: Pick<JobRecord, 'command' | 'started_at' | 'report_file'>,
  context: Context,
): Promise<void> {
  await saveReport(end, job, context);
  await notifyOfEnd(end, job.started_at, context);
  await print(end, job, context);
}

/** Prints the outcome, and exits with the exit code of the command or the error. */
async function print(
  end: JobEnd,
  { command, started_at }: Pick<JobRecord, 'command' | 'started_at'>,
  context: Context,
): Promise<void> {
  const report = reportOf(end, started_at, context);
  const unread = await failuresOf(noteEnd(command, report, context));
  throwAll(end.error === undefined ? unread : [end.error]);
  context.endWith(report.exit_code);
}

/** Stores the outcome. A failed write doesn't affect the instance. */
async function save(end: JobEnd, job: JobRecord, context: Context): Promise<void> {
  const { command_exit_code: exit_code, terminated, kept = null } = end;
  const { isOver = terminated === true } = end;
  const ended_at = isOver ? new Date(context.clock.now()).toISOString() : null;
  const report = terminated !== 'unknown' ? reportOf(end, job.started_at, context) : job.report;
  const stored = writeJob({ ...job, exit_code, kept, ended_at, report }, context);
  const [fault] = await failuresOf(stored.then(() => removeOldJobs(context)));
  if (fault !== undefined) context.err.warn('local_storage', fault.message);
  await saveReport(end, job, context);
}

async function saveReport(
  end: JobEnd,
  { report_file, started_at }: Pick<JobRecord, 'report_file' | 'started_at'>,
  context: Context,
): Promise<void> {
  if (report_file === null) return;
  const [fault] = await failuresOf(writeReport(report_file, reportOf(end, started_at, context)));
  if (fault !== undefined) context.err.warn('local_storage', fault.message);
}
