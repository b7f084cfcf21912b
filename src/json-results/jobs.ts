import type { Infer } from '../api/schemas/fields.ts';
import { lazy } from '../lazy.ts';
import * as z from '../zod.ts';
import { fields } from './fields.ts';

/** Job phases, in order. */
export const PHASES = [
  'renting',
  'starting',
  'connecting',
  'copying',
  'setup',
  'running',
  'fetching',
  'terminating',
] as const;

/** The use of an instance's cards while the command ran. */
export type JobGpu = Infer<typeof jobGpu>;

export const jobGpu = lazy(() => {
  const { number } = fields();
  return z.object({
    /** The average of all cards and samples. */
    busy_percent: number,
    /** The largest memory in use on one card. */
    peak_memory_mib: number,
    /** The memory of that card. */
    memory_total_mib: number,
  });
});

/** Seconds of each phase; null for a phase that the job did not have or did not complete. */
export type JobPhases = Infer<typeof jobPhases>;

const jobPhases = lazy(() => {
  const { maybeNumber } = fields();
  return z.object({
    /** From the request until the first sign-in; null for an existing instance. */
    renting: maybeNumber,
    /** Of `--sync`. */
    copying: maybeNumber,
    setup: maybeNumber,
    /** Of the command. */
    running: maybeNumber,
    /** Of `--fetch`. */
    fetching: maybeNumber,
  });
});

/** Content of the `--report` file, also printed in JSON modes. */
export type JobReport = Infer<typeof jobReport>;

export const jobReport = lazy(() => {
  const { text, texts, maybeText, maybeRoubles, maybeNumber, number, flag } = fields();
  return z.object({
    /** null if unknown. */
    command_exit_code: maybeNumber,
    /** `done`, or the phase in which the job failed. */
    stage: z.enum([...PHASES, 'done']),
    /** null if nothing was rented. The ID is null if it is unknown. */
    instance: z.nullable(z.object({ id: maybeText, name: text })),
    /**
     * false: the instance was kept, existed before, or was never rented. "unknown": the instance
     * may still be billing.
     */
    terminated: z.union([z.boolean(), z.literal('unknown')]),
    /** false if the instance's disk was full when the command exited. */
    output_complete: z.optional(flag),
    /** Local paths. */
    fetched: texts,
    seconds: number,
    /**
     * Charges minus refunds in roubles, a decimal; null unless the service shows all of them, or if
     * the instance is still running.
     */
    cost: maybeRoubles,
    /** Every started hour in roubles, a decimal; null if unknown, or if the instance is still running. */
    cost_at_most: maybeRoubles,
    /** null if unknown. */
    phases: z.nullable(jobPhases()),
    /** null if unknown. */
    gpu: z.nullable(jobGpu()),
    /** gpucloud's exit code. */
    exit_code: number,
    /** Why the job stopped early. */
    error: maybeText,
  });
});

/** An instance of `run --here`. */
export type MemberReport = Infer<typeof memberReport>;

const memberReport = lazy(() => {
  const { text, texts, maybeText, maybeRoubles } = fields();
  return z.object({
    /** null if nothing was rented for this name, or if the ID is unknown. */
    id: maybeText,
    name: text,
    terminated: z.union([z.boolean(), z.literal('unknown')]),
    /** Local paths. */
    fetched: texts,
    cost: maybeRoubles,
    cost_at_most: maybeRoubles,
    phases: z.nullable(jobPhases()),
    /** null if unknown. */
    gpu: z.nullable(jobGpu()),
    /** Why the instance was not rented, was left out, or has no results. */
    error: maybeText,
  });
});

/** Content of the `--report` file of `run --here`, also printed in JSON modes. */
export type HereReport = Infer<typeof hereReport>;

export const hereReport = lazy(() => {
  const { texts, maybeText, maybeRoubles, maybeNumber, number } = fields();
  return z.object({
    command_exit_code: maybeNumber,
    stage: z.enum([...PHASES, 'done']),
    instances: z.array(memberReport()),
    /** true: every rented instance was terminated. "unknown": an instance may still be billing. */
    terminated: z.union([z.boolean(), z.literal('unknown')]),
    /** Local paths fetched from all instances. */
    fetched: texts,
    seconds: number,
    /** The sum of all instances; null if the cost of one is. */
    cost: maybeRoubles,
    cost_at_most: maybeRoubles,
    exit_code: number,
    error: maybeText,
  });
});

/**
 * EXITED: the command has exited. TERMINATED: its instance was terminated before the command
 * exited. LOST: the command disappeared without an exit code. UNKNOWN: the run was killed, and the
 * outcome of its request for an instance is not known.
 */
const JOB_STATUSES = ['RUNNING', 'EXITED', 'TERMINATED', 'LOST', 'UNREACHABLE', 'UNKNOWN'] as const;

/** A row of `jobs list`. */
export type JobRow = Infer<typeof jobRow>;

export const jobRow = lazy(() => {
  const { text, texts, maybeText, maybeRoubles, maybeNumber, number, maybeTime, flag } = fields();
  return z.object({
    name: text,
    /** null until the instance is rented. */
    id: maybeText,
    status: z.enum(JOB_STATUSES),
    /** The command's exit code, or the run's after a failed setup; null until it is known. */
    exit_code: maybeNumber,
    command: texts,
    started_at: text,
    /** null while the job may run. */
    ended_at: maybeTime,
    seconds: number,
    /** Charges minus refunds; null while the job runs, or if the service does not show all of them. */
    cost: maybeRoubles,
    cost_at_most: maybeRoubles,
    /** The deadline; null after the job has ended. */
    ends_at: maybeTime,
    fetched: texts,
    /** With `--on`: the job used an existing instance, and does not terminate it. */
    on: flag,
    /** `done`, or the last phase that the job reached. */
    phase: z.enum([...PHASES, 'done']),
    /** null if unknown. */
    gpu: z.nullable(jobGpu()),
  });
});

/** The result of `jobs get`. */
export type JobDetails = Infer<typeof jobDetails>;

export const jobDetails = lazy(() =>
  z.extend(jobRow(), {
    phases: jobPhases(),
    /** Why the command has no exit code, or was interrupted near the deadline. */
    reason: fields().maybeText,
    /** The last ten lines of a failed setup; null if they are not on this computer. */
    setup_output: fields().maybeText,
    report: z.nullable(jobReport()),
  }),
);
