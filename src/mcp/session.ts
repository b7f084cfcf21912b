import { randomUUID } from 'node:crypto';
import type { Context, Session } from '../context.ts';
import { type CliError, doubt, failuresOf, isOfOneReading, usageError } from '../errors.ts';
import { endEach } from '../instances/change/ending.ts';
import { ensureArmed } from '../instances/deadlines/armed.ts';
import { readSandboxTime, serviceTime } from '../instances/deadlines/service-time.ts';
import { warnUnenforced } from '../instances/deadlines/unenforced.ts';
import { journalOfKey } from '../instances/recover/pending.ts';
import { purseOf } from '../instances/rent/purse.ts';
import type { Target } from '../instances/resolve.ts';
import { rescueFirst } from '../jobs/rescue/pass.ts';
import { openJobs } from '../jobs/verbs/finish.ts';
import type { Journal, KnownInstance } from '../journal/index.ts';
import { gpucloud } from '../output/shell-line.ts';
import { kopecksText, type Money } from '../rules/money.ts';
import type { Level } from './tools.ts';

export interface SessionFlags {
  readonly allow: Level;
  readonly maxCost: Money | undefined;
  readonly maxInstances: number | undefined;
  readonly for: number | undefined;
  readonly keep: boolean;
  readonly unenforced: boolean;
}

/** A session that may rent, and where its instances are recorded. */
export interface Renting {
  readonly limits: Omit<Session, 'call'>;
  readonly journal: Journal;
}

/** Milliseconds between two checks of deadlines. */
const LOOK = 30_000;

/** Checks the flags. Returns undefined for a session that rents nothing. */
export async function openSession(
  { allow, maxCost, maxInstances, for: time, keep, unenforced }: SessionFlags,
  context: Context,
): Promise<Renting | undefined> {
  if (allow === 'read') {
    if ((maxCost ?? maxInstances ?? time) === undefined && !keep) return undefined;
    throw usageError(
      '--max-cost, --max-instances, --for and --keep need --allow jobs or all: a read session rents nothing',
    );
  }
  if (maxCost === undefined || time === undefined) {
    throw usageError(
      `--allow ${allow} needs --max-cost and --for: they limit what an agent can spend`,
      gpucloud('mcp', '--allow', allow, '--max-cost', '500', '--for', '4h'),
    );
  }
  if (!unenforced) await ensureArmed(['deadline', 'job'], context);
  const journal = await journalOfKey(context);
  if (unenforced) await warnUnenforced(['deadline', 'job'], journal, context);
  const endsAt = (await serviceTime(context)).now() + time;
  return { limits: { id: randomUUID(), maxCost, maxInstances, endsAt }, journal };
}

/** Describes the purse for agents, in the service's names. */
export async function purseShown({ limits, journal }: Renting): Promise<object> {
  const { maxCost, maxInstances, endsAt } = limits;
  const { committed, living, open } = await purseOf(limits, journal);
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

interface Ending {
  /** An error for each instance that may still be billing. */
  readonly doubts: readonly CliError[];
  /** An error for each instance that ended before its `--rescue` paths were copied. */
  readonly lost: readonly CliError[];
}

/** Terminates some of a session's instances. */
export async function endRented(
  { limits, journal }: Renting,
  which: (instance: KnownInstance) => boolean,
  context: Context,
): Promise<Ending> {
  const { living } = await purseOf(limits, journal);
  const targets = living.filter(which).map(({ last, ...one }) => ({ ...one, last: last?.status }));
  const rescued = new Set(living.flatMap(({ id, rescue }) => (rescue === undefined ? [] : id)));
  const lost: CliError[] = [];
  const doubts = await Promise.all([
    endAll(
      targets.filter(({ id }) => !rescued.has(id)),
      context,
    ),
    ...targets.filter(({ id }) => rescued.has(id)).map((one) => endRescued(one, lost, context)),
  ]);
  return { doubts: doubts.flat(), lost };
}

/**
 * Copies the paths of `--rescue` first, also after an interrupt. If that is impossible, leaves the
 * instance to its deadline.
 */
async function endRescued(target: Target, lost: CliError[], context: Context): Promise<CliError[]> {
  const copied = context.shielded(async (own) => {
    lost.push(...(await rescueFirst(target, own)));
  });
  const faults = await failuresOf(copied);
  if (faults.length > 0) {
    return faults.map((fault) =>
      fault.with(fault.message, { resource: target.id, mayBeBilling: true }),
    );
  }
  return endAll([target], context);
}

async function endAll(targets: readonly Target[], context: Context): Promise<CliError[]> {
  const endings = await endEach(targets, context);
  return endings.flatMap((ending) => (ending.kind === 'ended' ? [] : [ending.error]));
}

/** Returns some of a session's instances, those with a job that has not ended. */
export async function withJobs(
  { limits, journal }: Renting,
  which: (instance: KnownInstance) => boolean,
  context: Context,
): Promise<KnownInstance[]> {
  const { living } = await purseOf(limits, journal);
  const { open } = await openJobs(context);
  return living.filter((one) => which(one) && open.some(({ id }) => id === one.id));
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

/** Terminates instances at their deadlines, and returns when the session's time is over. */
export async function watchDeadlines(
  renting: Renting,
  signal: AbortSignal,
  context: Context,
): Promise<void> {
  const { clock, err, serviceClock } = context;
  const { limits, journal } = renting;
  const copying = new Set<string>();
  const report = ({ doubts, lost }: Ending) => {
    for (const { message } of doubts) err.warn('deadline_passed', message);
    for (const { message } of lost) err.warn('rescue_failed', message);
  };
  for (;;) {
    const left = limits.endsAt - serviceClock.now();
    if (left <= 0) return;
    await clock.sleep(Math.min(LOOK, left), signal);
    const { living } = await purseOf(limits, journal);
    if (living.length === 0) continue;
    await readClock(context);
    const isDue = ({ deadline }: KnownInstance) => Date.parse(deadline ?? '') <= serviceClock.now();
    // A copy can last as long as its budget. Other deadlines and the session's end don't wait for it.
    for (const { id } of living.filter((one) => one.rescue !== undefined && isDue(one))) {
      if (copying.has(id)) continue;
      copying.add(id);
      const ended = endRented(renting, (one) => one.id === id, context).then(report);
      void failuresOf(ended).then((faults) => {
        report({ doubts: faults, lost: [] });
        copying.delete(id);
      });
    }
    report(await endRented(renting, (one) => one.rescue === undefined && isDue(one), context));
  }
}

/** Reads the service's time again: a computer that slept has lost it. */
async function readClock(context: Context): Promise<void> {
  const { serviceClock } = context;
  try {
    if (serviceClock.isExact()) await readSandboxTime(context);
    else {
      await (await context.api({ quiet: true })).users.me();
    }
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
  }
}
