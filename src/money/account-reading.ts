import type { Api, CallOptions, Drive, User } from '../api/index.ts';
import type { Context } from '../context.ts';
import { type CliError, isOfOneReading } from '../errors.ts';
import { learnAccount, tellMissing } from '../instances/account.ts';
import { WHAT } from '../instances/journaled-errors.ts';
import {
  type KnownMachines,
  type Listed,
  type ReadHow,
  readKnownMachines,
} from '../instances/known-machines.ts';
import type { UnknownRequest } from '../journal/index.ts';
import { type Money, zero } from '../rules/money.ts';
import { isTerminated } from '../rules/statuses.ts';
import { momentOf, postingOf } from './ledger.ts';
import { type RecentHistory, readRecentHistory } from './recent-history.ts';
import type { Chargeable, Explained } from './unexplained.ts';
import { explain } from './unexplained.ts';

/** What an account has and costs, as far as it could be read; undefined for a part that could not. */
export interface AccountReading {
  /** Milliseconds since 1970, by the clock that the service's times go by. */
  readonly now: number;
  readonly user: User | undefined;
  readonly machines: KnownMachines | undefined;
  readonly drives: readonly Drive[] | undefined;
  /** Requests for drives and API keys without a certain outcome; those for machines are rows of theirs. */
  readonly lost: readonly UnknownRequest[];
  /** undefined where charges could not be read or not be compared. */
  readonly charges: CheckedCharges | undefined;
  readonly faults: readonly PartFault[];
}

export type Part = 'profile' | 'machines' | 'drives' | 'transactions';

export interface PartFault {
  readonly part: Part;
  readonly error: CliError;
}

/** The charges of a stretch of time beside what is known here. */
export interface CheckedCharges extends Explained {
  readonly from: number;
  readonly to: number;
  readonly charged: Money;
}

const HOUR = 3_600_000;
/** Stretches that are looked at, in hours: the long one shows what is small, the short one what is new. */
const WINDOWS = [24, 3] as const;
/** Of a stretch shorter than an hour no rate can be told: it may hold the charge of a whole hour. */
const SHORTEST = HOUR;

/**
 * Reads profile, machines, drives and recent transactions at once. A part that fails leaves the
 * others alone; a refused key is thrown, since nothing could be read with it. `quiet` is for whoever
 * tells of requests without an outcome in other words.
 */
export async function readAccount(
  context: Context,
  how: { quiet?: boolean; options?: CallOptions } = {},
): Promise<AccountReading> {
  const api = await context.api(how);
  const now = context.serviceClock.now();
  const { options = {} } = how;
  const me = api.users.me(options);
  const drives = api.drives.list(options);
  const history = readRecentHistory(api, now - WINDOWS[0] * HOUR, options);
  const machines = readMachines(me, { all: false, drives, now, options }, api, context);

  // They are awaited one after the other, and none may end the process before its turn.
  for (const reading of [me, drives, history, machines]) reading.catch(() => undefined);
  const faults: PartFault[] = [];
  async function part<T>(name: Part, reading: Promise<T>): Promise<T | undefined> {
    try {
      return await reading;
    } catch (error) {
      if (!isOfOneReading(error)) throw error;
      faults.push({ part: name, error });
      return undefined;
    }
  }
  const user = await part('profile', me);
  const known = await part('machines', machines);
  const read = {
    user,
    machines: known?.machines,
    drives: await part('drives', drives),
    history: await part('transactions', history),
  };
  const [unread] = read.machines?.faults ?? [];
  if (unread !== undefined) faults.push({ part: 'machines', error: unread });
  const charges = await checkedCharges({ ...read, now }, context);
  return { now, ...read, lost: known?.lost ?? [], charges, faults };
}

async function readMachines(
  me: Promise<User>,
  how: ReadHow,
  api: Api,
  context: Context,
): Promise<{ readonly machines: KnownMachines; readonly lost: readonly UnknownRequest[] }> {
  await tellMissing(await learnAccount(api, context, () => me), context);
  const machines = await readKnownMachines(how, api, context);
  const unknown = await (await context.journal()).unknown();
  return { machines, lost: unknown.filter(({ operation }) => WHAT[operation] !== WHAT.create) };
}

interface Read {
  readonly now: number;
  readonly machines: KnownMachines | undefined;
  readonly drives: readonly Drive[] | undefined;
  readonly history: RecentHistory | undefined;
}

/** Of the stretches that were read, the first in which more was charged than anything known explains. */
async function checkedCharges(
  { now, machines, drives, history }: Read,
  context: Context,
): Promise<CheckedCharges | undefined> {
  const from = history?.from;
  if (
    from === undefined ||
    history === undefined ||
    machines === undefined ||
    drives === undefined
  ) {
    return undefined;
  }
  // Many machines fill the pages that are read with less than a day, which tells all the same.
  const starts = WINDOWS.map((hours) => Math.max(now - hours * HOUR, from));
  const windows = [...new Set(starts)].filter((start) => now - start >= SHORTEST);
  const known = [
    ...machines.rows.filter(({ id }) => id !== null).map(ofMachine),
    ...drives.map(ofDrive),
  ];
  const check = (all: readonly Chargeable[]) =>
    windows.flatMap((start) => checkedWindow({ from: start, to: now }, all, history) ?? []);

  const checked = check(known);
  if (!checked.some(({ unexplained }) => unexplained.gt(0))) return checked[0];
  // What has ended is looked for only now: there may be much of it.
  const again = check([...known, ...(await ended(machines, context))]);
  return again.find(({ unexplained }) => unexplained.gt(0)) ?? again[0];
}

function checkedWindow(
  { from, to }: { from: number; to: number },
  known: readonly Chargeable[],
  { entries }: RecentHistory,
): CheckedCharges | undefined {
  let charged = zero();
  let toppedUp = false;
  for (const entry of entries) {
    const at = momentOf(entry);
    if (at !== undefined && (at <= from || at > to)) continue;
    const posting = postingOf(entry);
    // A charge of no amount that can be read, or of no time, may be of any amount and of now.
    const isUnclear = at === undefined || (!posting.counts && posting.why === 'amount');
    if (isUnclear && entry.type === 'USAGE_CHARGE') return undefined;
    if (!posting.counts || at === undefined) continue;
    if (posting.heading === 'charged') charged = charged.plus(posting.amount);
    toppedUp ||= posting.heading === 'deposited' || posting.heading === 'bonus';
  }
  const explained = explain(charged, known, { from, to }, toppedUp);
  return explained === undefined ? undefined : { from, to, charged, ...explained };
}

function ofMachine({ instance, last, status }: Listed): Chargeable {
  return {
    kind: 'machine',
    price: instance?.price_per_hour_snapshot ?? last?.price_per_hour,
    from: momentOf(instance ?? { created_at: last?.created_at }),
    to: isTerminated(status) ? momentOf({ created_at: instance?.terminated_at }) : undefined,
  };
}

function ofDrive(drive: Drive): Chargeable {
  return { kind: 'drive', price: drive.price_per_hour, from: momentOf(drive), to: undefined };
}

/** Machines of the archive: they ended no later than they were seen to have ended. */
async function ended({ rows }: KnownMachines, context: Context): Promise<Chargeable[]> {
  const { instances: machines } = await (await context.journal()).read({ archived: true });
  const read = new Set(rows.map(({ id }) => id));
  return machines
    .filter(({ id, archived, last }) => archived && last !== undefined && !read.has(id))
    .map(({ last }) => ({
      kind: 'machine',
      price: last?.price_per_hour,
      from: momentOf({ created_at: last?.created_at }),
      to: isTerminated(last?.status) ? momentOf({ created_at: last?.seen_at }) : undefined,
    }));
}
