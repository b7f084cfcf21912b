import { writeFile } from 'node:fs/promises';
import { CliError } from '../errors.ts';
import { faultOf } from '../files/error-code.ts';

export const STAGES = [
  'renting',
  'starting',
  'connecting',
  'copying',
  'running',
  'fetching',
  'terminating',
  'done',
] as const;
export type Stage = (typeof STAGES)[number];

/** What `--report` writes and JSON modes print. */
export interface JobReport {
  /** null if it is not known. */
  readonly command_exit_code: number | null;
  /** `done`, or where the job ended before its time. */
  readonly stage: Stage;
  readonly instance: { readonly id: string; readonly name: string };
  /** false: it was kept. "unknown": it may still be billing. */
  readonly terminated: boolean | 'unknown';
  /** Local paths. */
  readonly fetched: readonly string[];
  readonly seconds: number;
  /** Roubles, a decimal; null if it is not known, or the instance goes on. */
  readonly cost_at_most: string | null;
  /** The exit code of gpucloud. */
  readonly exit_code: number;
  /** Why the job ended before its time. */
  readonly error: string | null;
}

/** Throws CliError('storage'). */
export async function writeReport(path: string, report: JobReport): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    throw new CliError('storage', `--report "${path}" could not be written (${faultOf(error)}).`, {
      cause: error,
    });
  }
}
