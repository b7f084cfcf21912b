import type { Context } from '../context.ts';
import {
  asCliError,
  CliError,
  doubt,
  failuresOf,
  isInterrupt,
  MAY_BILL,
  throwAll,
} from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { typedName } from '../rules/names.ts';
import { drive } from './drive.ts';
import { leftJob, runFailed, saveEnd } from './end/end-job.ts';
import { type JobEnd, NO_RECEIPT, reportOf } from './end/report.ts';
import { noteSmallerOffers } from './end/smaller-offers.ts';
import { noteEnd, noteStarted } from './end/summary.ts';
import type { Job } from './job.ts';
import { createPhases } from './phases.ts';
import { isFollowed } from './record/lock.ts';
import type { Noted } from './record/note.ts';
import { isCollected, type JobRecord, readEnded, stopAsked } from './record/record.ts';
import { type HowToDrive, stepsOf } from './steps.ts';
import { createStops } from './stops.ts';

interface Driven
  extends Pick<Job, 'record' | 'how' | 'by'>,
    Partial<Pick<Job, 'command' | 'early' | 'isUnsaved' | 'instance' | 'stops' | 'together'>> {
  /** The deadline by the service's clock (ISO 8601), if already known. */
  readonly deadline?: string | undefined;
  /** Milliseconds to continue after the deadline. */
  readonly after?: number;
}

export async function createJob(
  { record, how, by, stops, deadline, after, ...given }: Driven,
  context: Context,
): Promise<Job> {
  const { id, uid, name, grace } = record;
  const leaves = by !== 'run' && by !== 'detach';
  // `jobs stop` itself asks, and `reap` never waits.
  const heeds = !leaves || by === 'attach';
  const isStopAsked = heeds ? await stopAsked(uid, context, { isNew: leaves }) : () => false;
  const extra = {
    ...(after === undefined ? { triesLast: !record.here } : { after }),
    ...(leaves ? {} : { isAsked: isStopAsked }),
  };
  return {
    record,
    how,
    by,
    command: given.command,
    early: given.early,
    isUnsaved: given.isUnsaved,
    stops: stops ?? createStops({ id, deadline, grace, leaves, ...extra }, context),
    phases: createPhases(name, context, by === 'reap' || given.together !== undefined),
    together: given.together,
    there: undefined,
    received: undefined,
    isOutputWhole: true,
    fetched: [],
    isInterrupted: false,
    seen: { kind: 'absent' },
    failure: undefined,
    instance: given.instance,
    end: undefined,
    isStopAsked,
    isHandedOver: false,
  };
}

/**
 * Drives a job as far as this process can, and stores the outcome. Returns undefined if this process
 * only started the command, or if `reap` left the job unchanged. The caller holds the job's lock.
 */
export async function driveJob(
  job: Job,
  how: HowToDrive,
  context: Context,
): Promise<JobEnd | undefined> {
  const { by, stops, phases, record } = job;
  const own = stepsOf(job, how, context);
  const steps = how.around?.(own) ?? own;
  // Nothing starts an instance that was there before, or that runs the command: it may be stopped.
  if (record.on || record.command_started_at !== null)
    phases.begin('connecting', `to ${record.name}`);
  else phases.begin('starting');
  try {
    const finish = await drive(by, steps);
    job.isHandedOver = finish === 'handedOver';
    if (finish === 'left') return await leave(job, record.kept, context);
  } catch (error) {
    // A bug must not leave a rented instance without a process that ends it.
    job.failure = asCliError(error);
    if (record.on || (by !== 'run' && by !== 'detach')) throw job.failure;
    await steps.end(job.seen);
  } finally {
    stops.close();
    phases.clear();
  }
  return job.end;
}

/** `kept`: whether the instance was kept before this process. */
async function leave(
  job: Job,
  kept: JobRecord['kept'],
  context: Context,
): Promise<JobEnd | undefined> {
  const { by, seen, failure, record } = job;
  const done = await readEnded(record.uid, context);
  if (done !== undefined) return by === 'stop' ? undefined : endOf(done);
  if (by === 'detach' && seen.kind === 'running') return undefined;
  const isStuck = failure !== undefined && record.exit_code !== null && !isCollected(record);
  if (by === 'reap' && !isStuck && record.kept === kept) return undefined;
  const end = await leftJob(job, context, kept);
  await saveEnd(job, end, context);
  return end;
}

/** Returns the stored outcome of a job that another process has completed. */
function endOf({ id, name, on, exit_code, report, reason }: JobRecord): JobEnd {
  // A command that was interrupted near the deadline has both a reason and an exit code.
  const why = report?.error ?? (exit_code === null ? reason : null);
  const details = { resource: id ?? undefined, mayBeBilling: on };
  const error = why === null ? undefined : new CliError('runFailed', why, details);
  if (report !== null) return { ...report, error };
  const rest = { stage: 'done', fetched: [], ...NO_RECEIPT } as const;
  return { ...rest, command_exit_code: exit_code, instance: { id, name }, terminated: !on, error };
}

/** Milliseconds between two looks whether `jobs stop` has ended the job, and how many in vain. */
const [LOOK, IN_VAIN] = [1_000, 15];

/** Prints how `jobs stop` ends a job. The caller has released the job's lock. */
export async function printHandedOver(job: Job | undefined, context: Context): Promise<void> {
  if (job !== undefined) await printDriven(await handedOver(job, context), job, context);
}

/** Waits while `jobs stop` has the job. The caller has released the job's lock. */
export async function handedOver(job: Job, context: Context): Promise<JobEnd> {
  const { uid, id, name } = job.record;
  const { clock, err, interrupts } = context;
  const typed = typedName(name, id);
  err.note(`${gpucloud('jobs', 'stop', typed)} takes over. Waiting until it has ended the job.`);
  let done: JobRecord | undefined;
  for (let left = IN_VAIN; left > 0 && !interrupts.first.aborted; left -= 1) {
    if (await isFollowed(job.record, context)) left = IN_VAIN;
    done = await readEnded(uid, context);
    if (done !== undefined) break;
    // An interrupt ends the wait.
    await clock.sleep(LOOK, interrupts.first).catch(() => undefined);
  }
  if (done !== undefined) return endOf(done);
  const left = await leftJob(job, context);
  const error = isInterrupt(left.error) ? left.error : notStopped(job.record);
  return { ...left, terminated: 'unknown', error };
}

function notStopped({ id, name }: Job['record']): CliError {
  const typed = typedName(name, id);
  return doubt(
    `${gpucloud('jobs', 'stop', typed)} took over, but has not terminated ${name}. ${MAY_BILL}`,
    {
      resource: id,
      hint: `finish the job: ${gpucloud('jobs', 'attach', typed)}; or terminate the instance: ${gpucloud('instances', 'terminate', typed)}`,
    },
  );
}

/**
 * Drives a job, and exits with the exit code of its command or of the error. Returns a job that it
 * has handed over: the caller then releases the lock, and calls {@link printHandedOver}.
 */
export async function driveAndPrint(job: Job, context: Context): Promise<Job | undefined> {
  const end = await driveJob(job, {}, context);
  if (job.isHandedOver) return job;
  await (end === undefined ? noteStarted(job.record, context) : printDriven(end, job, context));
  return undefined;
}

async function printDriven(end: JobEnd, job: Job, context: Context): Promise<void> {
  // Only the reader is left to wait for.
  const unread = await failuresOf(job.received?.finish() ?? Promise.resolve());
  const { lost } = job.received?.output ?? {};
  if (lost !== undefined) unread.push(lost);
  await printEnd(end, job, context, unread.map(runFailed));
}

function noteBilling({ instance, terminated }: JobEnd, { err }: Context): void {
  if (instance?.id == null || terminated !== false) return;
  const { id, name } = instance;
  const command = gpucloud('instances', 'terminate', typedName(name, id));
  err.note(`${name} keeps running and billing. To terminate it: ${command}`);
}

/** Prints the outcome, and exits with the exit code of the command or the error. */
export async function printEnd(
  end: JobEnd,
  job: Pick<Noted, 'record'> & Partial<Pick<Job, 'by' | 'instance' | 'seen'>>,
  context: Context,
  unread: CliError[] = [],
): Promise<void> {
  const { record, by, instance, seen } = job;
  const report = reportOf(end, record.started_at, context);
  unread.push(...(await failuresOf(noteEnd(record.command, report, context))));
  if (end.terminated === true) await noteSmallerOffers(record, instance, context);
  if (record.on && end.isOver !== false && seen?.kind !== 'gone') noteBilling(end, context);
  // Stopping succeeds although the setup failed.
  const isFailure = end.error !== undefined && !(by === 'stop' && end.stage === 'setup');
  throwAll(isFailure ? [end.error] : unread);
  context.endWith(report.exit_code);
}
