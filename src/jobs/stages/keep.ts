import { endsRentals } from '../../context/session.ts';
import type { Context } from '../../context.ts';
import { asCliError } from '../../errors.ts';
import { deadlineFrom, setDeadline } from '../../instances/deadlines/deadline.ts';
import { ownJournal } from '../../instances/recover/pending.ts';
import type { Target } from '../../instances/resolve.ts';
import { withStop } from '../../output/messages.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { minuteText } from '../../output/time.ts';
import { typedName } from '../../rules/names.ts';
import { billsText, whereElse } from '../end/end-job.ts';
import { copiedBack, type JobRecord, type RentedRecord } from '../record/record.ts';

const FOR_RESULTS = 30 * 60_000;

/** Returns for how long to keep an instance whose results could not be copied, in milliseconds. */
export function keptFor({ keep_on_failure: time }: Pick<JobRecord, 'keep_on_failure'>): number {
  return time ?? FOR_RESULTS;
}

interface Keeping {
  readonly why: NonNullable<JobRecord['kept']>;
  /** Whether nothing of the job is left on the instance. */
  readonly isEmpty: boolean;
  /** Whether a path of `--fetch` is missing on the instance. */
  readonly isMissing: boolean;
  /** Whether a scheduled `reap` ends the instance. */
  readonly isArmed: boolean;
  /** Whether this process stays to end the instance, since nothing else would. */
  readonly waits: boolean;
  /** Whether Ctrl-C only leaves the job, as in `jobs attach`. */
  readonly leaves: boolean;
}

/**
 * Sets the deadline of an instance that is kept after its command, unless it has an earlier one. If
 * that fails, the old deadline stands.
 */
export function keep(
  record: RentedRecord,
  { why, isEmpty, isMissing, isArmed, waits, leaves }: Keeping,
  context: Context,
): Promise<void> {
  const { name } = record;
  return context.shielded(async (own) => {
    const { what, next } = keptText(record, { why, isEmpty, isMissing, waits });
    const leftTo = endsRentals(own.host.session) ? ' until the session ends' : ', and it bills on';
    const onCtrlC = leaves ? `Ctrl-C leaves it${leftTo}.` : 'Ctrl-C terminates it now.';
    try {
      const until = await setEarlier(record, keptFor(record), own);
      const ends = minuteText(Date.parse(until));
      const how = isArmed
        ? `it bills until ${ends}.`
        : !waits
          ? `it ${await billsText(record.id, own)}.`
          : `it bills until ${ends}. Nothing else terminates it then, so gpucloud waits${why === 'results' ? ', tries again every minute' : ''} and terminates it. ${onCtrlC}`;
      own.err.warn('may_be_billing', `Kept ${what}: ${how} ${next}`);
    } catch (error) {
      const { message } = asCliError(error);
      own.err.warn(
        'may_be_billing',
        `Kept ${what} until its old deadline, since no other could be set for ${name}: ${withStop(message)} ${next}`,
      );
    }
  });
}

/** Returns the deadline that now applies (ISO 8601). */
async function setEarlier({ id, name }: Target, time: number, context: Context): Promise<string> {
  const journal = await ownJournal(context);
  const wanted = await deadlineFrom({ after: time }, context);
  const { deadline: before } = await journal.ends(id);
  if (before != null && Date.parse(before) <= Date.parse(wanted)) return before;
  await setDeadline({ id, name }, { deadline: wanted }, journal, context);
  return wanted;
}

function keptText(
  record: RentedRecord,
  { why, isEmpty, isMissing, waits }: Omit<Keeping, 'isArmed' | 'leaves'>,
) {
  const { id, name } = record;
  const typed = typedName(name, id);
  const ssh = gpucloud('instances', 'ssh', typed);
  if (isEmpty) {
    const stop = gpucloud('jobs', 'stop', typed);
    const what = `${name}, although its job's folder is gone, so that you can look for the results`;
    return { what, next: `Connect: ${ssh}. Terminate it: ${stop}` };
  }
  if (why === 'results' && isMissing) {
    return {
      // There may be no results.
      what: name,
      next: `A path of --fetch is missing there. To ${whereElse(typed, waits)}; ${waits ? 'then terminate it' : 'give the results up'}: ${gpucloud('jobs', 'stop', typed, '--no-fetch')}`,
    };
  }
  return why === 'results'
    ? {
        what: `${name} with its ${copiedBack(record)}`,
        next: waits
          ? `Fix the cause while gpucloud waits. Connect: ${ssh}`
          : `Fix the cause, then fetch and terminate: ${gpucloud('jobs', 'attach', typed)}. Connect: ${ssh}`,
      }
    : {
        what: name,
        next: `Connect: ${ssh}. Terminate it: ${gpucloud('instances', 'terminate', typed)}`,
      };
}
