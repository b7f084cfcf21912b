import { hasEnded } from '../../context/session.ts';
import type { Context } from '../../context.ts';
import { CliError, doubt, failuresOf, isInterrupt, MAY_BILL } from '../../errors.ts';
import { endOne } from '../../instances/change/ending.ts';
import { billsUntil, readEnforcement } from '../../instances/deadlines/armed.ts';
import { notify } from '../../instances/deadlines/notify.ts';
import { withStop } from '../../output/messages.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import type { Job } from '../job.ts';
import { note, timeNow } from '../record/note.ts';
import {
  copiedBack,
  hasFailedSetup,
  isCollected,
  type RentedRecord,
  removeOldJobs,
} from '../record/record.ts';
import { WORK } from '../remote/supervisor.ts';
import { missingPaths, rescueFirst } from '../rescue/pass.ts';
import { withoutExitCode } from '../stages/without-exit-code.ts';
import { copyWords, hintOf, needOf, standingOf } from '../standing.ts';
import { costAtMost } from './cost.ts';
import { notifyOfEnd } from './notify.ts';
import { costOf, phasesOf } from './receipt.ts';
import { type JobEnd, messageOf, reportOf, saveReport } from './report.ts';

/** Terminates the instance of a job, unless it existed before. */
export async function endJob(
  job: Job,
  { isAtDeadline }: { readonly isAtDeadline: boolean },
  context: Context,
): Promise<JobEnd> {
  const failure = failureOf(job);
  const stage = failure === undefined ? 'done' : stageOf(job);
  const progress = { ...progressOf(job), stage } as const;
  if (job.record.on) {
    const error = failure && stillBills(job, failure);
    return { ...progress, terminated: false, isOver: true, error };
  }
  const end = { ...progress, error: failure && runFailed(failure) };
  await note(job, { ending_at: timeNow(context) }, context);
  // A person who stops the job has asked for the end.
  const isByItself = isAtDeadline || hasEnded(context.host.session);
  const unrescued = isByItself && job.by !== 'stop' ? await rescueJob(job, context) : undefined;
  if (unrescued !== undefined) return { ...end, terminated: false, error: unrescued };
  job.phases.begin('terminating');
  const termination = await endOne(job.record, context, job.together?.gate);
  if (termination.kind !== 'ended') {
    job.phases.clear();
    const { error } = termination;
    return { ...end, stage: 'terminating', terminated: 'unknown', error };
  }
  const instance = termination.instance ?? job.instance;
  const cost_at_most = costAtMost(instance, context.serviceClock.now());
  job.phases.update('reading its cost');
  const cost = await costOf(instance, job.by, context, job.together?.gates.reading);
  job.phases.clear();
  const wasStopped = failure?.failure === 'wrongState' && job.instance?.status === 'STOPPED';
  const lost = `${job.record.name} was STOPPED, so nothing more was copied from it, and it was terminated.`;
  const error = wasStopped ? new CliError('runFailed', lost, { cause: failure }) : end.error;
  return { ...end, error, terminated: true, cost, cost_at_most };
}

/**
 * Copies the `--rescue` paths of a job's instance, and warns about what did not arrive. Returns an
 * error if the instance must not be terminated now: nothing decided that its budget is used up.
 */
async function rescueJob({ by, record }: Job, context: Context): Promise<CliError | undefined> {
  const { id, name } = record;
  const warn = (message: string) => context.err.warn('rescue_failed', message);
  const { host, interrupts, signal } = context;
  // The end of a session interrupts the command, but not this.
  const stop = hasEnded(host.session) ? interrupts.second : signal;
  const work = async (own: Context) => {
    stop.throwIfAborted();
    for (const { message } of await rescueFirst(record, own)) warn(message);
  };
  const [fault] = await failuresOf(context.shielded(work, stop));
  if (fault === undefined) return undefined;
  return context.shielded(async (own) => {
    const missing = await missingPaths(id, own);
    if (missing === undefined) return undefined;
    if (isInterrupt(fault) && (by === 'run' || by === 'detach')) {
      warn(`Interrupted, so ${name} is terminated before everything was copied (${missing}).`);
      return undefined;
    }
    const account = await (await own.journal()).account();
    const enforcement = await readEnforcement({ account }, own);
    const then = enforcement.rescue.isArmed
      ? '"instances reap" tries again, and then terminates it.'
      : `It ${billsUntil(null, enforcement, host.session)}.`;
    const typed = typedName(name, id);
    const message = `${name} was not terminated, since its --rescue paths are not copied (${missing}): ${withStop(fault.message)} ${then}`;
    const details = {
      resource: id,
      mayBeBilling: true,
      hint: `copy them: ${gpucloud('instances', 'rescue', typed)}; then terminate it: ${gpucloud('instances', 'terminate', typed)}`,
      cause: fault,
    };
    if (isInterrupt(fault)) return fault.with(message, details);
    const event = { event: 'rescue_failed', id, name, message, exit_code: null } as const;
    await notify(event, record.started_at, own);
    return doubt(message, details);
  });
}

/** Returns why a job failed; undefined if its command has exited and its results are here. */
function failureOf(job: Job): CliError | undefined {
  const { failure, record, stops, by } = job;
  if (failure !== undefined) return failure;
  if (hasFailedSetup(record)) return setupFailed(job);
  const isStarted = record.command_started_at !== null;
  const { reason }: { reason?: unknown } = isStarted ? stops.last : stops.any;
  const isDone = record.exit_code !== null;
  if (!(isDone && isCollected(record)) && reason instanceof CliError) return reason;
  return by === 'stop' || isDone ? undefined : withoutExitCode(job);
}

function stageOf({ record, phases }: Job): JobEnd['stage'] {
  return hasFailedSetup(record) ? 'setup' : phases.current;
}

/** Returns the error for a failed setup. An interrupted one has the exit code of the interrupt. */
function setupFailed({ record, by, stops, isInterrupted, isStopAsked }: Job): CliError {
  const { id, name, setup_exit_code, on, keep_on_failure } = record;
  const { reason }: { reason?: unknown } = stops.interrupt;
  if (isInterrupt(reason)) return reason;
  const logs = `see its output: ${gpucloud('jobs', 'logs', typedName(name, id), '--tail', '10')}`;
  const failed = (how: string, hint: string) =>
    new CliError('runFailed', `${how}, so the command was not started.`, { hint });
  if (isStopAsked() || (by === 'stop' && isInterrupted))
    return failed(`${gpucloud('jobs', 'stop')} stopped the setup`, logs);
  if (isInterrupted && stops.near.aborted) {
    const more = on ? '' : '; to give it more time, use a longer --terminate-after';
    return failed(`The setup was stopped near ${name}'s deadline`, `${logs}${more}`);
  }
  const how = `The setup failed with exit code ${setup_exit_code}`;
  const isKept = on || keep_on_failure !== null;
  return failed(how, isKept ? logs : `${logs}; to inspect the instance, add --keep-on-failure 1h`);
}

/** Whether the instance of a job has ended elsewhere. */
export function isGone({ seen }: Job): boolean {
  return seen.kind === 'gone' && seen.isOver;
}

/** Returns the end of a job whose instance has ended elsewhere. */
export async function endedElsewhere(job: Job, context: Context): Promise<JobEnd> {
  const { by, record, failure, phases } = job;
  const isDone = record.exit_code !== null && isCollected(record);
  const error = failure && runFailed(failure);
  const cost_at_most = record.on ? null : costAtMost(job.instance, context.serviceClock.now());
  const cost = record.on
    ? null
    : await costOf(job.instance, by, context, job.together?.gates.reading);
  return {
    ...progressOf(job),
    stage: isDone ? 'done' : phases.current,
    terminated: !record.on,
    isOver: true,
    cost,
    cost_at_most,
    error:
      isDone || by === 'stop' ? undefined : error?.with(error.message, { resource: record.id }),
  };
}

/**
 * Returns how a job stands that goes on without this process. `keptBefore`: whether another process
 * kept its instance, so that this one has not said what it bills.
 */
export async function leftJob(
  job: Job,
  context: Context,
  keptBefore: RentedRecord['kept'] = null,
): Promise<JobEnd> {
  const { by, record, stops } = job;
  const failure = hasFailedSetup(record) ? failureOf(job) : job.failure;
  const rest = { ...progressOf(job), stage: stageOf(job), kept: record.kept };
  if (record.kept !== null && !stops.interrupt.aborted) {
    const stage = failure === undefined ? ('done' as const) : stageOf(job);
    const isNews = keptBefore === 'results' && record.kept === 'results';
    const error =
      failure && (isNews ? await notCollected(job, failure, context) : stillBills(job, failure));
    return { ...rest, stage, terminated: false, error };
  }
  const { reason }: { reason?: unknown } = stops.interrupt;
  const cause = isInterrupt(reason)
    ? reason
    : (failure ?? new CliError('unreachable', 'it did not respond.'));
  if (record.on) return { ...rest, terminated: false, isOver: false, error: leftOn(job, cause) };
  const isOutOfReach = record.exit_code === null;
  const left = () => (isOutOfReach ? outOfReach(job, cause) : notCollected(job, cause, context));
  const isUnstopped = by === 'stop' && isOutOfReach;
  const error = isInterrupt(cause)
    ? interrupted(job, cause)
    : isUnstopped
      ? cause.with(cause.message, {
          resource: record.id,
          mayBeBilling: true,
          hint: hintIfStopped(job) ?? cause.hint,
        })
      : await left();
  return { ...rest, terminated: 'unknown', error };
}

/** Returns the error of a job whose instance keeps billing. */
function stillBills({ record: { id } }: Job, failure: CliError): CliError {
  const error = runFailed(failure);
  return error.with(error.message, { resource: id, mayBeBilling: true });
}

async function notCollected({ record }: Job, cause: CliError, context: Context): Promise<CliError> {
  const { id, name } = record;
  const bills = await billsText(id, context);
  const typed = typedName(name, id);
  const inspect = `inspect the instance: ${gpucloud('instances', 'ssh', typed)}`;
  return new CliError(
    'runFailed',
    `${name}: ${withStop(withoutBill(cause).message)} The instance still has the ${copiedBack(record)}, and ${bills}.`,
    {
      resource: id,
      mayBeBilling: true,
      hint:
        cause.failure === 'notFound'
          ? `${whereElse(typed)}; give the results up: ${gpucloud('jobs', 'stop', typed, '--no-fetch')}`
          : `fix the cause, then run: ${gpucloud('jobs', 'attach', typed)}; ${inspect}`,
      cause,
    },
  );
}

/**
 * Says how to copy results from another path than that of `--fetch`. `isFollowed`: whether a `run`
 * waits beside the instance, which no other process may then terminate.
 */
export function whereElse(typed: string, isFollowed = false): string {
  const look = gpucloud('instances', 'ssh', typed, '--', 'ls', WORK);
  const copy = gpucloud(...copyWords(typed, { isFollowed }));
  return `see what is there: ${look}; copy it${isFollowed ? '' : ' and terminate the instance'}: ${copy}`;
}

/** Returns `bills until 08:58`, as an interrupted process also must. */
export function billsText(id: string, context: Context): Promise<string> {
  return context.shielded(async (own) => {
    const journal = await own.journal();
    const account = await journal.account();
    const { deadline } = await journal.ends(id);
    return billsUntil(deadline, await readEnforcement({ account }, own), own.host.session);
  });
}

function outOfReach(job: Job, cause: CliError): CliError {
  const { id, name } = job.record;
  const typed = typedName(name, id);
  const ifStopped = hintIfStopped(job);
  const message =
    ifStopped === undefined
      ? `Could not connect to ${name}, and its command may still run: ${withStop(withoutBill(cause).message)}`
      : `${name} is STOPPED, so its command no longer runs.`;
  const again = `try again: ${gpucloud('jobs', 'attach', typed)}; or terminate it: ${gpucloud('instances', 'terminate', typed)}`;
  return doubt(`${message} ${MAY_BILL}`, { resource: id, hint: ifStopped ?? again, cause });
}

/** A new attempt would not reach a STOPPED instance. */
function hintIfStopped({ record, instance }: Job): string | undefined {
  return instance?.status === 'STOPPED' ? hintOf(needOf(record, 'stopped')) : undefined;
}

function interrupted({ record }: Job, cause: CliError): CliError {
  const { id, name } = record;
  const typed = typedName(name, id);
  const need = needOf(record, standingOf(record));
  const onward = `continue: ${gpucloud('jobs', 'attach', typed)}; stop the job, fetch its ${copiedBack(record)} and terminate: ${gpucloud('jobs', 'stop', typed)}`;
  return cause.with(
    `Stopped following ${name}. ${commandText(record)}, and the instance still bills.`,
    {
      resource: id,
      mayBeBilling: true,
      hint: need.problem === undefined ? onward : hintOf(need),
    },
  );
}

function commandText({ exit_code, command_started_at, lost_at, here }: RentedRecord): string {
  if (exit_code !== null) return `Its command exited with ${exit_code}`;
  if (command_started_at === null) return 'Its command has not started';
  // Nothing learns of the exit of a command of `--here` without its run.
  return lost_at !== null || here ? "Its command's exit code is unknown" : 'Its command still runs';
}

/**
 * Returns the error for a command of `--on` that may still run, or whose results are still on the
 * instance.
 */
function leftOn(job: Job, cause: CliError): CliError {
  const { id, name, exit_code } = job.record;
  const back = copiedBack(job.record);
  const typed = typedName(name, id);
  const ifStopped = hintIfStopped(job);
  const hint = ifStopped ?? `follow it again: ${gpucloud('jobs', 'attach', typed)}`;
  const runs = ifStopped === undefined ? 'Its command may still run' : 'Its command no longer runs';
  const state = exit_code === null ? runs : `Its command exited with ${exit_code}`;
  if (isInterrupt(cause)) {
    const message = `Stopped following ${name}. ${state}.`;
    const stop = `stop it: ${gpucloud('jobs', 'stop', typed)}`;
    return cause.with(message, { resource: id, mayBeBilling: true, hint: `${hint}; ${stop}` });
  }
  const rest = exit_code === null ? state : `The instance still has its ${back}`;
  return new CliError('runFailed', `${name}: ${withStop(withoutBill(cause).message)} ${rest}.`, {
    resource: id,
    mayBeBilling: true,
    hint,
    cause,
  });
}

function progressOf({ record, fetched, isOutputWhole }: Job) {
  const { id, name, fetch } = record;
  const before = fetch.flatMap(({ local, fetched_at }) => (fetched_at === null ? [] : local));
  return {
    command_exit_code: hasFailedSetup(record) ? null : record.exit_code,
    output_complete: isOutputWhole,
    instance: { id, name },
    fetched: [...new Set([...before, ...fetched])],
    cost: null,
    cost_at_most: null,
    phases: phasesOf(record),
    gpu: record.gpu,
    kept: null,
  };
}

/** Stores how a job stands, writes its report, and sends its event. */
export async function saveEnd(job: Job, end: JobEnd, context: Context): Promise<void> {
  job.end = end;
  const { terminated, error } = end;
  const { isOver = terminated === true } = end;
  const { record } = job;
  const report = reportOf(end, record.started_at, context);
  const why = messageOf(error ?? job.failure, context);
  await note(
    job,
    {
      ended_at: isOver ? timeNow(context) : null,
      report: terminated === 'unknown' ? record.report : report,
      reason: isOver && record.exit_code === null ? why : record.reason,
    },
    context,
  );
  const [fault] = await failuresOf(removeOldJobs(context));
  if (fault !== undefined) context.err.warn('local_storage', fault.message);
  // The run reports the ends of several instances together.
  if (job.together !== undefined) return;
  await saveReport(record.report_file, report, context);
  const isNews = isOver || (!record.on && (end.kept !== null || end.stage === 'terminating'));
  // The instance of `--on` is not kept if it has ended elsewhere.
  const shown = isGone(job) ? { ...end, terminated: true } : end;
  if (isNews) await notifyOfEnd(shown, record.started_at, context);
}

/** Returns the error with the exit code of a failed run. An interrupt keeps its own exit code. */
export function runFailed(thrown: CliError): CliError {
  const failure = withoutBill(thrown);
  if (isInterrupt(failure)) return failure;
  return new CliError('runFailed', failure.message, { hint: failure.hint, cause: failure });
}

/**
 * Removes the wait's warning that the instance may still be billing, since the run terminates the
 * instance.
 */
export function withoutBill(failure: CliError): CliError {
  const { mayBeBilling, cause } = failure;
  return mayBeBilling && cause instanceof CliError ? withoutBill(cause) : failure;
}
