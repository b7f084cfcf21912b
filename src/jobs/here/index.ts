import type { Context } from '../../context.ts';
import { asCliError, doubt, isInterrupt, MAY_BILL } from '../../errors.ts';
import { planRental } from '../../instances/rent/planned.ts';
import { nothingCreated, runPreflight } from '../../instances/rent/preflight.ts';
import { inTemporaryFolder } from '../../system/temporary-folder.ts';
import type { Steps } from '../drive.ts';
import { createJob, driveJob, handedOver } from '../driver.ts';
import { type JobEnd, NO_RECEIPT } from '../end/report.ts';
import type { Job, JobPlan } from '../job.ts';
import { newRecord } from '../new-record.ts';
import { withJob } from '../record/lock.ts';
import type { Noted } from '../record/note.ts';
import { orAborted } from '../remote/within.ts';
import { endUnusable, type Rented, rentFor, saveUnrented, warnIfUnarmed } from '../rent.ts';
import { fetchInto } from '../targets.ts';
import { finishHere } from './report.ts';
import { HereRun } from './run.ts';
import { hereSteps } from './steps.ts';

/** Time for a command to exit after its instances were terminated, in milliseconds. */
const PATIENCE = 5_000;

/** Rents instances, runs the command on this computer, and always terminates all of them. */
export async function runHere(plan: JobPlan, context: Context): Promise<void> {
  const started_at = new Date(context.clock.now()).toISOString();
  await warnIfUnarmed(plan, context);
  await runPreflight(context, nothingCreated, () => planRental(plan.request, plan, context));
  // Create the temporary folder first: if that fails, nothing is rented.
  await inTemporaryFolder('gpucloud-here', async (folder) => {
    const jobs = await Promise.all(plan.names.map((name) => jobOf(name, plan, context)));
    const run = new HereRun(plan, folder, context);
    const said = new Set<string>();
    const ends = await Promise.all(
      jobs.map((job) => endOf(job, run, beside(job.record.name, said, context))),
    );
    const isLeft = ends.some(({ error }) => isInterrupt(error?.cause));
    await run.end(isLeft ? 0 : PATIENCE);
    await finishHere(run, ends, started_at, context);
  });
}

/** The run itself writes the report, since a member's report would have another shape. */
async function jobOf(name: string, plan: JobPlan, context: Context): Promise<Noted> {
  const sync = plan.files?.folder ?? null;
  const start = { id: null, name, on: false, here: true, sync, grace: 0 };
  const given = { ...plan, fetch: fetchInto(plan.fetch, name), report_file: null };
  return { record: await newRecord(given, start, context) };
}

/** Moves one member to its end. Never throws: its error must not leave the others alone. */
async function endOf(job: Noted, run: HereRun, context: Context): Promise<JobEnd> {
  const { name } = job.record;
  try {
    const moved = await withJob(job.record, context, () => move(job, run, context));
    if (!('stops' in moved)) return moved;
    const end = await handedOver(moved, context);
    if (end.error === undefined) run.faults.delete(name);
    return end;
  } catch (thrown) {
    const cause = asCliError(thrown);
    const { id } = job.record;
    run.fail(cause);
    const what = `Could not finish ${name}: ${cause.message} ${MAY_BILL}`;
    const rest = { command_exit_code: null, stage: run.stage, fetched: [], ...NO_RECEIPT };
    const error = doubt(what, { resource: id ?? name, cause });
    return { ...rest, instance: { id, name }, terminated: 'unknown', error };
  } finally {
    void run.pace.reach(name, 'over');
  }
}

/** Returns the job instead of its end if `jobs stop` takes over. The caller holds the job's lock. */
async function move(job: Noted, run: HereRun, context: Context): Promise<JobEnd | Job> {
  const { name } = job.record;
  // Requests go out once all locks are held, and each after its record is on disk: if this process
  // is killed, another one finds the jobs.
  await run.pace.reach(name, 'held');
  const plan = { ...run.plan, request: { ...run.plan.request, instance_name: name } };
  let rented: Rented;
  try {
    rented = await rentFor(job, plan, context, run.gates);
  } catch (thrown) {
    const error = asCliError(thrown);
    const all = run.rented(name, error);
    const end = await endUnusable(error, plan, context);
    await saveUnrented(end, job, context);
    await all;
    return end;
  }
  const { any } = rented.stops;
  // Other requests may be tried again for hours, and this instance ends at its deadline. Whatever
  // fails here, the instance must be driven to its end.
  await orAborted(run.rented(name), any).catch(() => undefined);
  const { isUnsaved } = job;
  const { how, toStart: command } = plan;
  const stops = { ...rented.stops, any: AbortSignal.any([any, run.needless]) };
  const given = { ...rented, isUnsaved, how, by: 'run', command, stops } as const;
  const member = await createJob({ ...given, together: run }, context);
  const around = (steps: Steps) => hereSteps(member, run, steps, context);
  const end = await driveJob(member, { around }, context);
  // Only a job that was handed over has no end here.
  if (end === undefined) return member;
  const isLeftOut = !run.ready.has(member);
  if (end.terminated !== 'unknown' || !isLeftOut || isInterrupt(end.error?.cause)) return end;
  await run.pace.reach(name, 'fetched');
  if (!run.isStarted) return end;
  // The command took a while, so the service may be able to terminate the instance now.
  return (await driveJob(member, { around }, context)) ?? end;
}

const NAMED: ReadonlySet<string> = new Set(['copy', 'connection']);

/**
 * Names the instance in messages about copies, and prints once what all members say: they share the
 * terminal.
 */
function beside(name: string, said: Set<string>, context: Context): Context {
  const { err } = context;
  const own: Context['err'] = {
    ...err,
    progress: () => ({ update: () => undefined, done: () => undefined }),
    warn: (code, text) => err.warn(code, NAMED.has(code) ? `${name}: ${text}` : text),
    note(text) {
      if (!said.has(text)) err.note(text);
      said.add(text);
    },
  };
  // Asks no questions, since prompts of parallel requests would mix.
  const prompts = { value: async () => undefined };
  return Object.create(context, { err: { value: own }, prompts });
}
