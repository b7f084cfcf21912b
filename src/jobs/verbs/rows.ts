import { eachBounded, SSH_AT_ONCE } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { CliError, failuresOf, isInterrupt } from '../../errors.ts';
import type { JobDetails, JobRow } from '../../json-results/jobs.ts';
import { costAtMost } from '../end/cost.ts';
import { findJob } from '../record/find-job.ts';
import { withJob } from '../record/lock.ts';
import { isRented, type JobRecord, readAllJobs, readJob } from '../record/record.ts';
import { adopt } from './adopt.ts';
import { look, type Seen } from './look.ts';
import { sameSignIn } from './sign-in-of.ts';

/** Timeout for one instance, in milliseconds. */
const LOOK = 5_000;

/**
 * Returns the account's jobs, newest first, and an error for each newer record. Checks the instance
 * of each job that has not ended.
 */
export async function jobRows(context: Context) {
  const { jobs, newer } = await readAllJobs(context);
  const rows = await eachBounded(jobs, SSH_AT_ONCE, async (job) =>
    rowOf(await adoptedIfLeft(job, context), context),
  );
  return { rows, newer };
}

export async function jobDetails(typed: string, context: Context): Promise<JobDetails> {
  const job = await adoptedIfLeft(await findJob(typed, context), context);
  return { ...(await rowOf(job, context)), reason: job.reason, report: job.report };
}

/** Finds the instance of a job whose process was killed while it rented. */
async function adoptedIfLeft(job: JobRecord, context: Context): Promise<JobRecord> {
  if (isRented(job) || job.ended_at !== null) return job;
  const found: JobRecord[] = [];
  const work = async () => {
    found.push(await adopt(await readJob(job.uid, context), context));
  };
  // Another process rents the instance, or the record can't be written.
  await failuresOf(withJob(job, context, work, 0));
  return found[0] ?? job;
}

async function rowOf(job: JobRecord, context: Context): Promise<JobRow> {
  const { id, name, on, command, started_at, ended_at, report } = job;
  const fetched = job.fetch.flatMap(({ local, fetched_at }) => (fetched_at === null ? [] : local));
  const given = {
    name,
    id,
    command: [...command],
    started_at,
    ended_at,
    fetched: [...(report?.fetched ?? fetched)],
    on,
    phase: phaseOf(job),
  };
  if (ended_at !== null) {
    return {
      ...given,
      ...overState(job),
      seconds: report?.seconds ?? secondsTo(Date.parse(ended_at), job),
      cost_at_most: report?.cost_at_most ?? null,
      ends_at: null,
    };
  }
  const seen = await seenNow(job, context);
  const { deadline = null } = id === null ? {} : await (await context.journal()).ends(id);
  return {
    ...given,
    ...stateNow(job, seen),
    seconds: secondsTo(context.clock.now(), job),
    cost_at_most: on ? null : costAtMost(seen?.instance, context.serviceClock.now()),
    ends_at: seen?.isOver === true ? null : deadline,
  };
}

async function seenNow(job: JobRecord, context: Context): Promise<Seen | undefined> {
  if (!isRented(job) || job.here) return undefined;
  return look(job, sameSignIn(job), LOOK, context).catch((error: unknown) => {
    if (!(error instanceof CliError) || isInterrupt(error)) throw error;
    context.err.warn('connection', error.message);
    return undefined;
  });
}

function secondsTo(time: number, { started_at }: JobRecord): number {
  return Math.round((time - Date.parse(started_at)) / 1000);
}

/** Returns the last phase that a job reached. */
function phaseOf(job: JobRecord): JobRow['phase'] {
  if (job.ended_at !== null && job.command_started_at !== null) return 'done';
  if (job.ending_at !== null && job.ended_at === null) return 'terminating';
  if (job.exit_code !== null) return 'fetching';
  if (job.command_started_at !== null) return 'running';
  if (job.signed_in_at !== null) return 'copying';
  return job.id === null ? 'renting' : 'starting';
}

type State = Pick<JobRow, 'status' | 'exit_code'>;

/** A command that was never started is not lost. */
function overState({ exit_code, command_started_at }: JobRecord): State {
  const isLost = exit_code === null && command_started_at !== null;
  return { status: isLost ? 'LOST' : 'EXITED', exit_code };
}

function stateNow(job: JobRecord, seen: Seen | undefined): State {
  // Keeps a stored exit code, since it never changes.
  if (job.exit_code !== null) return overState(job);
  const isLocal = job.here || !isRented(job);
  if (isLocal) return { status: job.lost_at === null ? 'RUNNING' : 'LOST', exit_code: null };
  if (seen === undefined) return { status: 'UNREACHABLE', exit_code: null };
  if (seen.isOver) return overState(job);
  if (seen.state === 'exited') return { status: 'EXITED', exit_code: seen.exitCode ?? null };
  // Before the start, the job's process may still copy files.
  const isLost =
    seen.state === 'lost' || (seen.state === 'none' && job.command_started_at !== null);
  return { status: isLost ? 'LOST' : 'RUNNING', exit_code: null };
}
