import type { Context } from '../context.ts';
import { CliError, failuresOf, throwAll, unforeseen } from '../errors.ts';
import { ownJournal } from '../instances/pending.ts';
import { findInstance } from '../instances/resolve.ts';
import type { View } from '../output/output.ts';
import type { HowToReach } from '../reach/reach.ts';
import { typedName } from '../rules/names.ts';
import { endInstance } from './end.ts';
import { type Ended, endJob, mayGoOn, runFailed } from './end-job.ts';
import { type Progressed, runOn } from './job.ts';
import { type JobInput, type JobPlan, rentFor } from './new-job.ts';
import { createPhases } from './phases.ts';
import { type JobRecord, readJob, removeJob, withJob, writeJob } from './record.ts';
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
  const { instance_name: name } = plan.request;
  const startedAt = context.clock.now();
  createPhases(name, context).begin('Renting');
  let rented: Rented;
  try {
    rented = await rentFor(plan, input, context);
  } catch (thrown) {
    const { id, error } = await endUnusable(thrown, name, context);
    const written: JobReport = {
      command_exit_code: null,
      stage: 'renting',
      instance: error.mayBeBilling || id !== undefined ? { id: id ?? null, name } : null,
      terminated: error.mayBeBilling ? 'unknown' : id !== undefined,
      fetched: [],
      seconds: Math.round((context.clock.now() - startedAt) / 1000),
      cost_at_most: null,
      exit_code: error.exitCode,
      error: error.message,
    };
    if (how.report !== undefined) await reported(how.report, written, context);
    throw error;
  }
  await withJob(rented.record, context, () => superviseJob(rented, how, context));
}

interface Unusable {
  /** Of an instance that was made. */
  readonly id: string | undefined;
  readonly error: CliError;
}

/**
 * Terminates an instance at once if the response shows that it was created, but is otherwise
 * unusable.
 */
async function endUnusable(thrown: unknown, name: string, context: Context): Promise<Unusable> {
  const error = thrown instanceof CliError ? thrown : unforeseen(thrown);
  const { mayBeBilling, resource, httpStatus = 0 } = error;
  if (!mayBeBilling || error.failure === 'outcomeUnknown') return { id: undefined, error };
  // An ID in a refusal may be that of somebody else's instance. Without any, the name stands there.
  const isMade = httpStatus < 400 && resource !== name;
  if (!isMade || resource === undefined) {
    const { message, hint } = error;
    const details = { hint, resource, mayBeBilling, cause: error };
    return { id: undefined, error: new CliError('outcomeUnknown', message, details) };
  }
  const shielded = context.shielded();
  try {
    const end = await endInstance({ id: resource, name }, shielded);
    const ended = end.certain ? runFailed(error) : mayGoOn({ id: resource, name }, end.error);
    return { id: resource, error: ended };
  } finally {
    await shielded.close();
  }
}

/** Resumes a job whose gpucloud ended first. */
export async function attachJob(typed: string, run: HowToRun, context: Context): Promise<void> {
  const target = await findInstance(typed, context);
  await withJob(target, context, async () => {
    const record = await readJob(target.id, context);
    const { options, words, user } = run.how;
    const how: HowToReach = {
      ...run.how,
      user: user ?? record.user ?? undefined,
      options: options.length > 0 ? options : record.ssh_options,
      words: words.length > 0 ? words : record.ssh_words,
    };
    await superviseJob({ record, deadline: undefined }, { ...run, how, isAttached: true }, context);
  });
}

interface Rented {
  readonly record: JobRecord;
  /** By the service's clock (ISO 8601), if it is known already. */
  readonly deadline: string | undefined;
}

/**
 * Runs the job on its instance, then terminates the instance, whatever happened. Throws CliError
 * 'outcomeUnknown' before any other if the instance may still run.
 */
async function superviseJob(
  { record, deadline }: Rented,
  { how, report, detach, isAttached = false }: HowToRun & { readonly isAttached?: boolean },
  context: Context,
): Promise<void> {
  const startedAt = Date.parse(record.started_at);
  const stops = createStops(deadlineOf(record, deadline, context), context);
  const phases = createPhases(record.name, context);
  const progress: Progressed = {
    stage: 'starting',
    exitCode: undefined,
    fetched: [],
    instance: undefined,
  };
  const identity = how.identity ?? record.identity ?? undefined;
  const job = { record, how: { ...how, identity }, stops, phases, detach };
  let failure: CliError | undefined;
  try {
    await writeJob(record, context);
    await runOn(job, progress, context);
  } catch (error) {
    failure = error instanceof CliError ? error : unforeseen(error);
  }
  stops.close();
  phases.clear();
  if (detach && failure === undefined) return noteStarted(record, deadline, context);
  const isStopped = stops.any.aborted;
  const unreached =
    isAttached && !isStopped && failure !== undefined && isOutOfReach(failure, progress)
      ? notReached(record, failure)
      : undefined;
  const ended: Ended =
    unreached === undefined
      ? await endJob(record, { failure, progress, isStopped }, context)
      : { terminated: 'unknown', cost: null, error: unreached };
  if (ended.error === undefined && ended.terminated === true) await removeJob(record.id, context);
  const isDone = failure === undefined && ended.terminated !== 'unknown';
  const isEnding = ended.terminated === 'unknown' && unreached === undefined;
  const written: JobReport = {
    command_exit_code: progress.exitCode ?? null,
    stage: isDone ? 'done' : isEnding ? 'terminating' : progress.stage,
    instance: { id: record.id, name: record.name },
    terminated: ended.terminated,
    fetched: progress.fetched,
    seconds: Math.round((context.clock.now() - startedAt) / 1000),
    cost_at_most: ended.cost,
    exit_code: ended.error?.exitCode ?? progress.exitCode ?? 0,
    error: ended.error?.message ?? null,
  };
  if (report !== undefined) await reported(report, written, context);
  const unread = await failuresOf(noteEnd(record, written, context));
  throwAll(ended.error === undefined ? unread : [ended.error]);
  context.endWith(written.exit_code);
}

/** Reads the deadline of a job again and again, since `expire` moves it. */
function deadlineOf({ id }: JobRecord, rentedWith: string | undefined, context: Context) {
  let last = rentedWith;
  let isStored = false;
  return async () => {
    const journal = await ownJournal(context);
    // A journal that can't be read now leaves the deadline as it was.
    const all = await journal.deadlines().catch(() => undefined);
    const stored = all?.find((one) => one.id === id);
    if (stored !== undefined) last = stored.deadline ?? last;
    else if (all !== undefined && isStored) last = undefined;
    isStored ||= stored !== undefined;
    return last;
  };
}

async function noteStarted(
  { id, name }: JobRecord,
  deadline: string | undefined,
  { out, err }: Context,
): Promise<void> {
  err.warn(
    'may_be_billing',
    `${name} bills until ${deadline ?? 'its deadline'}, also after its command has ended. To follow it to its end and terminate it: gpucloud run --attach ${typedName(name, id)}`,
  );
  await out.item({ id, name }, startedView);
}

const startedView: View<{ id: string; name: string }> = {
  columns: [
    { id: 'name', header: 'NAME', value: ({ name }) => name },
    { id: 'id', header: 'ID', value: ({ id }) => id },
  ],
  id: ({ id }) => id,
  empty: 'Nothing was started.',
};

/** Whether the command may go on although this computer can't see it. */
function isOutOfReach({ failure }: CliError, { stage }: Progressed): boolean {
  return (stage === 'starting' || stage === 'connecting') && failure !== 'otherEnd';
}

function notReached({ id, name }: JobRecord, cause: CliError): CliError {
  return new CliError(
    'outcomeUnknown',
    `${name} could not be reached, and its command may go on: ${cause.message} It may still be billing.`,
    {
      resource: id,
      mayBeBilling: true,
      hint: `try again: gpucloud run --attach ${typedName(name, id)}; or end it: gpucloud instances terminate ${typedName(name, id)}`,
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
