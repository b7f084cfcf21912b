import { writeFile } from 'node:fs/promises';
import { CliError } from '../errors.ts';
import { faultOf } from '../files/error-code.ts';
import type { Phase } from './phases.ts';

/** The content of `--report`, also printed in JSON modes. */
export interface JobReport {
  /** null if unknown. */
  readonly command_exit_code: number | null;
  /** `done`, or the phase in which the job failed. */
  readonly stage: Phase | 'done';
  /** null if nothing was rented. The ID is null if it is not known. */
  readonly instance: { readonly id: string | null; readonly name: string } | null;
  /** false: it was kept, or nothing was rented. "unknown": it may still be billing. */
  readonly terminated: boolean | 'unknown';
  /** Local paths. */
  readonly fetched: readonly string[];
  readonly seconds: number;
  /** Roubles, a decimal; null if unknown, or if the instance still runs. */
  readonly cost_at_most: string | null;
  /** gpucloud's exit code. */
  readonly exit_code: number;
  /** Why the job ended early. */
  readonly error: string | null;
}

/** The end of a job, from which its report is made. */
export interface JobEnd extends Omit<JobReport, 'seconds' | 'exit_code' | 'error'> {
  /** The error of the whole run; undefined for the command's own exit code. */
  readonly error: CliError | undefined;
}

export function reportOf(end: JobEnd, milliseconds: number): JobReport {
  const { command_exit_code, stage, instance, terminated, fetched, cost_at_most, error } = end;
  return {
    command_exit_code,
    stage,
    instance,
    terminated,
    fetched,
    seconds: Math.round(milliseconds / 1000),
    cost_at_most,
    exit_code: error?.exitCode ?? command_exit_code ?? 0,
    error: error?.message ?? null,
  };
}

/** Throws CliError('storage'). */
export async function writeReport(path: string, report: JobReport): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    throw new CliError('storage', `Could not write --report "${path}" (${faultOf(error)}).`, {
      cause: error,
    });
  }
}
