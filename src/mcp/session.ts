import { randomUUID } from 'node:crypto';
import type { Context, Session } from '../context.ts';
import { CliError, doubt, isOfOneReading, usageError } from '../errors.ts';
import { endEach } from '../instances/change/ending.ts';
import { ensureArmed, readEnforcement } from '../instances/deadlines/armed.ts';
import { serviceTime } from '../instances/deadlines/service-time.ts';
import { ownJournal } from '../instances/recover/pending.ts';
import { type Purse, purseOf } from '../instances/rent/purse.ts';
import type { Journal } from '../journal/index.ts';
import { gpucloud } from '../output/shell-line.ts';
import { minuteText } from '../output/time.ts';
import { kopecksText, type Money } from '../rules/money.ts';
import type { Level } from './tools.ts';

export interface SessionFlags {
  readonly allow: Level;
  readonly maxCost: Money | undefined;
  readonly maxInstances: number | undefined;
  /** Milliseconds. */
  readonly for: number | undefined;
  readonly keep: boolean;
  readonly unenforced: boolean;
}

/** A session that may rent. */
export interface Renting {
  readonly limits: Omit<Session, 'call'>;
  readonly keep: boolean;
  readonly unenforced: boolean;
  readonly journal: Journal;
}

/** Milliseconds between two checks of deadlines. */
const LOOK = 30_000;

/** Checks the flags. Returns undefined for a session that rents nothing. */
export async function openSession(
  flags: SessionFlags,
  context: Context,
): Promise<Renting | undefined> {
  const { allow, maxCost, maxInstances, keep, unenforced } = flags;
  if (allow === 'read') {
    const given = maxCost ?? maxInstances ?? flags.for;
    if (given === undefined && !keep) return undefined;
    throw usageError(
      '--max-cost, --max-instances, --for and --keep need --allow jobs or all: a read session rents nothing',
    );
  }
  if (maxCost === undefined || flags.for === undefined) {
    throw usageError(
      `--allow ${allow} needs --max-cost and --for: they limit what an agent can spend`,
      gpucloud('mcp', '--allow', allow, '--max-cost', '500', '--for', '4h'),
    );
  }
  if (!unenforced) await ensureArmed(['deadline', 'job'], context);
  const journal = await ownJournal(context);
  const account = await journal.account();
  if (unenforced && !(await readEnforcement({ account }, context)).deadline.isArmed) {
    context.err.warn(
      'deadline_unenforced',
      `If this server is killed, nothing terminates what the session rented. Schedule termination: ${gpucloud('instances', 'reap', '--install')}`,
    );
  }
  const time = await serviceTime(context);
  const endsAt = time.now() + flags.for;
  const limits = { id: randomUUID(), maxCost, maxInstances, endsAt };
  return { limits, keep, unenforced, journal };
}

/** Describes a purse for agents, in the service's names. */
export function purseShown({ limits }: Renting, purse: Purse): object {
  const { maxCost, maxInstances, endsAt } = limits;
  const { committed, living, open } = purse;
  return {
    max_cost: kopecksText(maxCost),
    committed: kopecksText(committed),
    left: kopecksText(maxCost.minus(committed)),
    max_instances: maxInstances ?? null,
    instances: living.map(({ id, name, deadline }) => ({ id, name, ends_at: deadline ?? null })),
    unknown_requests: open.map(({ name }) => name),
    ends_at: new Date(endsAt).toISOString(),
  };
}

/**
 * Terminates a session's instances, except those of the calls that still run. Returns an error for
 * each instance that may still be billing.
 */
export async function endRented(
  { limits, journal }: Renting,
  running: ReadonlySet<number>,
  context: Context,
  isDue: (deadline: string | undefined) => boolean = () => true,
): Promise<CliError[]> {
  const { living } = await purseOf(limits, journal);
  const targets = living
    .filter(({ session, deadline }) => !running.has(session?.call ?? 0) && isDue(deadline))
    .map(({ id, name, last }) => ({ id, name, last: last?.status }));
  const endings = await endEach(targets, context);
  return endings.flatMap((ending) => (ending.kind === 'ended' ? [] : [ending.error]));
}

/** Returns an error for each request of the session whose outcome is unknown. */
export async function unresolved({ limits, journal }: Renting): Promise<CliError[]> {
  const { open } = await purseOf(limits, journal);
  return open.map(({ name }) =>
    doubt(`The outcome of the session's request for ${name} is unknown. It may be billing.`, {
      resource: name,
      hint: gpucloud('instances', 'recover', name),
    }),
  );
}

/**
 * Terminates instances at their deadlines, and returns when the session's time is over. `running`
 * are the calls that end their own instances.
 */
export async function watchDeadlines(
  renting: Renting,
  running: () => ReadonlySet<number>,
  signal: AbortSignal,
  context: Context,
): Promise<void> {
  const { clock, serviceClock } = context;
  const { limits } = renting;
  for (;;) {
    const left = limits.endsAt - serviceClock.now();
    if (left <= 0) return;
    await clock.sleep(Math.min(LOOK, left), signal);
    const { living } = await purseOf(limits, renting.journal);
    if (living.length === 0) continue;
    try {
      // The sandbox's clock may be advanced, and a computer that slept has lost the time.
      await (await context.api({ quiet: true })).users.me();
    } catch (error) {
      if (!isOfOneReading(error)) throw error;
    }
    const isDue = (deadline: string | undefined) =>
      Date.parse(deadline ?? '') <= serviceClock.now();
    for (const error of await endRented(renting, running(), context, isDue)) {
      context.err.warn('deadline_passed', error.message);
    }
  }
}

/** Returns the error of a call after the session's end. */
export function sessionOver(renting: Renting | undefined): CliError {
  const at =
    renting === undefined ? '' : ` It was limited to ${minuteText(renting.limits.endsAt)}.`;
  return new CliError('usage', `The session has ended.${at} Nothing was sent.`, { code: 'guard' });
}
