import type { Context } from '../../context.ts';
import { CliError, doubt, isInterrupt, MAY_BILL, unforeseen } from '../../errors.ts';
import { billsUntil, readEnforcement } from '../../instances/deadlines/armed.ts';
import { deadlineFrom, setDeadline } from '../../instances/deadlines/deadline.ts';
import { warnUnenforced } from '../../instances/deadlines/unenforced.ts';
import { endOne } from '../../instances/ending.ts';
import { ownJournal } from '../../instances/pending.ts';
import type { Target } from '../../instances/resolve.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import type { Job } from '../job.ts';
import type { JobRecord } from '../record/record.ts';
import { costAtMost } from './cost.ts';
import type { JobEnd } from './report.ts';

/** Terminates the instance of a job, or keeps it after a failure if that was requested. */
export async function endJob(
  job: Job,
  failure: CliError | undefined,
  context: Context,
): Promise<JobEnd> {
  const { record, phases } = job;
  const end = { ...progressOf(job), error: failure && runFailed(failure) };
  const stage = failure === undefined ? 'done' : phases.current;
  const wanted = keptFor(job, failure);
  if (
    wanted !== undefined &&
    (await keep(record, { ...wanted, ...keptText(record, wanted.kept) }, context))
  ) {
    return { ...end, stage, terminated: false, kept: wanted.kept };
  }
  phases.begin('terminating');
  const termination = await endOne(record, context);
  phases.clear();
  if (!termination.certain) {
    const { error } = termination;
    return { ...end, stage: 'terminating', terminated: 'unknown', error };
  }
  const cost_at_most = costAtMost(termination.instance ?? job.instance, context.serviceClock.now());
  return { ...end, stage, terminated: true, cost_at_most };
}

/**
 * Leaves a job unchanged, since its command may still run or its results are still on the instance.
 */
export async function leaveJob(job: Job, cause: CliError, context: Context): Promise<JobEnd> {
  const error = isInterrupt(cause)
    ? interrupted(job, cause)
    : job.exitCode === undefined
      ? outOfReach(job, cause)
      : await notCollected(job, cause, context);
  const { kept } = job.record;
  return { ...progressOf(job), stage: job.phases.current, terminated: 'unknown', kept, error };
}

async function notCollected(
  { record: { id, name } }: Job,
  cause: CliError,
  context: Context,
): Promise<CliError> {
  const bills = await billsText(id, context);
  const typed = typedName(name, id);
  const end = /[.!?]$/.test(cause.message) ? '' : '.';
  return new CliError(
    'runFailed',
    `${name}: ${cause.message}${end} The results are still on the instance, which ${bills}.`,
    {
      resource: id,
      mayBeBilling: true,
      hint: `fix the cause, then run: ${gpucloud('jobs', 'attach', typed)}; inspect the instance: ${gpucloud('instances', 'ssh', typed)}`,
      cause,
    },
  );
}

/** Returns `bills until 08:58`, as an interrupted process also must. */
function billsText(id: string, context: Context): Promise<string> {
  return context.shielded(async (own) => {
    const journal = await own.journal();
    const account = await journal.account();
    const deadline = (await journal.instance(id))?.deadline;
    return billsUntil(deadline, await readEnforcement({ account }, own));
  });
}

function outOfReach({ record: { id, name } }: Job, cause: CliError): CliError {
  const typed = typedName(name, id);
  return doubt(
    `Could not connect to ${name}, and its command may still run: ${cause.message} ${MAY_BILL}`,
    {
      resource: id,
      hint: `try again: ${gpucloud('jobs', 'attach', typed)}; or terminate it: ${gpucloud('instances', 'terminate', typed)}`,
      cause,
    },
  );
}

function interrupted({ record: { id, name }, exitCode }: Job, cause: CliError): CliError {
  const typed = typedName(name, id);
  const what =
    exitCode === undefined ? 'Its command still runs' : `Its command exited with ${exitCode}`;
  return cause.with(`Stopped following ${name}. ${what}, and the instance bills.`, {
    resource: id,
    mayBeBilling: true,
    hint: `continue: ${gpucloud('jobs', 'attach', typed)}; stop the job, fetch and terminate: ${gpucloud('jobs', 'stop', typed)}`,
  });
}

export function progressOf({ record: { id, name, exit_code }, fetched }: Job) {
  return {
    command_exit_code: exit_code,
    instance: { id, name },
    fetched,
    cost_at_most: null,
    kept: null,
  };
}

/** Milliseconds to keep an instance whose results could not be copied. */
export const FOR_RESULTS = 30 * 60_000;

/**
 * Returns the reason to keep the instance, and for how long; undefined to terminate it. Interrupts
 * never keep it.
 */
function keptFor(
  { record, exitCode, collection, stops, by }: Job,
  failure: CliError | undefined,
): { readonly kept: 'command' | 'results'; readonly time: number } | undefined {
  if (stops.interrupt.aborted) return undefined;
  const { keep_on_failure } = record;
  if (failure !== undefined && collection === 'begun') {
    const time = keep_on_failure ?? FOR_RESULTS;
    return time === 0 ? undefined : { kept: 'results', time };
  }
  if (!keep_on_failure || by === 'stop') return undefined;
  return failure !== undefined || exitCode !== 0
    ? { kept: 'command', time: keep_on_failure }
    : undefined;
}

function keptText({ id, name }: JobRecord, kept: 'command' | 'results') {
  const typed = typedName(name, id);
  const ssh = gpucloud('instances', 'ssh', typed);
  return kept === 'results'
    ? {
        what: `${name} with its results`,
        next: `Fix the cause, then fetch and terminate: ${gpucloud('jobs', 'attach', typed)}. Connect: ${ssh}`,
      }
    : {
        what: name,
        next: `Connect: ${ssh}. Terminate it: ${gpucloud('instances', 'terminate', typed)}`,
      };
}

interface Keeping {
  /** Milliseconds. */
  readonly time: number;
  readonly what: string;
  readonly next: string;
}

/**
 * Sets the new deadline, unless the instance has an earlier one. Returns false if the outcome is
 * uncertain.
 */
export function keep(
  { id, name }: Target,
  { time, what, next }: Keeping,
  context: Context,
): Promise<boolean> {
  return context.shielded(async (own) => {
    try {
      const journal = await ownJournal(own);
      const wanted = await deadlineFrom({ after: time }, own);
      const before = (await journal.instance(id))?.deadline;
      const isEarlier = before !== undefined && Date.parse(before) <= Date.parse(wanted);
      const deadline = isEarlier ? before : wanted;
      if (!isEarlier) await setDeadline({ id, name }, { deadline }, journal, own);
      await warnUnenforced(['deadline'], journal, own);
      const account = await journal.account();
      const bills = billsUntil(deadline, await readEnforcement({ account }, own));
      own.err.warn('may_be_billing', `Kept ${what}: it ${bills}. ${next}`);
      return true;
    } catch (error) {
      const { message } = error instanceof CliError ? error : unforeseen(error);
      own.err.warn('may_be_billing', `Could not keep ${name}: ${message}`);
      return false;
    }
  });
}

/** Returns the error with the exit code of a failed run. An interrupt keeps its own exit code. */
export function runFailed(thrown: CliError): CliError {
  const failure = withoutBill(thrown);
  if (isInterrupt(failure)) return failure;
  return new CliError('runFailed', failure.message, { hint: failure.hint, cause: failure });
}

/**
 * Removes the wait's warning that the instance may still be billing, since the run terminates the
 * instance.
 */
export function withoutBill(failure: CliError): CliError {
  const { mayBeBilling, cause } = failure;
  return mayBeBilling && cause instanceof CliError ? withoutBill(cause) : failure;
}
