import { AT_ONCE, eachBounded } from '../../bounded.ts';
import type { Context } from '../../context.ts';
import { CliError, failuresOf, isInterrupt } from '../../errors.ts';
import { billsUntil, readEnforcement } from '../../instances/deadlines/armed.ts';
import { notify } from '../../instances/deadlines/notify.ts';
import { gpucloud } from '../../output/shell-line.ts';
import type { HowToReach } from '../../reach/reach.ts';
import type { Reaped } from '../../results/instances.ts';
import { typedName } from '../../rules/names.ts';
import type { Job } from '../job.ts';
import { withJob } from '../record/lock.ts';
import { type JobRecord, readJob, readJobs, writeJob } from '../record/record.ts';
import { SignInRefused } from '../remote/failed-ssh.ts';
import { probe } from '../remote/probe.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { collect } from '../stages/collect.ts';
import { interruptCommand } from '../stages/follow-to-end.ts';
import { repeated } from '../stages/repeated.ts';
import { withoutExitCode } from '../stages/without-exit-code.ts';
import { superviseToEnd } from '../supervise.ts';
import { look, type Seen } from './look.ts';
import { sameSignIn } from './sign-in-of.ts';

/** Timeout for one instance, in milliseconds. */
const LOOK = 20_000;

interface Finished {
  readonly row?: Reaped;
  readonly error?: CliError | undefined;
}

interface Unfinished {
  readonly open: readonly JobRecord[];
  /** Milliseconds until the next run of `reap`; 0 if unknown. */
  readonly every: number;
}

/** Returns the account's jobs that have not ended. */
export async function openJobs(context: Context): Promise<JobRecord[]> {
  return (await readJobs(context)).filter(({ ended_at }) => ended_at === null);
}

/**
 * Completes each job whose command has exited and that no process follows: copies results, keeps
 * the output, reports, terminates. Leaves running and unreachable jobs to their deadline. One
 * failure does not stop the others.
 */
export async function finishJobs(
  { open, every }: Unfinished,
  context: Context,
  onFinished: (finished: Finished) => void,
): Promise<void> {
  await eachBounded(open, AT_ONCE, async (job) => {
    const held = async () =>
      onFinished(await finishOne(await readJob(job.id, context), every, context));
    const [error] = await failuresOf(withJob(job, context, held, 0));
    if (error === undefined) return;
    if (isInterrupt(error)) throw error;
    // Another process follows the job.
    if (error.failure !== 'wrongState') onFinished({ error });
  });
}

async function finishOne(stored: JobRecord, every: number, context: Context): Promise<Finished> {
  if (stored.ended_at !== null) return {};
  const job = { ...stored, sign_in_refused: null };
  const how = sameSignIn(job);
  const seen = await seenNow(job, how, context);
  if (seen instanceof SignInRefused) return noteRefused(job, seen, context);
  if (seen === undefined) return {};
  if (stored.sign_in_refused != null) await writeJob(job, context);
  if (seen.isOver) return noteOver(job, context);
  if (seen.state === 'lost' || seen.state === 'none') return noteLost(job, seen, context);
  // Skips a kept instance: a person will inspect it.
  if (job.kept === 'command') return {};
  if (seen.state === 'running' && !(await isNearDeadline(job, every, context))) return {};
  const work = async (held: Job) => {
    held.instance = seen.instance;
    held.exitCode = seen.exitCode ?? (await interruptedEnd(held, seen.shell, context));
    await collect(held, seen, undefined, context);
    if (held.exitCode === undefined) throw withoutExitCode(held.stops);
  };
  const { end } = await superviseToEnd({ record: job, how, by: 'reap' }, work, context);
  const outcome =
    end?.terminated === true ? 'terminated' : end?.terminated === false ? 'kept' : 'refused';
  const row = await rowOf(job, outcome, end?.command_exit_code ?? null, context);
  return { row, error: end?.error };
}

/**
 * Whether the next run of `reap` would be too late to interrupt the command and fetch its results.
 */
async function isNearDeadline(
  { id, grace }: JobRecord,
  every: number,
  context: Context,
): Promise<boolean> {
  const deadline = (await (await context.journal()).instance(id))?.deadline;
  if (deadline === undefined || grace === 0) return false;
  return Date.parse(deadline) - context.serviceClock.now() <= grace + every;
}

/** Milliseconds between two checks of a command, before and after SIGINT. */
const [BEFORE, AFTER] = [10_000, 2_000];

/**
 * Sends SIGINT once the deadline is near. Returns the exit code, or undefined if the command
 * doesn't exit in time.
 */
async function interruptedEnd(
  { stops }: Job,
  shell: RemoteShell,
  { clock }: Context,
): Promise<number | undefined> {
  let isInterrupted = false;
  /** Waits until the next stage begins, or the time has passed. */
  async function pauseUntil(next: AbortSignal, milliseconds: number): Promise<void> {
    const signal = AbortSignal.any([stops.last, next]);
    await clock.sleep(milliseconds, signal).catch(() => stops.last.throwIfAborted());
  }
  while (!stops.half.aborted) {
    if (stops.near.aborted && !isInterrupted) {
      await repeated(() => interruptCommand(shell, stops.last), stops.last, clock);
      isInterrupted = true;
    }
    const seen = await probe(shell, stops.last);
    if (typeof seen !== 'string' && seen.state !== 'running') return seen.exitCode;
    await pauseUntil(isInterrupted ? stops.half : stops.near, isInterrupted ? AFTER : BEFORE);
  }
  return undefined;
}

/** Returns undefined if the instance can't be reached now. */
async function seenNow(
  job: JobRecord,
  how: HowToReach,
  context: Context,
): Promise<Seen | SignInRefused | undefined> {
  try {
    return await look(job, how, LOOK, context);
  } catch (error) {
    if (!(error instanceof CliError) || isInterrupt(error)) throw error;
    if (error instanceof SignInRefused) return error;
    if (context.flags.debug === true) context.err.debug(error.message);
    return undefined;
  }
}

/** Reports a refused sign-in at every pass, since the deadline would take the results. */
async function noteRefused(
  job: JobRecord,
  { message }: SignInRefused,
  context: Context,
): Promise<Finished> {
  const { id, name, on } = job;
  const typed = typedName(name, id);
  const [unsaved] = await failuresOf(writeJob({ ...job, sign_in_refused: message }, context));
  if (unsaved !== undefined) context.err.warn('local_storage', unsaved.message);
  const error = new CliError('runFailed', `Could not finish the job of ${name}: ${message}`, {
    resource: id,
    mayBeBilling: !on,
    hint: `finish it where its key works: ${gpucloud('jobs', 'attach', typed)}`,
  });
  return { row: await rowOf(job, 'refused', null, context), error };
}

/** Records the end of a job whose instance was already terminated. */
async function noteOver(job: JobRecord, context: Context): Promise<Finished> {
  const ended_at = new Date(context.clock.now()).toISOString();
  await writeJob({ ...job, ended_at }, context);
  return {};
}

/**
 * Reports a lost job once. Keeps its instance until the deadline, so that a person can inspect it.
 */
async function noteLost(
  job: JobRecord,
  { state }: Extract<Seen, { isOver: false }>,
  context: Context,
): Promise<Finished> {
  const { id, name, on, lost_at } = job;
  if (lost_at !== null) return {};
  await writeJob({ ...job, lost_at: new Date(context.clock.now()).toISOString() }, context);
  const what =
    state === 'none'
      ? `The command on ${name} was never started`
      : `The command on ${name} disappeared without an exit code, perhaps after a restart`;
  const typed = typedName(name, id);
  const journal = await context.journal();
  const enforcement = await readEnforcement({ account: await journal.account() }, context);
  const { deadline } = (await journal.instance(id)) ?? {};
  const bills = on ? '' : ` The instance ${billsUntil(deadline, enforcement)}.`;
  const ends = on ? '' : ' and terminate';
  const error = new CliError('runFailed', `${what}.${bills}`, {
    resource: id,
    mayBeBilling: !on,
    hint: `fetch the results${ends}: ${gpucloud('jobs', 'stop', typed)}; inspect: ${gpucloud('instances', 'ssh', typed)}`,
  });
  const { message } = error;
  await notify({ event: 'job_ended', id, name, message, exit_code: null }, job.started_at, context);
  return { row: await rowOf(job, 'lost', null, context), error };
}

async function rowOf(
  { id, name }: JobRecord,
  outcome: Reaped['outcome'],
  exit_code: number | null,
  context: Context,
): Promise<Reaped> {
  const known = await (await context.journal()).instance(id);
  const deadline = known?.deadline ?? null;
  return { id, name, deadline, overdue_seconds: 0, outcome, reason: 'job', exit_code };
}
