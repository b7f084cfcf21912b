import { eachBounded, SSH_AT_ONCE } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { CliError, failuresOf, isInterrupt } from '../../errors.ts';
import type { JobDetails, JobRow } from '../../json-results/jobs.ts';
import type { JobProblem, OpenJob } from '../../money/findings.ts';
import { instant } from '../../output/time.ts';
import { typedName } from '../../rules/names.ts';
import { costAtMost } from '../end/cost.ts';
import { phasesOf } from '../end/receipt.ts';
import { setupOutput } from '../kept.ts';
import { namesText } from '../phases.ts';
import { findJob } from '../record/find-job.ts';
import { Followed, isFollowed, withJob } from '../record/lock.ts';
import {
  happenedIn,
  hasFailedSetup,
  isFetched,
  isRented,
  type JobRecord,
  overStatus,
  type RentedRecord,
  readAllJobs,
  readJob,
} from '../record/record.ts';
import { exitOf } from '../remote/supervisor.ts';
import { needOf, standingOf } from '../standing.ts';
import { stateOf } from '../state.ts';
import { adopt } from './adopt.ts';
import { look, observationOf, type Seen } from './look.ts';
import { sameSignIn } from './sign-in-of.ts';

/** Timeout for one instance, in milliseconds. */
const LOOK = 5_000;
/** Milliseconds in which a process that rents an instance shows that it lives. */
const GLANCE = 4_000;

/**
 * Returns the account's jobs, newest first, and an error for each newer record. Checks the instance
 * of each job that has not ended. Leaves out the jobs that ended before `from`, in milliseconds
 * since 1970.
 */
export async function jobRows(from: number, context: Context) {
  const { jobs, newer } = await readAllJobs(context);
  const wanted = jobs.filter(({ ended_at }) => ended_at === null || Date.parse(ended_at) >= from);
  const found = await eachBounded(wanted, SSH_AT_ONCE, async (job) => ({
    job,
    row: await rowOf(await adoptIfLeft(job, context), context),
  }));
  const open = found.flatMap(({ job, row: { status, exit_code } }) => {
    if (!isRented(job) || job.ended_at !== null) return [];
    return [{ ...job, exit_code, lost_at: status === 'LOST' ? job.started_at : job.lost_at }];
  });
  return { rows: found.map(({ row }) => row), newer, open, lost: lostResults(wanted, context) };
}

/** Returns how a job stands by its record. `status`: the instance's last known status. */
export async function openJob(
  job: RentedRecord,
  status: string | null | undefined,
  context: Context,
): Promise<OpenJob> {
  const { id, name, kept } = job;
  const followed = await isFollowed(job, context);
  const word = standingOf(job, status);
  return {
    ...{ id, name, isFollowed: followed, isOpen: word === 'open', isKept: kept === 'results' },
    age_seconds: Math.max(0, secondsTo(context.clock.now(), job)),
    ...needOf({ ...job, isFollowed: followed }, word),
  };
}

const DAY = 86_400_000;

/** Returns what to say of the jobs of the last day that ended without their results. */
export function lostResults(
  jobs: readonly JobRecord[],
  { clock }: Context,
): JobProblem | undefined {
  // A job without an instance has no results.
  const rented = jobs.filter(isRented).filter((job) => standingOf(job) === 'incomplete');
  const lost = rented.filter((job) => clock.now() - Date.parse(`${job.ended_at}`) < DAY);
  const [first] = lost;
  if (first === undefined) return undefined;
  const { id, name } = first;
  const what = `The results of ${namesText(lost.map((job) => job.name))} were not copied`;
  const next = ['jobs', 'get', typedName(name, id)];
  return { code: 'job_results_lost', resource: id, what, to: 'see why', next };
}

/**
 * Checks how an open job stands now. Returns undefined once nothing can be copied any more: the job
 * rented no instance, or its instance is terminated or unknown to the service.
 */
export async function openStatus(
  open: JobRecord,
  context: Context,
): Promise<JobRow['status'] | undefined> {
  const { job, isAlive } = await adoptIfLeft(open, context);
  if (job.ended_at !== null) return undefined;
  const seen = await lookOnce(job, context);
  const isFault = seen instanceof CliError;
  if (isFault ? seen.failure === 'notFound' : seen?.isOver === true) return undefined;
  return stateNow(job, isAlive, isFault ? undefined : seen).status;
}

export async function jobDetails(typed: string, context: Context): Promise<JobDetails> {
  const found = await adoptIfLeft(await findJob(typed, context), context);
  const { reason, report } = found.job;
  const setup_output = await setupOutput(found.job, context);
  const phases = phasesOf(found.job);
  return { ...(await rowOf(found, context)), phases, reason, setup_output, report };
}

interface Found {
  readonly job: JobRecord;
  /** Whether a living process rents the instance, or uses it in `run --here`. */
  readonly isAlive: boolean;
}

/** Finds the instance of a job whose process was killed while it rented. */
async function adoptIfLeft(job: JobRecord, context: Context): Promise<Found> {
  if (job.ended_at !== null) return { job, isAlive: false };
  if (isRented(job)) return { job, isAlive: job.here && (await isFollowed(job, context)) };
  const found: JobRecord[] = [];
  const work = async () => {
    found.push(await adopt(await readJob(job.uid, context), context));
  };
  const how = { patience: GLANCE, yields: true };
  const [fault] = await failuresOf(withJob(job, context, work, how));
  return { job: found[0] ?? job, isAlive: fault instanceof Followed && fault.isAlive };
}

async function rowOf({ job, isAlive }: Found, context: Context): Promise<JobRow> {
  const { id, name, on, command, started_at, ended_at, report } = job;
  const fetched = job.fetch.flatMap(({ local, fetched_at }) => (fetched_at === null ? [] : local));
  const given = {
    name,
    id,
    command: [...command],
    started_at,
    ended_at,
    fetched: [...(report?.fetched ?? fetched)],
    on,
    phase: phaseOf(job),
    gpu: job.gpu,
  };
  if (ended_at !== null) {
    return {
      ...given,
      ...overState(job),
      seconds: report?.seconds ?? secondsTo(Date.parse(ended_at), job),
      cost: report?.cost ?? null,
      cost_at_most: report?.cost_at_most ?? null,
      ends_at: null,
    };
  }
  const seen = await seenNow(job, context);
  const { deadline = null } = id === null ? {} : await (await context.journal()).ends(id);
  // Nothing has stored this exit yet.
  const exit = seen?.isOver === false && seen.exitCode !== undefined ? exitOf(seen.exitCode) : {};
  return {
    ...given,
    phase: phaseOf({ ...job, ...exit }),
    ...stateNow(job, isAlive, seen),
    ...(seen?.isOver === false && seen.isSetup ? { phase: 'setup' as const } : {}),
    seconds: Math.max(0, secondsTo(endOf(job, seen, context), job)),
    cost: null,
    cost_at_most: on ? null : costAtMost(seen?.instance, context.serviceClock.now()),
    ends_at: seen?.isOver === true ? null : deadline,
  };
}

async function seenNow(job: JobRecord, context: Context): Promise<Seen | undefined> {
  const seen = await lookOnce(job, context);
  return seen instanceof CliError ? undefined : seen;
}

/** Returns the error after a warning if the instance did not respond. */
async function lookOnce(job: JobRecord, context: Context): Promise<Seen | CliError | undefined> {
  if (!isRented(job) || job.here) return undefined;
  return look(job, sameSignIn(job), context, LOOK).catch((error: unknown) => {
    if (!(error instanceof CliError) || isInterrupt(error)) throw error;
    context.err.warn('connection', error.message);
    return error;
  });
}

/** Returns when the command exited; else now, or when its instance was terminated. */
function endOf({ exited_at }: JobRecord, seen: Seen | undefined, context: Context): number {
  const now = context.clock.now() - overFor(seen, context);
  return exited_at === null ? now : Math.min(Date.parse(exited_at), now);
}

/** Returns how long ago the instance was terminated, by the service's clock, in milliseconds. */
function overFor(seen: Seen | undefined, { serviceClock }: Context): number {
  const over = seen?.isOver === true ? instant(seen.instance.terminated_at) : undefined;
  return over === undefined ? 0 : Math.max(0, serviceClock.now() - over);
}

function secondsTo(time: number, { started_at }: JobRecord): number {
  return Math.round((time - Date.parse(started_at)) / 1000);
}

/** Returns the last phase that a job reached. */
function phaseOf(job: JobRecord): JobRow['phase'] {
  if (job.ending_at !== null && job.ended_at === null) return 'terminating';
  if (hasFailedSetup(job)) return 'setup';
  if (job.ended_at !== null && job.exit_code !== null && isFetched(job)) return 'done';
  if (job.exit_code !== null) return 'fetching';
  if (job.command_started_at !== null) return 'running';
  if (job.signed_in_at !== null) return 'copying';
  return job.id === null ? 'renting' : 'starting';
}

type State = Pick<JobRow, 'status' | 'exit_code'>;

/** A job whose command was never started has the exit code of its report. */
function overState(job: JobRecord): State {
  const status = overStatus(job);
  const reported = status === 'EXITED' && hasFailedSetup(job) ? job.report?.exit_code : undefined;
  return { status, exit_code: reported ?? job.exit_code };
}

function stateNow(job: JobRecord, isAlive: boolean, seen: Seen | undefined): State {
  const exit_code = null;
  if (!isRented(job)) return { status: isAlive ? 'RUNNING' : 'UNKNOWN', exit_code };
  if (job.here && job.exit_code === null) {
    // The command may go on without its run, but nothing learns of its exit.
    const isLost = !isAlive && job.command_started_at !== null;
    return { status: isLost ? 'LOST' : 'RUNNING', exit_code };
  }
  const state = stateOf({ ...happenedIn(job), stopRequested: false }, observationOf(seen));
  switch (state.kind) {
    case 'exited':
      return { status: 'EXITED', exit_code: exitOf(state.code).exit_code };
    case 'lost':
      return { status: 'LOST', exit_code };
    case 'unreachable':
      return { status: 'UNREACHABLE', exit_code };
    case 'gone':
    case 'ended':
      return overState(job);
    // Before the start, the job's process may still copy files.
    default:
      return { status: 'RUNNING', exit_code };
  }
}
