import { sentence } from '../api/errors.ts';
import type { Drive, Instance } from '../api/index.ts';
import { textField } from '../api/open-fields.ts';
import { AT_ONCE, eachBounded } from '../concurrency.ts';
import type { Context } from '../context.ts';
import { ensureCliError } from '../errors.ts';
import type { Changed } from '../instances/change/outcome.ts';
import { BRIEFLY } from '../instances/read.ts';
import { knownHere, readAll, titled } from '../instances/rent/preflight.ts';
import type { Target } from '../instances/resolve.ts';
import { gpucloud } from '../output/shell-line.ts';
import { instant, spanText } from '../output/time.ts';
import { inRoubles, type Money, priceIn } from '../rules/money.ts';
import { instanceStatus, isTerminated } from '../rules/statuses.ts';
import { billsOf, driveItem } from './rows.ts';

/** Asks before terminating, then finds the refunds. */
export function termination(context: Context) {
  /** Maps each instance to the IDs of its newest events before the termination. */
  const earlier = new Map<string, ReadonlySet<string>>();
  const shown = new Map<string, Instance>();
  /**
   * Computes the refund when the service accepts the request: a new hour may have begun before the
   * person confirmed.
   */
  const expected = new Map<string, Money | undefined>();
  /** The attached drives, by the IDs of their instances. Afterwards, no response may name them. */
  const attached = new Map<string, unknown>();

  /**
   * Asks about each instance by name, with its last known price. If interactive, reads the
   * instances first and shows their age and the refund. Returns undefined if all are already
   * terminated.
   */
  async function question(targets: readonly Target[]): Promise<string | undefined> {
    if (targets.length === 0) return 'Terminate the instances listed on stdin?';
    const [only] = targets.length === 1 ? targets : [];
    const disks = () => `${only === undefined ? 'their disks' : 'its disk'}${keptText(targets)}`;
    const known = await knownHere(context);
    const described = targets.map((target) => {
      const last = known.find(({ id }) => id === target.id)?.last;
      const price = priceIn(last?.price_per_hour_snapshot);
      const isPriced = price !== undefined && instanceStatus(last?.status).bills === 'yes';
      return titled(target, isPriced ? `, ${inRoubles(price)}/h` : '');
    });
    if ((await context.prompts()) !== undefined) {
      const read = await readAll(targets, context);
      if (read.every((instance) => isTerminated(instance?.status))) return undefined;
      const now = context.serviceClock.now();
      for (const [at, instance] of read.entries()) {
        if (instance === undefined) {
          context.err.note(`Could not read ${described[at]}.`);
          continue;
        }
        shown.set(instance.id, instance);
        attached.set(instance.id, instance.storage_drive);
        const rest = restOf(instance, now);
        context.err.note(`${atStake(instance, now)}${rest === undefined ? '' : backText(rest)}.`);
      }
      return only === undefined
        ? `Terminate these ${targets.length} instances and ${disks()}?`
        : `Terminate ${titled(only)} and ${disks()}?`;
    }
    return `Terminate ${described.join(' and ')} and delete ${disks()}?`;
  }

  /** Names the drives that stay, since the question is about disks. */
  function keptText(targets: readonly Target[]): string {
    const drives = targets.flatMap(({ id }) => nameOf(attached.get(id)) ?? []);
    if (drives.length === 0) return '';
    return `, but keep ${drives.length === 1 ? 'drive' : 'drives'} ${drives.join(', ')}`;
  }

  /**
   * Returns the logged refunds of awaited instances, the expected refunds of the others, and the
   * drives that keep billing, by ID of the instance.
   */
  async function refunds(
    changed: readonly Changed[],
    waited: boolean,
  ): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    if (context.out.format !== 'table') return found;
    const ended = changed.filter((one) => expected.has(one.id));
    const drives = await readDrives(ended.map(({ id }) => id));
    for (const { id, status } of ended) {
      const amount = expected.get(id);
      const about = amount === undefined ? [] : [`About ${inRoubles(amount)} will be returned.`];
      const logged = waited && isTerminated(status) ? await billed(id) : [];
      // The service's own words: without a time, they read as the cost of the whole rental.
      const lastHour = logged.length === 0 ? about : [`For its last hour: ${logged.join(' ')}`];
      const facts = [...lastHour, ...driveText(id, drives)];
      if (facts.length > 0) found.set(id, facts.join(' '));
    }
    return found;
  }

  /** Finds the drives of the instances as last read. */
  async function findDrives(targets: readonly Target[]): Promise<void> {
    const ids = new Set(targets.map(({ id }) => id));
    for (const { id, last } of await knownHere(context)) {
      if (ids.has(id)) attached.set(id, last?.storage_drive);
    }
  }

  /** Returns the account's drives if an ending instance has one; none if they can't be read. */
  async function readDrives(ids: readonly string[]): Promise<readonly Drive[]> {
    if (ids.every((id) => attached.get(id) == null)) return [];
    try {
      return await (await context.api()).drives.list(BRIEFLY);
    } catch (error) {
      ensureCliError(error);
      return [];
    }
  }

  /** The service keeps the drive of a terminated instance, and bills it. */
  function driveText(id: string, drives: readonly Drive[]): string[] {
    const drive = attached.get(id);
    if (drive == null) return [];
    const now = drives.find((one) => one.id === textField(drive, 'id'));
    if (now !== undefined && billsOf(driveItem(now)) === 'no') return [];
    const name = now?.name ?? nameOf(drive);
    const price = priceIn(now?.price_per_hour);
    const cost = price === undefined ? 'keeps billing' : `bills ${inRoubles(price)} per hour`;
    return [
      `${name === undefined ? 'Its drive' : `Drive ${name}`} is kept and ${cost}, and the API can't delete it: ${gpucloud('drives', 'list')}`,
    ];
  }

  /** Reads the logs before the termination, so that {@link refunds} shows only later events. */
  async function readLogs(targets: readonly Target[]): Promise<void> {
    if (context.out.format !== 'table') return;
    let isReadable = true;
    await eachBounded(targets, AT_ONCE, async ({ id }) => {
      // Reads the logs in parallel: every instance keeps billing while another instance's log times
      // out.
      if (!isReadable) return;
      const events = await newestEvents(id);
      if (events === undefined) isReadable = false;
      else earlier.set(id, new Set(events.map((event) => event.id)));
    });
    context.signal.throwIfAborted();
  }

  /** Returns the service's log messages about the cost of the termination, oldest first. */
  async function billed(id: string): Promise<string[]> {
    const before = earlier.get(id);
    const events = before === undefined ? undefined : await newestEvents(id);
    return (events ?? [])
      .filter((event) => event.type === 'BILLING' && before?.has(event.id) === false)
      .map(({ message }) => sentence(message ?? ''))
      .reverse();
  }

  /** Returns undefined if the log can't be read, since it only adds details. */
  async function newestEvents(id: string) {
    try {
      const api = await context.api();
      return (await api.instances.events(id, {}, BRIEFLY)).data;
    } catch (error) {
      ensureCliError(error);
      return undefined;
    }
  }

  function onAccepted(id: string): void {
    const instance = shown.get(id);
    expected.set(id, instance && restOf(instance, context.serviceClock.now())?.amount);
  }
  return { question, findDrives, readLogs, onAccepted, refunds };
}

/** Returns an attached drive's name or ID. */
function nameOf(drive: unknown): string | undefined {
  return textField(drive, 'name') ?? textField(drive, 'id');
}

/** Formats `trainer: ACTIVE, 89.90 ₽/h, rented 2 h ago`. */
function atStake(instance: Instance, now: number): string {
  const { name, id, status, price_per_hour_snapshot: price } = instance;
  const amount = priceIn(price);
  const created = instant(instance.created_at);
  const cost = {
    yes: amount === undefined ? 'price unknown' : `${inRoubles(amount)}/h`,
    no: undefined,
    undocumented: 'cost not documented',
  }[instanceStatus(status).bills];
  const facts = [
    status,
    ...(cost === undefined ? [] : [cost]),
    ...(created === undefined ? [] : [`rented ${spanText(Math.max(0, now - created) / 1000)} ago`]),
  ].join(', ');
  return `${name ?? id}: ${facts}`;
}

/** The API document describes reservations only for statuses that bill. */
function restOf({ status, price_per_hour_snapshot: price, paid_until }: Instance, now: number) {
  const isPaid = instanceStatus(status).bills === 'yes';
  return isPaid ? restOfHour(price, instant(paid_until), now) : undefined;
}

function backText({ amount, left }: { amount: Money; left: number }): string {
  return `; about ${inRoubles(amount)} will be returned (${spanText(left / 1000)} left of the paid hour)`;
}

const HOUR = 3_600_000;

/**
 * Returns the refund for the rest of the running hour ("unused reserved funds for the current hour
 * returned", API document: terminate), computed from `paid_until`. Returns undefined unless the
 * fields show a running hour. `left` is in milliseconds. `amount` is rounded down to the kopeck,
 * since the service's rounding is not documented.
 */
export function restOfHour(
  price: string | null | undefined,
  paidUntil: number | undefined,
  now: number,
): { left: number; amount: Money } | undefined {
  const amount = priceIn(price);
  const left = paidUntil === undefined ? 0 : paidUntil - now;
  if (amount === undefined || left <= 0 || left > HOUR) return undefined;
  return { left, amount: amount.times(left).div(HOUR).round(2, 0) };
}
