import { writeFile } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import { CliError, FAILURES, failuresOf } from '../../errors.ts';
import type { JobReport } from '../../json-results/jobs.ts';
import { withProfile } from '../../output/shell-line.ts';
import { faultOf } from '../../system/error-code.ts';
import type { JobRecord } from '../record/record.ts';

/** How a job ended, for its report. */
export interface JobEnd extends Omit<JobReport, 'fetched' | 'seconds' | 'exit_code' | 'error'> {
  readonly fetched: readonly string[];
  /** The run's error; undefined for the command's own exit code. */
  readonly error: CliError | undefined;
  /**
   * For a job of `--on`: whether the job is complete. Other jobs are complete once their instance
   * is terminated.
   */
  readonly isOver?: boolean;
  /** Why the instance was kept; undefined if it was not. */
  readonly kept?: JobRecord['kept'];
}

/** For an end that shows no cost. */
export const NO_RECEIPT = { cost: null, cost_at_most: null, phases: null, gpu: null } as const;

export function reportOf(end: JobEnd, started_at: string, context: Context): JobReport {
  const { command_exit_code, stage, instance, terminated, fetched, error } = end;
  const { output_complete, cost, cost_at_most, phases, gpu } = end;
  return {
    command_exit_code,
    stage,
    instance,
    terminated,
    ...(output_complete === undefined ? {} : { output_complete }),
    fetched: [...fetched],
    seconds: Math.round((context.clock.now() - Date.parse(started_at)) / 1000),
    cost,
    cost_at_most,
    phases,
    gpu,
    exit_code: error?.exitCode ?? command_exit_code ?? FAILURES.runFailed.exit,
    error: messageOf(error, context),
  };
}

/** Returns the words of an error as a file or JSON holds them: its commands name the profile. */
export function messageOf(error: CliError | undefined, { flags }: Context): string | null {
  return error === undefined ? null : withProfile(error.message, flags.profile);
}

/** Writes a report. Only warns about a failure: what it reports has happened. */
export async function saveReport(
  path: string | null,
  report: object,
  { err }: Context,
): Promise<void> {
  const [fault] = path === null ? [] : await failuresOf(writeReport(path, report));
  if (fault !== undefined) err.warn('local_storage', fault.message);
}

async function writeReport(path: string, report: object): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    throw new CliError('storage', `Could not write --report "${path}" (${faultOf(error)}).`, {
      cause: error,
    });
  }
}
