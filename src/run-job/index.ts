import type { Context } from '../context.ts';
import { CliError, isInterrupt, unforeseen } from '../errors.ts';
import { deadlineFrom } from '../instances/deadlines/deadline.ts';
import { setDeadline } from '../instances/deadlines/expire.ts';
import { ownJournal } from '../instances/pending.ts';
import { findInstance, type Target } from '../instances/resolve.ts';
import type { HowToReach } from '../reach/reach.ts';
import { typedName } from '../rules/names.ts';
import { type FileList, listFiles } from './copy/files.ts';
import { costAtMost, endInstance } from './end.ts';
import { type Progressed, runOn } from './job.ts';
import { type JobInput, type JobPlan, rentFor } from './new-job.ts';
import { createPhases } from './phases.ts';
import { type JobRecord, readJob, removeJob, writeJob } from './record.ts';
import { type JobReport, writeReport } from './report.ts';
import { createStops } from './stops.ts';
import { noteEnd } from './summary.ts';

export interface HowToRun {
  readonly how: HowToReach;
  /** File of the report. */
  readonly report: string | undefined;
  readonly detach: boolean;
}

/** Rents an instance and runs the job to its end. */
export async function runJob(
  plan: JobPlan,
  input: JobInput,
  how: HowToRun,
  context: Context,
): Promise<void> {
  createPhases(plan.request.instance_name, context).begin('Renting');
  const rented = await rentFor(plan, input, context).catch((error: unknown) =>
    endUnusable(error, plan.request.instance_name, context),
  );
  await superviseJob(rented, async () => plan.files, how, context);
}

/**
 * Terminates an instance at once if the response shows that it was created, but is otherwise
 * unusable.
 */
async function endUnusable(error: unknown, name: string, context: Context): Promise<never> {
  const isMade =
    error instanceof CliError && error.mayBeBilling && error.failure !== 'outcomeUnknown';
  const id = isMade ? error.resource : undefined;
  if (!isMade || id === undefined) throw error;
  const shielded = context.shielded();
  try {
    const end = await endInstance({ id, name }, shielded);
    throw end.certain ? runFailed(error) : mayGoOn({ id, name }, end.error);
  } finally {
    await shielded.close();
  }
}

/** Resumes a job whose gpucloud ended first. */
export async function attachJob(typed: string, how: HowToRun, context: Context): Promise<void> {
  const { id } = await findInstance(typed, context);
  const record = await readJob(id, context);
  const journal = await ownJournal(context);
  const deadline = (await journal.deadlines()).find((one) => one.id === id)?.deadline;
  const { sync, exclude } = record;
  const files = async () => (sync === null ? undefined : listFiles(sync, exclude));
  await superviseJob({ record, deadline }, files, how, context);
}

interface Rented {
  readonly record: JobRecord;
  /** By the service's clock (ISO 8601). */
  readonly deadline: string | undefined;
}

/**
 * Runs the job on its instance, then terminates the instance, whatever happened. Throws CliError
 * 'outcomeUnknown' before any other if the instance may still run.
 */
async function superviseJob(
  { record, deadline }: Rented,
  files: () => Promise<FileList | undefined>,
  { how, report, detach }: HowToRun,
  context: Context,
): Promise<void> {
  const startedAt = Date.parse(record.started_at);
  const left = deadline && Date.parse(deadline) - context.serviceClock.now();
  const stops = createStops(left === '' ? undefined : left, context);
  const phases = createPhases(record.name, context);
  const progress: Progressed = {
    stage: 'starting',
    exitCode: undefined,
    fetched: [],
    instance: undefined,
  };
  const job = { record, files, how, stops, phases, detach };
  let failure: CliError | undefined;
  try {
    await writeJob(record, context);
    await runOn(job, progress, context);
  } catch (error) {
    failure = error instanceof CliError ? error : unforeseen(error);
  }
  stops.close();
  phases.clear();
  if (detach && failure === undefined) {
    context.err.note(`Started. To follow it to its end: gpucloud run --attach ${record.name}`);
    return;
  }
  const ended = await endJob(record, { failure, progress }, context);
  if (ended.error === undefined && ended.terminated === true) await removeJob(record.id, context);
  const stage = failure === undefined && ended.terminated !== 'unknown' ? 'done' : progress.stage;
  const written: JobReport = {
    command_exit_code: progress.exitCode ?? null,
    stage: ended.terminated === 'unknown' ? 'terminating' : stage,
    instance: { id: record.id, name: record.name },
    terminated: ended.terminated,
    fetched: progress.fetched,
    seconds: Math.round((context.clock.now() - startedAt) / 1000),
    cost_at_most: ended.cost,
    exit_code: ended.error?.exitCode ?? progress.exitCode ?? 0,
    error: ended.error?.message ?? null,
  };
  await noteEnd(record, written, context);
  if (report !== undefined) await reported(report, written, context);
  if (ended.error !== undefined) throw ended.error;
  context.endWith(written.exit_code);
}

interface Ended {
  readonly terminated: JobReport['terminated'];
  readonly cost: string | null;
  /** The error of the whole run; undefined for the command's own exit code. */
  readonly error: CliError | undefined;
}

interface SoFar {
  readonly failure: CliError | undefined;
  readonly progress: Progressed;
}

async function endJob(record: JobRecord, soFar: SoFar, context: Context): Promise<Ended> {
  const { failure, progress } = soFar;
  // The first Ctrl-C ended every request of the run's own context.
  const shielded = context.shielded();
  try {
    if (mayKeep(record, soFar) && (await keep(record, shielded))) {
      return { terminated: false, cost: null, error: failure && runFailed(failure) };
    }
    createPhases(record.name, context).begin('Terminating');
    const end = await endInstance(record, shielded);
    if (!end.certain) {
      return { terminated: 'unknown', cost: null, error: mayGoOn(record, end.error) };
    }
    const cost = costAtMost(end.instance ?? progress.instance, shielded.serviceClock.now());
    return { terminated: true, cost, error: failure && runFailed(failure) };
  } finally {
    await shielded.close();
  }
}

/** Interrupts and deadlines end the run. */
function mayKeep({ keep_on_failure }: JobRecord, { failure, progress }: SoFar): boolean {
  if (keep_on_failure === null || isInterrupt(failure) || failure?.failure === 'deadline') {
    return false;
  }
  return failure !== undefined || progress.exitCode !== 0;
}

/** Gives the instance its new deadline; false if that is not certain. */
async function keep({ id, name, keep_on_failure }: JobRecord, context: Context): Promise<boolean> {
  try {
    const journal = await ownJournal(context);
    const deadline = await deadlineFrom({ after: keep_on_failure ?? 0 }, context);
    await setDeadline({ id, name }, deadline, journal, context);
    context.err.warn(
      'may_be_billing',
      `Kept ${name}: it bills until ${deadline}. Look: gpucloud instances ssh ${typedName(name, id)}. End it: gpucloud instances terminate ${typedName(name, id)}`,
    );
    return true;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.err.warn('may_be_billing', `${name} could not be kept: ${error.message}`);
    return false;
  }
}

/** The reason, with the exit code of a run. An interrupt keeps its own. */
function runFailed(failure: CliError): CliError {
  if (isInterrupt(failure)) return failure;
  return new CliError('runFailed', failure.message, { hint: failure.hint, cause: failure });
}

function mayGoOn({ id, name }: Target, cause: CliError): CliError {
  return new CliError(
    'outcomeUnknown',
    `${name} (${id}) could not be terminated: ${cause.message} It may still be billing.`,
    {
      resource: id,
      mayBeBilling: true,
      hint: `gpucloud instances terminate ${typedName(name, id)}`,
      cause,
    },
  );
}

/** A report that can't be written changes nothing about the instance. */
async function reported(path: string, report: JobReport, { err }: Context): Promise<void> {
  try {
    await writeReport(path, report);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    err.warn('local_storage', error.message);
  }
}
