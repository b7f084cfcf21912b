import { randomUUID } from 'node:crypto';
import { AT_ONCE, createGate } from '../concurrency.ts';
import type { Context, Session } from '../context.ts';
import { CliError, doubt, failuresOf, isInterrupt, isOfOneReading, usageError } from '../errors.ts';
import { endOne } from '../instances/change/ending.ts';
import { ensureArmed } from '../instances/deadlines/armed.ts';
import { serviceTime } from '../instances/deadlines/service-time.ts';
import { warnUnenforced } from '../instances/deadlines/unenforced.ts';
import { journalOfKey } from '../instances/recover/pending.ts';
import { purseOf } from '../instances/rent/purse.ts';
import type { JobRecord } from '../jobs/record/record.ts';
import { missingPaths, rescueFirst } from '../jobs/rescue/pass.ts';
import { notBegun } from '../jobs/rescue/words.ts';
import { finishJobs, openJobs } from '../jobs/verbs/finish.ts';
import { LAST_TRY } from '../jobs/verbs/hand-over.ts';
import type { Journal, KnownInstance } from '../journal/index.ts';
import { gpucloud } from '../output/shell-line.ts';
import { kopecksText, type Money } from '../rules/money.ts';
import type { WarningCode } from '../warnings.ts';
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

export type Target = Pick<KnownInstance, 'id' | 'name'>;

/** Milliseconds between two checks of deadlines. */
const LOOK = 30_000;

/** Checks the flags. Returns undefined for a session that rents nothing. `stop` stops requests. */
export async function openSession(
  { allow, maxCost, maxInstances, for: time, keep, unenforced }: SessionFlags,
  context: Context,
  stop: AbortSignal,
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
  return context.shielded(async (own) => {
    const journal = await journalOfKey(own);
    if (unenforced) await warnUnenforced(['deadline', 'job'], journal, own);
    const endsAt = (await serviceTime(own)).now() + time;
    return { limits: { id: randomUUID(), maxCost, maxInstances, endsAt, keeps: keep }, journal };
  }, stop);
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
export function lateness({ deadline }: KnownInstance, { serviceClock }: Context): number {
  return serviceClock.now() - Date.parse(String(deadline));
}

/**
 * Terminates some of a session's instances, after copying the paths of `--rescue`. If that fails,
 * keeps the instance. Returns an error for each that may still be billing, and adds to `lost` what was
 * not copied from the others. At the end of the session, `stopJob` returns whether it has terminated
 * the instance, the signal terminates without copying, and requests of unknown outcome are errors.
 */
export async function endRented(
  { limits, journal }: Renting,
  which: (instance: KnownInstance) => boolean,
  lost: CliError[],
  context: Context,
  stopJob?: (instance: Target) => Promise<boolean>,
): Promise<CliError[]> {
  const { living, open } = await purseOf(limits, journal);
  const gate = createGate(AT_ONCE);
  async function rescueOne({ id, name }: Target): Promise<CliError[]> {
    const copying = rescueFirst({ id, name }, context).then((errors) => lost.push(...errors));
    const [fault] = await failuresOf(copying);
    if (fault === undefined) return [];
    if (stopJob === undefined || !context.signal.aborted) {
      return [notBegun({ id, name }, fault)];
    }
    const missing = await missingPaths(id, context);
    const message = `Terminating ${name} although its --rescue is incomplete (${missing}).`;
    if (missing !== undefined) lost.push(new CliError('runFailed', message, { resource: id }));
    return [];
  }
  async function endIt({ id, name, last, rescue }: KnownInstance): Promise<CliError[]> {
    const faults = rescue === undefined ? [] : await rescueOne({ id, name });
    // Not before copying, since stopping the job terminates the instance.
    if (faults.length > 0 || (await stopJob?.({ id, name })) === true) return faults;
    const ending = await endOne({ id, name, last: last?.status }, context, gate);
    return ending.kind === 'ended' ? [] : [ending.error];
  }
  const faults = (await Promise.all(living.filter(which).map(endIt))).flat();
  if (stopJob === undefined) return faults;
  const doubts = open.map(({ name }) =>
    doubt(`The outcome of the session's request for ${name} is unknown. It may be billing.`, {
      resource: name,
      hint: gpucloud('instances', 'recover', name),
    }),
  );
  return [...faults, ...doubts];
}

/**
 * Finishes detached jobs and ends instances at their deadlines, as `reap` does, until the signal.
 * Calls `onOver` when the session's time is over or an error stops it. Waits for what is in hand.
 */
export async function watchDeadlines(
  renting: Renting,
  onOver: (fault?: unknown) => void,
  context: Context,
): Promise<void> {
  const { clock, err, serviceClock, signal } = context;
  const { limits, journal } = renting;
  const warn = (code: WarningCode, error: CliError | undefined) => {
    if (error !== undefined && !isInterrupt(error)) err.warn(code, error.message);
  };
  async function endInTime({ id }: KnownInstance, jobs: readonly JobRecord[]): Promise<void> {
    await finishJobs({ open: jobs, every: LOOK }, context, ({ error }) =>
      warn('job_unfinished', error),
    );
    const lost: CliError[] = [];
    const isDue = (one: KnownInstance) => one.id === id && lateness(one, context) >= 0;
    const faults = await endRented(renting, isDue, lost, context);
    for (const error of faults) warn('deadline_passed', error);
    for (const error of lost) warn('rescue_failed', error);
  }
  const inHand = new Map<string, Promise<void>>();
  try {
    for (;;) {
      const left = limits.endsAt - serviceClock.now();
      if (left <= 0) return onOver();
      await clock.sleep(Math.min(LOOK, left), signal);
      const { living } = await purseOf(limits, journal);
      if (living.length === 0) continue;
      // A computer that slept has lost the service's time.
      const [unread] = await failuresOf(serviceTime(context));
      if (unread !== undefined && !isOfOneReading(unread)) throw unread;
      const { open } = await openJobs(context);
      signal.throwIfAborted();
      for (const one of living) {
        const jobs = open.filter(({ id }) => id === one.id);
        // A job ends its last try by itself; this holds even if its connection hangs.
        const isLate = jobs.length > 0 && lateness(one, context) > LAST_TRY;
        const task = `${one.id} ${isLate}`;
        if (inHand.has(task)) continue;
        // A copy can last long. Other deadlines don't wait for it.
        const work = failuresOf(endInTime(one, isLate ? [] : jobs))
          .then(([fault]) => warn('deadline_passed', fault), onOver)
          .finally(() => inHand.delete(task));
        inHand.set(task, work);
      }
    }
  } catch (error) {
    if (!signal.aborted) onOver(error);
  } finally {
    await Promise.all(inHand.values());
  }
}
