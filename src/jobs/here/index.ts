import { sentence } from '../../api/errors.ts';
import type { Context } from '../../context.ts';
import { CliError, unforeseen } from '../../errors.ts';
import { endEach } from '../../instances/change/ending.ts';
import { shellLine } from '../../output/shell-line.ts';
import { clamp } from '../../output/width.ts';
import { inTemporaryFolder } from '../../system/temporary-folder.ts';
import { withoutBill } from '../end/end-job.ts';
import type { JobPlan } from '../job.ts';
import { newRecord } from '../new-record.ts';
import { createPhases, filesText, namesText } from '../phases.ts';
import { withJob } from '../record/lock.ts';
import { type Noted, note, timeNow } from '../record/note.ts';
import { writeJob } from '../record/record.ts';
import { warnIfUnarmed } from '../rent.ts';
import { withoutExitCode } from '../stages/without-exit-code.ts';
import type { Stops } from '../stops.ts';
import { endHere } from './end.ts';
import { writeInventories } from './inventories.ts';
import { startHere } from './local-command.ts';
import {
  createMember,
  fetchFrom,
  fetchInto,
  type HereRun,
  type Member,
  prepare,
} from './member.ts';
import { endFailed, rentEach } from './rent.ts';

/** Rents instances, runs the command on this computer, and always terminates all of them. */
export async function runHere(plan: JobPlan, context: Context): Promise<void> {
  const run: HereRun = {
    started_at: new Date(context.clock.now()).toISOString(),
    phases: createPhases(namesText(plan.names), context),
    members: [],
    notRented: [],
    command: undefined,
    exitCode: undefined,
    failure: undefined,
  };
  await warnIfUnarmed(plan, context);
  const sync = plan.files?.folder ?? null;
  const jobs = await Promise.all(
    plan.names.map(async (name): Promise<Noted> => {
      const given = { ...plan, fetch: fetchInto(plan.fetch, name) };
      const start = { id: null, name, on: false, here: true, sync, grace: 0 };
      return { record: await newRecord(given, start, context), isUnsaved: false };
    }),
  );
  await withJobs(jobs, context, async () => {
    // On disk before the requests: if this process is killed, another one finds the jobs.
    for (const { record } of jobs) await writeJob(record, context);
    try {
      // Create the temporary folder first: if that fails, nothing is rented.
      await inTemporaryFolder('gpucloud-here', async (folder) => {
        await rentAll(run, jobs, plan, context);
        await work(run, plan, folder, context);
      });
    } catch (error) {
      run.failure = error instanceof CliError ? error : unforeseen(error);
    }
    for (const { job } of run.members) job.stops.close();
    run.phases.clear();
    await endHere(run, plan, context);
  });
}

/** Holds the locks of all jobs. */
function withJobs(
  [first, ...others]: readonly Noted[],
  context: Context,
  work: () => Promise<void>,
): Promise<void> {
  if (first === undefined) return work();
  return withJob(first.record, context, () => withJobs(others, context, work));
}

async function rentAll(
  run: HereRun,
  jobs: readonly Noted[],
  plan: JobPlan,
  context: Context,
): Promise<void> {
  run.phases.begin('renting');
  const { rented, failed } = await rentEach(jobs, plan, context).finally(run.phases.clear);
  run.members = await Promise.all(rented.map((one) => createMember(one, plan, context)));
  const notRented = await endFailed(failed, plan, context);
  run.notRented = notRented;
  context.signal.throwIfAborted();
  const [first] = notRented;
  if (first === undefined) return;
  const isEnough = rented.length >= leastOf(plan);
  for (const { job, error } of isEnough ? notRented : notRented.slice(1)) {
    context.err.warn('incomplete', `Could not rent ${job.record.name}: ${error.message}`);
  }
  if (isEnough) return;
  const { job, error } = first;
  const message = plan.names.length === 1 ? error.message : `${job.record.name}: ${error.message}`;
  throw fewerThanLeast('rented', error.with(message), plan);
}

function leastOf({ names, here }: JobPlan): number {
  return here?.minCount ?? names.length;
}

function fewerThanLeast(done: string, first: CliError, { here }: JobPlan): CliError {
  if (here?.minCount === undefined) return first;
  return first.with(
    `Fewer than ${here.minCount} instances (--min-count) could be ${done}. ${first.message}`,
  );
}

async function work(run: HereRun, plan: JobPlan, folder: string, context: Context): Promise<void> {
  const ready = await prepareAll(run, plan, context);
  const stops = jointStops(ready);
  const instances = ready.flatMap(({ job }) => job.instance ?? []);
  const what = namesText(ready.map(({ job }) => job.record.name));
  const variables = await writeInventories(folder, instances, plan.how, context);
  run.phases.begin('running', clamp(shellLine(plan.command, 'linux'), 50));
  // Clears the progress line, since the command writes to the same terminal.
  run.phases.clear();
  for (const { job } of ready) await note(job, { command_started_at: timeNow(context) }, context);
  run.command = await startHere(plan.toStart, variables, what, stops, context);
  const code = await run.command.ended;
  run.exitCode = code;
  const exited = code === undefined ? {} : { exit_code: code, exited_at: timeNow(context) };
  for (const { job } of ready) await note(job, exited, context);
  await fetchAll(run, ready, what, stops, context);
  if (run.exitCode === undefined) throw withoutExitCode(stops);
}

/** Returns the usable instances. Throws if there are too few. */
async function prepareAll(run: HereRun, plan: JobPlan, context: Context): Promise<Member[]> {
  const { members, phases } = run;
  const copying =
    plan.files === undefined ? '' : `, copying ${filesText(plan.files)} to each instance`;
  phases.begin('starting', `${namesText(members.map(({ job }) => job.record.name))}${copying}`);
  let ready = 0;
  let tooFew: CliError | undefined;
  await Promise.all(
    members.map(async (member) => {
      try {
        await prepare(member, context);
        ready += 1;
        phases.update(`${ready} of ${members.length} ready`);
      } catch (error) {
        context.signal.throwIfAborted();
        if (tooFew !== undefined) return;
        member.fault = named(member, error instanceof CliError ? error : unforeseen(error));
        const usable = members.filter(({ fault }) => fault === undefined);
        if (usable.length >= leastOf(plan)) return;
        tooFew = fewerThanLeast('prepared', member.fault, plan);
        // Aborts at the first failure, since the others would bill while they start.
        for (const { giveUp } of usable) giveUp(tooFew);
      }
    }),
  );
  phases.clear();
  if (tooFew !== undefined) throw tooFew;
  await leaveOut(members, context);
  return members.filter(({ fault }) => fault === undefined);
}

function named({ job }: Member, thrown: CliError): CliError {
  const { name } = job.record;
  const fault = withoutBill(thrown);
  return fault.message.includes(name) ? fault : fault.with(`${name}: ${fault.message}`);
}

/** Terminates unusable instances. If that fails, the run tries again before it exits. */
async function leaveOut(members: readonly Member[], context: Context): Promise<void> {
  const left = members.filter(({ fault }) => fault !== undefined);
  for (const { job, fault } of left) {
    const { message = '' } = fault ?? {};
    context.err.warn('incomplete', `${sentence(message)} Terminating ${job.record.name}.`);
  }
  const records = left.map(({ job }) => job.record);
  const ends = await endEach(records, context);
  for (const [at, member] of left.entries()) member.termination = ends[at];
}

/**
 * Combines the stops of all instances: gpucloud stops the command at the first deadline or
 * interrupt.
 */
function jointStops(members: readonly Member[]): Omit<Stops, 'close' | 'isPast'> {
  const any = (kind: Exclude<keyof Stops, 'close' | 'isPast'>) =>
    AbortSignal.any(members.map(({ job }) => job.stops[kind]));
  return {
    any: any('any'),
    near: any('near'),
    half: any('half'),
    interrupt: any('interrupt'),
    last: any('last'),
  };
}

/** Fetches from all instances in parallel. A failure doesn't stop the other fetches. */
async function fetchAll(
  { phases }: HereRun,
  members: readonly Member[],
  what: string,
  { last }: Pick<Stops, 'last'>,
  context: Context,
): Promise<void> {
  if (members.every(({ job }) => job.record.fetch.length === 0)) return;
  phases.begin('fetching', `from ${what}`);
  const { interrupts, err } = context;
  const explain = () => {
    if (last.aborted) return;
    err.note(`Still fetching results. Ctrl-C again terminates ${what} and skips the rest.`);
  };
  interrupts.first.addEventListener('abort', explain);
  try {
    await Promise.all(
      members.map(async (member) => {
        try {
          await fetchFrom(member, context);
        } catch (error) {
          last.throwIfAborted();
          member.fault = error instanceof CliError ? error : unforeseen(error);
        }
      }),
    );
  } finally {
    interrupts.first.removeEventListener('abort', explain);
  }
}
