import { eachBounded, SSH_AT_ONCE } from '../../bounded.ts';
import type { Context } from '../../context.ts';
import { CliError, isInterrupt } from '../../errors.ts';
import type { JobDetails, JobRow } from '../../results/jobs.ts';
import { costAtMost } from '../end/cost.ts';
import { findJob } from '../record/find-job.ts';
import { type JobRecord, readJobs } from '../record/record.ts';
import { look, type Seen } from './look.ts';
import { sameSignIn } from './sign-in-of.ts';

/** Timeout for one instance, in milliseconds. */
const LOOK = 5_000;

/** Returns the account's jobs, newest first. Checks the instance of each job that has not ended. */
export async function jobRows(context: Context): Promise<JobRow[]> {
  return eachBounded(await readJobs(context), SSH_AT_ONCE, (job) => rowOf(job, context));
}

export async function jobDetails(typed: string, context: Context): Promise<JobDetails> {
  const job = await findJob(typed, context);
  return { ...(await rowOf(job, context)), report: job.report };
}

async function rowOf(job: JobRecord, context: Context): Promise<JobRow> {
  const { id, name, on, command, started_at, ended_at, report } = job;
  const fetched = [...(report?.fetched ?? [])];
  const given = { name, id, command: [...command], started_at, ended_at, fetched, on };
  if (ended_at !== null) {
    return {
      ...given,
      ...ended(job.exit_code),
      seconds: report?.seconds ?? secondsTo(Date.parse(ended_at), job),
      cost_at_most: report?.cost_at_most ?? null,
      ends_at: null,
    };
  }
  const seen = await look(job, sameSignIn(job), LOOK, context).catch((error: unknown) => {
    if (!(error instanceof CliError) || isInterrupt(error)) throw error;
    context.err.warn('connection', error.message);
    return undefined;
  });
  const known = await (await context.journal()).instance(id);
  return {
    ...given,
    ...stateOf(job, seen),
    seconds: secondsTo(context.clock.now(), job),
    cost_at_most: on ? null : costAtMost(seen?.instance, context.serviceClock.now()),
    ends_at: seen?.isOver === true ? null : (known?.deadline ?? null),
  };
}

function secondsTo(time: number, { started_at }: JobRecord): number {
  return Math.round((time - Date.parse(started_at)) / 1000);
}

function ended(exit_code: number | null): Pick<JobRow, 'status' | 'exit_code'> {
  return { status: exit_code === null ? 'LOST' : 'EXITED', exit_code };
}

function stateOf(job: JobRecord, seen: Seen | undefined): Pick<JobRow, 'status' | 'exit_code'> {
  // Keeps a stored exit code, since it never changes.
  if (job.exit_code !== null) return ended(job.exit_code);
  if (seen === undefined) return { status: 'UNREACHABLE', exit_code: null };
  if (seen.isOver || seen.state === 'lost') return ended(null);
  if (seen.state === 'exited') return ended(seen.exitCode ?? null);
  // The job's process is still copying files to the instance.
  return { status: 'RUNNING', exit_code: null };
}
