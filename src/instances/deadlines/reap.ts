import { recoverLine } from '../../command-line/hints.ts';
import { AT_ONCE, createGate, type Gate } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { CliError, doubt, ensureCliError, failuresOf, isInterrupt } from '../../errors.ts';
import type { Deadline, Journal } from '../../journal/index.ts';
import type { Reaped } from '../../json-results/instances.ts';
import { lazy } from '../../lazy.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { spanText } from '../../output/time.ts';
import { typedName } from '../../rules/names.ts';
import { mayBill } from '../../rules/statuses.ts';
import { endHeld } from '../change/ending.ts';
import { readInstance } from '../read.ts';
import { ownJournal } from '../recover/pending.ts';
import { type ServiceTime, serviceTime, warnOfDifference } from './service-time.ts';

/** A pass of `reap`: the service accepted the key, and its time is known. */
export interface Pass {
  readonly journal: Journal;
  readonly time: ServiceTime;
  /** Limits concurrent terminations. */
  readonly gate: Gate;
  /** Why the service did not confirm the key. */
  readonly unproven: CliError | undefined;
}

/** Throws if the service can't be reached with the profile's key. */
export async function beginPass(context: Context): Promise<Pass> {
  const api = await context.api({ quiet: true });
  // Fetches the service's time, and proves that the key works even if nothing is past its deadline.
  const me = lazy(() => api.users.me());
  const [unproven] = await failuresOf(me());
  // A service that can't return the profile may still terminate instances.
  if (unproven !== undefined && (unproven.httpStatus ?? 0) < 500) throw unproven;
  const journal = await ownJournal(context, me);
  const time = await timeOfPass(unproven, journal, context);
  return { journal, time, gate: createGate(AT_ONCE), unproven };
}

export interface Reaping {
  readonly rows: readonly Reaped[];
  readonly errors: readonly CliError[];
}

/**
 * Terminates the account's instances whose deadline has passed by the service's clock, except those
 * that `leaves` leaves to their job. Setting the deadline was the consent. Continues after a
 * failure.
 */
export async function reapOverdue(
  pass: Pass,
  leaves: (id: string) => boolean,
  context: Context,
): Promise<Reaping> {
  const { journal, time } = pass;
  const unknown: Ended[] = [];
  const unread = await failuresOf(
    overdueRequests(time.now(), journal).then((found) => unknown.push(...found)),
  );
  const all = await journal.deadlines();
  const due = all.filter(({ id }) => !leaves(id));
  const { rows, errors } = reaping([...unknown, ...(await endOverdue(due, pass, context))]);
  const odd = all.flatMap((one) => (one.deadline === undefined ? unreadable(one) : []));
  return { rows, errors: [...errors, ...unread, ...odd] };
}

function reaping(done: readonly Ended[]): Reaping {
  return {
    rows: done.flatMap(({ row }) => row ?? []),
    errors: done.flatMap(({ error }) => error ?? []),
  };
}

async function endOverdue(
  all: readonly Deadline[],
  pass: Pass,
  context: Context,
): Promise<Ended[]> {
  const { time } = pass;
  const overdue = all.flatMap(({ deadline, rescue, ...one }) =>
    // Its paths are copied first.
    deadline != null && rescue === undefined && isPast(deadline, time.now())
      ? [{ ...one, deadline }]
      : [],
  );
  const ended = await Promise.all(overdue.map((one) => terminate(one, pass, context)));
  return ended.filter((one) => one !== undefined);
}

/** Terminates an instance whose deadline has waited for its job, unless the job has terminated it. */
export async function reapAfterJob(id: string, pass: Pass, context: Context): Promise<Reaping> {
  const all = await pass.journal.deadlines();
  const left = all.filter((one) => one.id === id && mayBill(one.status));
  return reaping(await endOverdue(left, pass, context));
}

/**
 * Determines the pass's time. If the service did not return the profile (`unproven`), reading an
 * instance shows the time.
 */
async function timeOfPass(
  unproven: CliError | undefined,
  journal: Journal,
  context: Context,
): Promise<ServiceTime> {
  const api = await context.api();
  const known = unproven === undefined ? [] : await journal.deadlines();
  async function readAny(): Promise<void> {
    for (const { id } of known) {
      if ((await readInstance(id, api)).kind === 'there') return;
    }
    throw unproven;
  }
  try {
    const time = await serviceTime(context, unproven && readAny);
    warnOfDifference(time, context);
    return time;
  } catch (error) {
    ensureCliError(error);
    if (error.failure !== 'notUnderstood' && error !== unproven) throw error;
    const [first, ...others] = await journal.deadlines();
    if (first === undefined) throw error;
    const whose = `${first.name}${others.length === 0 ? '' : ` and ${others.length} more`}`;
    const message = `${error.message} The deadline of ${whose} is not enforced before the next run.`;
    throw error.with(message, { mayBeBilling: true });
  }
}

type Overdue = Pick<Deadline, 'id' | 'name'> & { readonly deadline: string };

export interface Ended {
  /** Missing if an interrupt came before the request. */
  readonly row?: Reaped;
  readonly error?: CliError;
}

/**
 * Reports overdue requests. Never terminates by name: an instance with the request's name may
 * belong to someone else.
 */
async function overdueRequests(now: number, journal: Journal): Promise<Ended[]> {
  const open = (await journal.requests()).filter(({ isInFlight }) => !isInFlight);
  return open.flatMap(({ name, deadline }) => {
    if (deadline === undefined || !isPast(deadline, now)) return [];
    const row = { ...overdueRow(null, name, deadline, now), outcome: 'unknown' } as const;
    return { row, error: stillUnknown(row) };
  });
}

/**
 * Terminates one instance. Returns undefined if its deadline has changed, since the new deadline
 * applies.
 */
function terminate(
  { id, name, deadline }: Overdue,
  { time: { now }, gate, journal }: Pass,
  context: Context,
): Promise<Ended | undefined> {
  const row = overdueRow(id, name, deadline, now());
  return endedRow(row, () =>
    endHeld(
      { id, name },
      (held) => {
        if (held.deadline === undefined) throw unreadable(row);
        return held.deadline !== null && isPast(held.deadline, now());
      },
      journal,
      context,
      gate,
    ),
  );
}

/** Runs a termination and returns its row. Never throws a CliError: it would hide other rows. */
export async function endedRow<R extends Omit<Reaped, 'outcome'> & { readonly id: string }>(
  row: R,
  work: () => ReturnType<typeof endHeld>,
): Promise<Ended | undefined> {
  let ending: Awaited<ReturnType<typeof work>>;
  try {
    ending = await work();
  } catch (error) {
    ensureCliError(error);
    if (isInterrupt(error)) return { error };
    return { row: { ...row, outcome: 'refused' }, error: named(error, row) };
  }
  switch (ending?.kind) {
    case undefined:
      return undefined;
    case 'ended':
      return { row: { ...row, outcome: ending.isAlready ? 'already_ended' : 'terminated' } };
    case 'uncertain':
      return { row: { ...row, outcome: 'unknown' }, error: ending.error };
    case 'refused': {
      const { error } = ending;
      return error.failure === 'notFound'
        ? { row: { ...row, outcome: 'unknown' }, error: nowhere(row, error) }
        : { row: { ...row, outcome: 'refused' }, error: named(error, row) };
    }
  }
}

function isPast(deadline: string, now: number): boolean {
  return Date.parse(deadline) <= now;
}

function overdueRow<T extends string | null>(id: T, name: string, deadline: string, now: number) {
  const overdue_seconds = Math.floor((now - Date.parse(deadline)) / 1000);
  return { id, name, deadline, overdue_seconds, reason: 'deadline', exit_code: null } as const;
}

/** Names the instance of an error, unless the error names it. */
export function named(error: CliError, { id, name }: Pick<Deadline, 'id' | 'name'>): CliError {
  const isNamed = error.message.includes(name);
  if (isNamed && error.resource !== undefined) return error;
  return error.with(isNamed ? error.message : `${name}: ${error.message}`, { resource: id });
}

/** Reports a 404. It doesn't prove a termination: terminated instances stay readable. */
function nowhere({ id, name }: Pick<Overdue, 'id' | 'name'>, { httpStatus }: CliError): CliError {
  return doubt(
    `${name} (${id}) is due, but the service returned 404. It may be billing on another account.`,
    {
      httpStatus,
      hint: `check the web console; stop tracking the instance: ${gpucloud('instances', 'untrack', typedName(name, id))}`,
      resource: id,
    },
  );
}

function unreadable({ id, name }: Pick<Deadline, 'id' | 'name'>): CliError {
  return new CliError('storage', `Could not read the deadline of ${name} (${id}).`, {
    hint: `set the deadline again: ${gpucloud('instances', 'expire', typedName(name, id), '--after', '4h')}`,
    resource: id,
    mayBeBilling: true,
  });
}

function stillUnknown({ name, overdue_seconds }: Reaped): CliError {
  return doubt(
    `${name} is ${spanText(overdue_seconds)} past its deadline, but the outcome of its request is unknown. It may exist and be billing.`,
    { hint: recoverLine(name), resource: name },
  );
}
