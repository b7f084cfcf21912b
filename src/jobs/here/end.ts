import type { Context } from '../../context.ts';
import { CliError, FAILURES, failuresOf, isInterrupt, throwAll, worstOf } from '../../errors.ts';
import { endEach } from '../../instances/change/ending.ts';
import { notify } from '../../instances/deadlines/notify.ts';
import type { HereReport, MemberReport } from '../../json-results/jobs.ts';
import { shellLine } from '../../output/shell-line.ts';
import { spanText } from '../../output/time.ts';
import { clamp } from '../../output/width.ts';
import { inRoubles, money, priceIn, sumOf } from '../../rules/money.ts';
import { costAtMost } from '../end/cost.ts';
import { runFailed } from '../end/end-job.ts';
import { writeReport } from '../end/report.ts';
import { shortPath } from '../end/summary.ts';
import type { JobPlan } from '../job.ts';
import { printJson } from '../output.ts';
import { namesText } from '../phases.ts';
import { note, timeNow } from '../record/note.ts';
import { keep } from '../stages/keep.ts';
import type { HereRun, Member } from './member.ts';

/** Time for a command to exit after its instances were terminated, in milliseconds. */
const PATIENCE = 5_000;

/** Terminates every instance, then reports. Throws the error that determines the exit code. */
export async function endHere(run: HereRun, plan: JobPlan, context: Context): Promise<void> {
  const { stage, kept } = await endMembers(run, context);
  const isLeft = run.members.some(({ termination }) => isInterrupted(termination));
  await run.command?.end(isLeft ? 0 : PATIENCE);
  const { members, notRented } = run;
  const failed = errorsOf(run);
  const faults = faultsOf(members);
  // The command's own failure takes precedence.
  if (failed.length > 0 || run.exitCode !== 0) {
    for (const fault of faults) context.err.warn('copy', fault);
  } else failed.push(...faults.map((fault) => new CliError('runFailed', fault)));
  const error = worstOf(failed);
  const { failure } = run;
  const isHidden = error?.failure === 'outcomeUnknown' && failure !== undefined;
  if (isHidden && !isInterrupt(failure)) context.err.warn('incomplete', failure.message);
  const rows: MemberReport[] = plan.names.map((name) => {
    const member = members.find(({ job }) => job.record.name === name);
    if (member !== undefined) return rowOf(member, kept.includes(member), context);
    const one = notRented.find(({ job }) => job.record.name === name);
    const { instance = null, terminated = false, cost_at_most = null } = one?.end ?? {};
    const message = one?.error.message ?? null;
    return {
      id: instance?.id ?? null,
      name,
      terminated,
      fetched: [],
      cost_at_most,
      error: message,
    };
  });
  const report: HereReport = {
    command_exit_code: run.exitCode ?? null,
    stage,
    instances: rows,
    terminated: togetherOf(rows),
    fetched: rows.flatMap(({ fetched }) => fetched),
    seconds: Math.round((context.clock.now() - Date.parse(run.started_at)) / 1000),
    cost_at_most: costOf(rows),
    exit_code: error?.exitCode ?? run.exitCode ?? FAILURES.runFailed.exit,
    error: error?.message ?? null,
  };
  await saveMembers(rows, report, run, context);
  if (plan.report_file !== null) {
    const [fault] = await failuresOf(writeReport(plan.report_file, report));
    if (fault !== undefined) context.err.warn('local_storage', fault.message);
  }
  await notifyOf(report, plan, run, context);
  await noteHere(report, plan, context);
  throwAll(failed);
  context.endWith(report.exit_code);
}

/**
 * Terminates all instances, except those whose results this computer could not store, as `run`
 * does.
 */
async function endMembers(run: HereRun, context: Context) {
  const { members, phases, failure } = run;
  const stage = failure === undefined ? ('done' as const) : phases.current;
  const full = members.filter(hasResults);
  await terminateThese(
    members.filter((member) => !full.includes(member)),
    run,
    context,
  );
  const kept = full;
  for (const member of full) await keepResults(member, context);
  const isDone = members.every(({ termination }) => termination?.kind !== 'uncertain');
  return { stage: isDone ? stage : ('terminating' as const), kept };
}

async function terminateThese(
  members: readonly Member[],
  { phases }: HereRun,
  context: Context,
): Promise<void> {
  const living = members.filter(({ termination }) => termination?.kind !== 'ended');
  if (living.length === 0) return;
  for (const { job } of living) await note(job, { ending_at: timeNow(context) }, context);
  const records = living.map(({ job }) => job.record);
  phases.begin('terminating', namesText(records.map(({ name }) => name)));
  const ends = await endEach(records, context);
  phases.clear();
  for (const [at, member] of living.entries()) member.termination = ends[at];
}

function hasResults({ job, shell, fault }: Member): boolean {
  return shell !== undefined && fault?.failure === 'storage' && !job.stops.interrupt.aborted;
}

/** Keeps the instance for its results: `jobs attach` fetches them, and ends it. */
async function keepResults({ job }: Member, context: Context): Promise<void> {
  await keep(job.record, { why: 'results', isEmpty: false, isArmed: true, leaves: false }, context);
  await note(job, { kept: 'results' }, context);
}

/** Stores how each job ended. */
async function saveMembers(
  rows: readonly MemberReport[],
  { command_exit_code, stage, exit_code, error: why }: HereReport,
  { members, started_at }: HereRun,
  context: Context,
): Promise<void> {
  const seconds = Math.round((context.clock.now() - Date.parse(started_at)) / 1000);
  for (const { job } of members) {
    const row = rows.find(({ name }) => name === job.record.name);
    if (row === undefined) continue;
    const { id, name, terminated, fetched, cost_at_most, error } = row;
    const report = {
      command_exit_code,
      stage,
      instance: { id, name },
      terminated,
      fetched,
      seconds,
      cost_at_most,
      exit_code,
      error: error ?? why,
    };
    const ended_at = terminated === true ? timeNow(context) : null;
    await note(job, { ended_at, report, reason: report.error }, context);
  }
}

function isInterrupted(termination: Member['termination']): boolean {
  return termination?.kind === 'uncertain' && isInterrupt(termination.error.cause);
}

/** Returns the doubts about terminations, otherwise the failure of the run. */
function errorsOf({ members, notRented, failure }: HereRun): CliError[] {
  const doubts = [
    ...notRented.flatMap(({ end }) => (end.terminated === 'unknown' && end.error) || []),
    ...members.flatMap(
      ({ termination }) => (termination?.kind === 'uncertain' && termination.error) || [],
    ),
  ];
  if (doubts.length > 0) return doubts;
  if (failure === undefined) return [];
  const isNothing = members.length === 0 && notRented.every(({ end }) => end.instance === null);
  return [isNothing ? failure : runFailed(failure)];
}

/** Returns the reasons why results are missing. */
function faultsOf(members: readonly Member[]): string[] {
  return members.flatMap(({ job, shell, fault }) =>
    shell === undefined || fault === undefined ? [] : `${job.record.name}: ${fault.message}`,
  );
}

function rowOf(
  { job, termination, fault }: Member,
  isKept: boolean,
  { serviceClock }: Context,
): MemberReport {
  const { id, name } = job.record;
  const isEnded = termination?.kind === 'ended';
  const error = termination?.kind === 'uncertain' ? termination.error : fault;
  const instance = (isEnded ? termination.instance : undefined) ?? job.instance;
  return {
    id,
    name,
    terminated: isEnded || (isKept ? false : 'unknown'),
    fetched: [...job.fetched],
    cost_at_most: isEnded ? costAtMost(instance, serviceClock.now()) : null,
    error: error?.message ?? null,
  };
}

/**
 * Returns "unknown" if one outcome is unknown, and true only if every rented instance is
 * terminated.
 */
function togetherOf(rows: readonly MemberReport[]): MemberReport['terminated'] {
  if (rows.some(({ terminated }) => terminated === 'unknown')) return 'unknown';
  const rented = rows.filter(({ id }) => id !== null);
  return rented.length > 0 && rented.every(({ terminated }) => terminated === true);
}

function costOf(rows: readonly MemberReport[]): string | null {
  const rented = rows.filter(({ id, terminated }) => id !== null || terminated === 'unknown');
  if (rented.length === 0) return null;
  return sumOf(rented.map(({ cost_at_most }) => priceIn(cost_at_most)))?.toFixed(2) ?? null;
}

/** Sends one event for the command, and one for each instance that may still be billing. */
async function notifyOf(
  { instances, command_exit_code: exit_code, terminated, error }: HereReport,
  { request }: JobPlan,
  { members, started_at }: HereRun,
  context: Context,
): Promise<void> {
  for (const { job, termination } of members) {
    if (termination?.kind !== 'uncertain') continue;
    const { cause, message } = termination.error;
    // Sends nothing after the third Ctrl-C, since a person is present.
    if (isInterrupt(cause)) return;
    const isRefused = cause instanceof CliError && cause.failure !== 'outcomeUnknown';
    const event = isRefused ? 'terminate_failed' : 'outcome_unknown';
    const { id, name } = job.record;
    await notify({ event, id, name, message, exit_code }, started_at, context);
  }
  const rented = instances.filter(({ id }) => id !== null);
  const [first] = rented;
  if (first === undefined || terminated === 'unknown') return;
  const names = namesText(rented.map(({ name }) => name));
  const how = error ?? `The command on ${names} exited with ${exit_code}.`;
  const kept = rented.filter((one) => one.terminated === false).map(({ name }) => name);
  const then = kept.length === 0 ? `Terminated ${names}.` : `Kept ${namesText(kept)}: it bills.`;
  const about = { id: first.id, name: request.instance_name, exit_code };
  await notify({ event: 'job_ended', ...about, message: `${how} ${then}` }, started_at, context);
}

async function noteHere(report: HereReport, plan: JobPlan, context: Context): Promise<void> {
  const { err, out } = context;
  const { command_exit_code: code, instances, fetched, seconds } = report;
  if (out.format === 'json' || out.format === 'jsonl') return printJson({ run: report }, context);
  if (code !== null) err.note(`${clamp(shellLine(plan.command, 'linux'), 50)}: exit code ${code}`);
  if (fetched.length > 0) err.note(`Fetched ${fetched.map(shortPath).join(', ')}`);
  const ended = instances.filter(({ terminated }) => terminated === true);
  if (ended.length === 0) return;
  const cost = money(costOf(ended) ?? '');
  const who = ended.length === 1 ? 'It' : 'They';
  const atMost = cost.ok ? ` ${who} cost at most ${inRoubles(cost.value)}.` : '';
  const names = namesText(ended.map(({ name }) => name));
  err.note(`Terminated ${names} after ${spanText(seconds)}.${atMost}`);
}
