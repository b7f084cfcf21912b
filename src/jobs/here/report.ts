import type { Context } from '../../context.ts';
import { CliError, FAILURES, isInterrupt, throwAll, worstOf } from '../../errors.ts';
import type { HereReport, MemberReport } from '../../json-results/jobs.ts';
import { kopecksText, priceIn, sumOf } from '../../rules/money.ts';
import { runFailed } from '../end/end-job.ts';
import { notifyOfEnds } from '../end/notify.ts';
import { type JobEnd, messageOf, saveReport } from '../end/report.ts';
import { noteEnd } from '../end/summary.ts';
import type { HereRun } from './run.ts';

/** Reports the ends of all members together. Throws the errors that determine the exit code. */
export async function finishHere(
  run: HereRun,
  ends: readonly JobEnd[],
  started_at: string,
  context: Context,
): Promise<void> {
  const { plan, failure, exitCode: code = null } = run;
  const missing = missingResults(run);
  const { errors, warnings } = outcomeOf({ ends, failure, code, missing });
  for (const warning of warnings) {
    context.err.warn(warning === failure ? 'incomplete' : 'copy', warning.message);
  }
  const error = worstOf(errors);
  const rows = plan.names.map((name, at) => rowOf(name, ends[at], run, context));
  const report: HereReport = {
    command_exit_code: code,
    stage: ends.some(({ stage }) => stage === 'terminating') ? 'terminating' : run.stage,
    instances: rows,
    terminated: togetherOf(rows),
    fetched: rows.flatMap(({ fetched }) => fetched),
    seconds: Math.round((context.clock.now() - Date.parse(started_at)) / 1000),
    cost: costOf(rows, 'cost'),
    cost_at_most: costOf(rows, 'cost_at_most'),
    exit_code: error?.exitCode ?? code ?? FAILURES.runFailed.exit,
    error: messageOf(error, context),
  };
  await saveReport(plan.report_file, report, context);
  const { instance_name: name } = plan.request;
  const about = { name, command_exit_code: code, error, members: ends };
  await notifyOfEnds(about, started_at, context);
  await noteEnd(plan.command, report, context);
  throwAll(errors);
  context.endWith(report.exit_code);
}

interface Ends {
  readonly ends: readonly Pick<JobEnd, 'instance' | 'terminated' | 'error'>[];
  /** Why the run stopped early. */
  readonly failure: CliError | undefined;
  /** The command's exit code. */
  readonly code: number | null;
  /** For each instance whose results are missing, why. */
  readonly missing: readonly CliError[];
}

/**
 * Returns the errors that determine the exit code, the command's own if there are none, and the
 * less important ones.
 */
export function outcomeOf({ ends, failure, code, missing }: Ends) {
  const doubts = ends.flatMap(({ terminated, error }) => (terminated === 'unknown' && error) || []);
  if (doubts.length > 0) {
    const hidden = failure === undefined || isInterrupt(failure) ? [] : [failure];
    return { errors: doubts, warnings: [...hidden, ...missing] };
  }
  if (failure !== undefined) {
    const isNothing = ends.every(({ instance }) => instance === null);
    return { errors: [isNothing ? failure : runFailed(failure)], warnings: missing };
  }
  // The command's own failure takes precedence.
  return code === 0 ? { errors: missing, warnings: [] } : { errors: [], warnings: missing };
}

function missingResults({ ready, faults }: HereRun): CliError[] {
  return [...ready].flatMap(({ record: { name } }) => {
    const fault = faults.get(name);
    return fault === undefined ? [] : new CliError('runFailed', `${name}: ${fault.message}`);
  });
}

function rowOf(
  name: string,
  end: JobEnd | undefined,
  { faults }: HereRun,
  context: Context,
): MemberReport {
  const { instance = null, terminated = false, fetched = [] } = end ?? {};
  const { cost = null, cost_at_most = null, phases = null, gpu = null } = end ?? {};
  const error = terminated === 'unknown' ? end?.error : faults.get(name);
  return {
    id: instance?.id ?? null,
    name,
    terminated,
    fetched: [...fetched],
    cost,
    cost_at_most,
    phases,
    gpu,
    error: messageOf(error, context),
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

function costOf(rows: readonly MemberReport[], which: 'cost' | 'cost_at_most'): string | null {
  const rented = rows.filter(({ id, terminated }) => id !== null || terminated === 'unknown');
  if (rented.length === 0) return null;
  const sum = sumOf(rented.map((row) => priceIn(row[which])));
  return sum === undefined ? null : kopecksText(sum);
}
