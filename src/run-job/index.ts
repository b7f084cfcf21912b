import type { Context } from '../context.ts';
import { CliError, failuresOf, throwAll, unforeseen } from '../errors.ts';
import { findInstance } from '../instances/resolve.ts';
import type { HowToReach } from '../reach/reach.ts';
import { endJob, leaveJob } from './end-job.ts';
import type { Job, JobPlan } from './job.ts';
import { createPhases } from './phases.ts';
import { readJob, removeJob, withJob, writeJob } from './record.ts';
import { endUnusable, type Rented, rentFor } from './rent.ts';
import { type JobEnd, reportOf, writeReport } from './report.ts';
import { runOn } from './stages/index.ts';
import { createStops } from './stops.ts';
import { noteEnd, noteStarted } from './summary.ts';

/** Rents an instance and runs the job to its end. */
export async function runJob(plan: JobPlan, context: Context): Promise<void> {
  const started = context.clock.now();
  const { command, how, detach, report } = plan;
  const phases = createPhases(plan.request.instance_name, context);
  phases.begin('renting');
  let rented: Rented;
  try {
    rented = await rentFor(plan, context).finally(phases.clear);
  } catch (error) {
    return finish(await endUnusable(error, plan, context), { command, started, report }, context);
  }
  const job = { ...rented, how, detach, isAttached: false };
  await withJob(rented.record, context, () => supervise(job, report, context));
}

/** Resumes a job whose gpucloud ended first. */
export async function attachJob(
  typed: string,
  how: HowToReach,
  report: string | undefined,
  context: Context,
): Promise<void> {
  const target = await findInstance(typed, context);
  await withJob(target, context, async () => {
    const record = await readJob(target, context);
    const { options, words, user, identity } = how;
    const asBefore: HowToReach = {
      ...how,
      identity: identity ?? record.identity ?? undefined,
      user: user ?? record.user ?? undefined,
      options: options.length > 0 ? options : record.ssh_options,
      words: words.length > 0 ? words : record.ssh_words,
    };
    const job = { record, deadline: undefined, how: asBefore, detach: false, isAttached: true };
    await supervise(job, report, context);
  });
}

type Supervised = Rented & Pick<Job, 'how' | 'detach' | 'isAttached'>;

/**
 * Runs the job on its instance, then terminates the instance, whatever happened. Throws CliError
 * 'outcomeUnknown' before any other if the instance may still run.
 */
async function supervise(
  { record, deadline, how, detach, isAttached }: Supervised,
  report: string | undefined,
  context: Context,
): Promise<void> {
  const stops = createStops(record, deadline, context);
  const phases = createPhases(record.name, context);
  const soFar = { exitCode: undefined, fetched: [], instance: undefined };
  const job: Job = { record, how, stops, phases, detach, isAttached, ...soFar };
  let failure: CliError | undefined;
  phases.begin('starting');
  try {
    await writeJob(record, context);
    await runOn(job, context);
  } catch (error) {
    failure = error instanceof CliError ? error : unforeseen(error);
  }
  stops.close();
  phases.clear();
  if (detach && failure === undefined) return noteStarted(record, deadline, context);
  const end =
    isAttached && failure !== undefined && isOutOfReach(job, failure)
      ? leaveJob(job, failure)
      : await endJob(job, failure, context);
  if (end.error === undefined && end.terminated === true) await removeJob(record.id, context);
  const started = Date.parse(record.started_at);
  await finish(end, { command: record.command, started, report }, context);
}

/** Whether the command may still run although this computer can't connect to it. */
function isOutOfReach({ phases, stops }: Job, { failure }: CliError): boolean {
  const isBefore = phases.current === 'starting' || phases.current === 'connecting';
  return isBefore && failure !== 'otherEnd' && !stops.any.aborted;
}

interface Finished {
  readonly command: readonly string[];
  /** Milliseconds since 1970. */
  readonly started: number;
  /** The file of `--report`. */
  readonly report: string | undefined;
}

/** Reports the end of a job; the exit code is the command's, or the error's. */
async function finish(end: JobEnd, of: Finished, context: Context): Promise<void> {
  const report = reportOf(end, context.clock.now() - of.started);
  if (of.report !== undefined) {
    // A report that can't be written changes nothing about the instance.
    const [fault] = await failuresOf(writeReport(of.report, report));
    if (fault !== undefined) context.err.warn('local_storage', fault.message);
  }
  const unread = await failuresOf(noteEnd(of.command, report, context));
  throwAll(end.error === undefined ? unread : [end.error]);
  context.endWith(report.exit_code);
}
