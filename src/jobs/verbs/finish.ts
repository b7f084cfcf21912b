import { AT_ONCE, eachBounded } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { CliError, failuresOf } from '../../errors.ts';
import { billsUntil, readEnforcement } from '../../instances/deadlines/armed.ts';
import { notify } from '../../instances/deadlines/notify.ts';
import { named } from '../../instances/deadlines/reap.ts';
import type { Reaped } from '../../json-results/instances.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import { createJob, driveJob } from '../driver.ts';
import { isGone } from '../end/end-job.ts';
import type { JobEnd } from '../end/report.ts';
import type { Job } from '../job.ts';
import { setupOutput } from '../kept.ts';
import { Followed, withJob } from '../record/lock.ts';
import { note, timeNow } from '../record/note.ts';
import {
  isRented,
  type JobRecord,
  type RentedRecord,
  readAllJobs,
  readJob,
} from '../record/record.ts';
import { SignInRefused } from '../remote/failed-ssh.ts';
import { hintOf, needOf } from '../standing.ts';
import type { Situation } from '../state.ts';
import { lastTryFor } from '../stops.ts';
import { adopt } from './adopt.ts';
import { LAST_TRY } from './hand-over.ts';
import { sameSignIn } from './sign-in-of.ts';

interface Finished {
  readonly row?: Reaped;
  readonly error?: CliError | undefined;
}

interface Unfinished {
  readonly open: readonly JobRecord[];
  /** Milliseconds until the next run of `reap`; 0 if unknown. */
  readonly every: number;
}

/** Returns the account's jobs that have not ended, and an error for each newer record. */
export async function openJobs(context: Context) {
  const { jobs, newer } = await readAllJobs(context);
  return { open: jobs.filter(({ ended_at }) => ended_at === null), newer };
}

/**
 * Drives each job that no process follows, as far as `reap` may. One failure does not stop the
 * others.
 */
export async function finishJobs(
  { open, every }: Unfinished,
  context: Context,
  onFinished: (finished: Finished) => void,
): Promise<void> {
  await eachBounded(open, AT_ONCE, async (job) => {
    const held = async () =>
      onFinished(await finishOne(await readJob(job.uid, context), every, context));
    const finish = async () => {
      // A process whose computer slept past the deadline copies the results now.
      const isPast = isRented(job) && (await timeOf(job, every, context)).time === 'past';
      // Otherwise waits until the lock of a process that was killed a few seconds ago expires.
      const wait = isPast ? { patience: LAST_TRY } : { yields: true };
      await withJob(job, context, held, { ...wait, signal: context.signal });
    };
    const [error] = await failuresOf(finish());
    if (error === undefined || error instanceof Followed) return;
    context.signal.throwIfAborted();
    onFinished({ error });
  });
}

async function finishOne(found: JobRecord, every: number, context: Context): Promise<Finished> {
  const record = await adopt(found, context);
  if (record.ended_at !== null || !isRented(record)) return {};
  const { time, after } = await timeOf(record, every, context);
  const how = sameSignIn(record);
  const job = await createJob({ record, how, by: 'reap', after }, context);
  let lost: Finished | undefined;
  const reportLost = async () => {
    lost = await noteLost(job, context);
  };
  const end = await driveJob(job, { time, reportLost }, context);
  if (lost !== undefined) return lost;
  if (job.failure instanceof SignInRefused) {
    await note(job, { sign_in_refused: job.failure.message }, context);
    if (end === undefined) return refusedBy(job, job.failure, context);
  } else if (record.sign_in_refused != null && job.there !== undefined) {
    await note(job, { sign_in_refused: null }, context);
  }
  if (end === undefined) return {};
  await printSetupOutput(job.record, context);
  const row = await rowOf(job.record, outcomeOf(end, job), end.command_exit_code, context);
  const { error } = end;
  // That its instance ended elsewhere is not a failure of `reap`.
  return { row, error: isGone(job) ? undefined : error && named(error, job.record) };
}

/** Prints the end of a failed setup's output, since no terminal has shown it. */
async function printSetupOutput(record: RentedRecord, context: Context): Promise<void> {
  const print = async () => {
    const text = await setupOutput(record, context);
    if (text !== null) context.err.relay(`Last lines of the setup on ${record.name}:\n${text}`);
  };
  const [fault] = await failuresOf(print());
  if (fault !== undefined) context.err.warn('local_storage', fault.message);
}

/** Reports a refused sign-in at every pass, since the deadline would take the results. */
async function refusedBy(
  { record }: Job,
  { message }: SignInRefused,
  context: Context,
): Promise<Finished> {
  const { id, name } = record;
  const error = new CliError('runFailed', `Could not finish the job of ${name}: ${message}`, {
    resource: id,
    mayBeBilling: true,
    hint: `finish it where its key works: ${gpucloud('jobs', 'attach', typedName(name, id))}`,
  });
  return { row: await rowOf(record, 'refused', null, context), error };
}

function outcomeOf({ terminated, stage }: JobEnd, job: Job): Reaped['outcome'] {
  if (isGone(job)) return 'already_ended';
  if (terminated === true) return 'terminated';
  if (terminated === false) return 'kept';
  // At any other stage, nothing was sent to terminate the instance.
  return stage === 'terminating' ? 'unknown' : 'refused';
}

/**
 * Returns how long the instance has until its deadline, and how long after it results may be copied:
 * this computer may have slept past the deadline.
 */
export async function timeOf(
  { id, grace }: RentedRecord,
  every: number,
  context: Context,
): Promise<{ time: Situation['time']; after: number }> {
  const { deadline } = await (await context.journal()).ends(id);
  if (deadline == null) return { time: 'early', after: 0 };
  const left = Date.parse(deadline) - context.serviceClock.now();
  if (left <= 0) return { time: 'past', after: lastTryFor(grace) - left };
  // The next run would be too late to interrupt the command and fetch its results.
  return { time: grace > 0 && left <= grace + every ? 'near' : 'early', after: 0 };
}

/**
 * Reports a lost job once. Keeps its instance until the deadline, so that a person can inspect it.
 */
async function noteLost(job: Job, context: Context): Promise<Finished> {
  const { id, name, on, started_at } = job.record;
  await note(job, { lost_at: timeNow(context) }, context);
  const typed = typedName(name, id);
  const journal = await context.journal();
  const enforcement = await readEnforcement({ account: await journal.account() }, context);
  const { deadline } = await journal.ends(id);
  const bills = on
    ? ''
    : ` The instance ${billsUntil(deadline, enforcement, context.host.session)}.`;
  const need = needOf(job.record, 'lost');
  const error = new CliError('runFailed', `${need.problem?.what}.${bills}`, {
    resource: id,
    mayBeBilling: true,
    hint: `${hintOf(need)}; inspect: ${gpucloud('instances', 'ssh', typed)}`,
  });
  const { message } = error;
  await notify({ event: 'job_ended', id, name, message, exit_code: null }, started_at, context);
  return { row: await rowOf(job.record, 'lost', null, context), error };
}

async function rowOf(
  { id, name }: RentedRecord,
  outcome: Reaped['outcome'],
  exit_code: number | null,
  context: Context,
): Promise<Reaped> {
  const { deadline = null } = await (await context.journal()).ends(id);
  return { id, name, deadline, overdue_seconds: 0, outcome, reason: 'job', exit_code };
}
