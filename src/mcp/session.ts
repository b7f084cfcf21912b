import { randomUUID } from 'node:crypto';
import { AT_ONCE, createGate } from '../concurrency.ts';
import type { Context, Session } from '../context.ts';
import { CliError, doubt, failuresOf, isInterrupt, isOfOneReading, usageError } from '../errors.ts';
import { endOne } from '../instances/change/ending.ts';
import { ensureArmed } from '../instances/deadlines/armed.ts';
import { readSandboxTime, serviceTime } from '../instances/deadlines/service-time.ts';
import { warnUnenforced } from '../instances/deadlines/unenforced.ts';
import { journalOfKey } from '../instances/recover/pending.ts';
import { purseOf } from '../instances/rent/purse.ts';
import type { JobRecord } from '../jobs/record/record.ts';
import { missingPaths, rescueFirst } from '../jobs/rescue/pass.ts';
import { finishJobs, openJobs } from '../jobs/verbs/finish.ts';
import { LAST_TRY } from '../jobs/verbs/hand-over.ts';
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
  readonly limits: Omit<Session, 'call' | 'ended'>;
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
  return { limits: { id: randomUUID(), maxCost, maxInstances, endsAt, keeps: keep }, journal };
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

/** Returns how long a deadline has passed, in milliseconds; NaN without one. */
export function lateness(
  { deadline }: Pick<KnownInstance, 'deadline'>,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): number {
  return serviceClock.now() - Date.parse(deadline ?? '');
}

/** Prints what the third signal does: it ends this process at once. */
export async function explainThird({ limits, journal }: Renting, { err }: Context): Promise<void> {
  const names = (await purseOf(limits, journal)).living.map(({ name }) => name);
  const left = names.length === 1 ? 'it to its deadline' : 'them to their deadlines';
  if (names.length === 0) return;
  err.note(`Still terminating ${names.join(', ')}. Another signal leaves ${left}.`);
}

/** Neither stops jobs nor hurries by default. */
interface HowToEnd {
  /** Returns whether it has terminated the instance. */
  stopJob?(instance: Pick<KnownInstance, 'id' | 'name'>): Promise<boolean>;
  /**
   * Also terminates an instance if the context's signal ends copying, since nothing else would if
   * the client killed the server.
   */
  readonly hurries?: boolean;
  /** Gets an error for each instance that ends before its `--rescue` paths are copied. */
  onLost(error: CliError): void;
}

/**
 * Terminates some of a session's instances. First copies the paths of `--rescue`, until the context's
 * signal, and stops their jobs with `stopJob`. If copying is impossible, leaves the instance to its
 * deadline. Returns an error for each instance that may still be billing.
 */
export async function endRented(
  { limits, journal }: Renting,
  which: (instance: KnownInstance) => boolean,
  context: Context,
  { stopJob = async () => false, hurries = false, onLost }: HowToEnd,
): Promise<CliError[]> {
  const { living } = await purseOf(limits, journal);
  const gate = createGate(AT_ONCE);
  async function copied(one: Pick<KnownInstance, 'id' | 'name'>): Promise<CliError[]> {
    try {
      for (const error of await rescueFirst(one, context)) onLost(error);
    } catch (error) {
      if (!hurries || !context.signal.aborted) return failuresOf(Promise.reject(error));
      const missing = await missingPaths(one.id, context);
      if (missing === undefined) return [];
      const message = `Terminating ${one.name} although its --rescue is incomplete (${missing}).`;
      onLost(new CliError('runFailed', message, { resource: one.id }));
    }
    return [];
  }
  async function endIt({ last, rescue, ...one }: KnownInstance): Promise<CliError[]> {
    const [fault] = rescue === undefined ? [] : await copied(one);
    if (fault !== undefined) {
      return [fault.with(fault.message, { resource: one.id, mayBeBilling: true })];
    }
    // Not before copying, since it terminates the instance.
    if (await stopJob(one)) return [];
    const ending = await endOne({ ...one, last: last?.status }, context, gate);
    return ending.kind === 'ended' ? [] : [ending.error];
  }
  return (await Promise.all(living.filter(which).map(endIt))).flat();
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
 * Finishes detached jobs and terminates instances at their deadlines, as `reap` does, until the
 * context's signal. Calls `onOver` when the session's time is over, or with why it can't go on. Returns
 * when nothing is in hand.
 */
export async function watchDeadlines(
  renting: Renting,
  onOver: (...faults: unknown[]) => void,
  context: Context,
): Promise<void> {
  const { clock, err, serviceClock, signal } = context;
  const { limits, journal } = renting;
  const warn = (faults: readonly CliError[]) => {
    for (const fault of faults) {
      if (!isInterrupt(fault)) err.warn('deadline_passed', fault.message);
    }
  };
  async function endInTime({ id }: KnownInstance, jobs: readonly JobRecord[]): Promise<void> {
    await finishJobs({ open: jobs, every: LOOK }, context, ({ error }) => {
      if (error !== undefined) err.warn('job_unfinished', error.message);
    });
    const isDue = (one: KnownInstance) => one.id === id && lateness(one, context) >= 0;
    const onLost = ({ message }: CliError) => err.warn('rescue_failed', message);
    warn(await endRented(renting, isDue, context, { onLost }));
  }
  const inHand = new Map<string, Promise<void>>();
  try {
    for (;;) {
      const left = limits.endsAt - serviceClock.now();
      if (left <= 0) return onOver();
      await clock.sleep(Math.min(LOOK, left), signal);
      const { living } = await purseOf(limits, journal);
      if (living.length === 0) continue;
      await readClock(context);
      const { open } = await openJobs(context);
      signal.throwIfAborted();
      for (const one of living) {
        const jobs = open.filter(({ id }) => id === one.id);
        if (jobs.length === 0 && !(lateness(one, context) >= 0)) continue;
        // A job ends its last try by itself; this holds even if its connection hangs.
        const isLate = jobs.length > 0 && lateness(one, context) > LAST_TRY;
        const task = `${one.id} ${isLate}`;
        if (inHand.has(task)) continue;
        // A copy can last long. Other deadlines don't wait for it.
        const work = failuresOf(endInTime(one, isLate ? [] : jobs)).then((faults) => {
          warn(faults);
          inHand.delete(task);
        });
        inHand.set(task, work);
      }
    }
  } catch (error) {
    if (!signal.aborted) onOver(error);
  } finally {
    await Promise.all(inHand.values());
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
