import type { Context } from '../context.ts';
import { CliError, isInterrupt, unforeseen } from '../errors.ts';
import { deadlineFrom } from '../instances/deadlines/deadline.ts';
import { setDeadline, warnUnenforced } from '../instances/deadlines/expire.ts';
import { ownJournal } from '../instances/pending.ts';
import type { Target } from '../instances/resolve.ts';
import { typedName } from '../rules/names.ts';
import { costAtMost, endInstance } from './end.ts';
import type { Progressed } from './job.ts';
import { createPhases } from './phases.ts';
import type { JobRecord } from './record.ts';
import type { JobReport } from './report.ts';

export interface Ended {
  readonly terminated: JobReport['terminated'];
  readonly cost: string | null;
  /** The error of the whole run; undefined for the command's own exit code. */
  readonly error: CliError | undefined;
}

interface SoFar {
  readonly failure: CliError | undefined;
  readonly progress: Progressed;
  /** An interrupt, or the deadline. */
  readonly isStopped: boolean;
}

/** Terminates the instance of a job, or keeps it if that was wanted of a failure. */
export async function endJob(record: JobRecord, soFar: SoFar, context: Context): Promise<Ended> {
  const { failure, progress } = soFar;
  // The first Ctrl-C ended every request of the run's own context.
  const shielded = context.shielded();
  try {
    if (mayKeep(record, soFar) && (await keep(record, shielded))) {
      return { terminated: false, cost: null, error: failure && runFailed(failure) };
    }
    createPhases(record.name, context).begin('Terminating');
    const end = await endInstance(record, shielded);
    if (!end.certain) {
      return { terminated: 'unknown', cost: null, error: mayGoOn(record, end.error) };
    }
    const cost = costAtMost(end.instance ?? progress.instance, shielded.serviceClock.now());
    return { terminated: true, cost, error: failure && runFailed(failure) };
  } finally {
    await shielded.close();
  }
}

/** Interrupts and deadlines end the run. */
function mayKeep({ keep_on_failure }: JobRecord, { failure, progress, isStopped }: SoFar): boolean {
  if (keep_on_failure === null || isStopped) return false;
  return failure !== undefined || progress.exitCode !== 0;
}

/** Gives the instance its new deadline; false if that is not certain. */
async function keep({ id, name, keep_on_failure }: JobRecord, context: Context): Promise<boolean> {
  try {
    const journal = await ownJournal(context);
    const deadline = await deadlineFrom({ after: keep_on_failure ?? 0 }, context);
    await setDeadline({ id, name }, deadline, journal, context);
    await warnUnenforced(journal, context);
    context.err.warn(
      'may_be_billing',
      `Kept ${name}: it bills until ${deadline}. Look: gpucloud instances ssh ${typedName(name, id)}. End it: gpucloud instances terminate ${typedName(name, id)}`,
    );
    return true;
  } catch (error) {
    const { message } = error instanceof CliError ? error : unforeseen(error);
    context.err.warn('may_be_billing', `${name} could not be kept: ${message}`);
    return false;
  }
}

/** The reason, with the exit code of a run. An interrupt keeps its own. */
export function runFailed(failure: CliError): CliError {
  // The wait for SSH adds that the instance may still be billing, which has ended by now.
  if (failure.mayBeBilling && failure.cause instanceof CliError) return runFailed(failure.cause);
  if (isInterrupt(failure)) return failure;
  return new CliError('runFailed', failure.message, { hint: failure.hint, cause: failure });
}

export function mayGoOn({ id, name }: Target, cause: CliError): CliError {
  return new CliError(
    'outcomeUnknown',
    `${name} (${id}) could not be terminated: ${cause.message} It may still be billing.`,
    {
      resource: id,
      mayBeBilling: true,
      hint: `gpucloud instances terminate ${typedName(name, id)}`,
      cause,
    },
  );
}
