import type { Api, CallOptions, Drive, Transaction, User } from '../api/index.ts';
import { eachBounded, LISTED_AT_ONCE } from '../concurrency.ts';
import type { Context } from '../context.ts';
import { type CliError, isOfOneReading, throwAll } from '../errors.ts';
import { type KnownInstances, readKnownInstances } from '../instances/known-instances.ts';
import { type Reading, readInstance } from '../instances/read.ts';
import { readableJournal } from '../instances/recover/pending.ts';
import type { KnownInstance } from '../journal/index.ts';
import { instant } from '../output/time.ts';
import { isTerminated } from '../rules/statuses.ts';
import {
  archivedCharge,
  type Chargeable,
  type CheckedCharges,
  checkCharges,
  driveCharge,
  instanceCharge,
  isChanged,
  LATE,
  LONGEST_WINDOW,
  unreadableCharge,
  windowsOf,
  withoutVerdict,
} from './charges.ts';
import { type RecentHistory, readRecentHistory } from './history.ts';

/** An account's balance and costs; unreadable parts are undefined. */
export interface AccountReading {
  /** Milliseconds since 1970, by the service's clock. */
  readonly now: number;
  readonly user: User | undefined;
  readonly instances: KnownInstances | undefined;
  readonly drives: readonly Drive[] | undefined;
  /** undefined if the charges could not be read or compared. */
  readonly charges: CheckedCharges | undefined;
  /** A recent charge or refund with an unreadable amount or time. */
  readonly unreadable: Transaction | undefined;
  readonly faults: readonly PartFault[];
}

/**
 * Reads profile, instances, drives and recent transactions in parallel. A failed part doesn't stop
 * the others. A refused key throws, since no part can be read. `quiet` is for callers that report
 * pending requests themselves.
 */
export async function readAccount(
  context: Context,
  { quiet = false, options = {} }: { quiet?: boolean; options?: CallOptions } = {},
): Promise<AccountReading> {
  const api = await context.api({ quiet });
  const { serviceClock } = context;
  const before = serviceClock.now();
  const me = api.users.me(options);
  const drives = api.drives.list(options);
  // One request serves both the profile and the journal's account.
  const journal = readableJournal(context, () => me);
  const settled = await Promise.allSettled([
    me,
    readKnownInstances({ all: false, drives, now: before, options, journal }, api, context),
    drives,
    readRecentHistory(api, before - LONGEST_WINDOW, options),
  ]);

  const faults: PartFault[] = [];
  function part<T>(name: PartFault['part'], result: PromiseSettledResult<T>): T | undefined {
    if (result.status === 'fulfilled') return result.value;
    const error: unknown = result.reason;
    if (!isOfOneReading(error)) throw error;
    faults.push({ part: name, error });
    return undefined;
  }
  const read = {
    // By now, the responses have set the clock.
    now: serviceClock.now(),
    user: part('profile', settled[0]),
    instances: part('instances', settled[1]),
    drives: part('drives', settled[2]),
  };
  const history = part('transactions', settled[3]);
  const { charges, fault } = await chargesOf(read, history, { api, context, options });
  const unread = read.instances?.faults[0] ?? fault;
  if (unread !== undefined) faults.push({ part: 'instances', error: unread });
  const day = { from: read.now - LONGEST_WINDOW, to: read.now };
  return { ...read, charges, unreadable: unreadableCharge(day, history?.entries ?? []), faults };
}

interface Charges {
  readonly charges: CheckedCharges | undefined;
  /** Why an untracked instance, which may explain charges, could not be read. */
  readonly fault?: CliError | undefined;
}

/** Returns the first window in which the charges exceed what known resources can explain. */
async function chargesOf(
  { now, instances, drives }: Pick<AccountReading, 'now' | 'instances' | 'drives'>,
  history: RecentHistory | undefined,
  { api, context, options }: { api: Api; context: Context; options: CallOptions },
): Promise<Charges> {
  if (history?.from === undefined || instances === undefined || drives === undefined) {
    return { charges: undefined };
  }
  const windows = windowsOf(history.from, now);
  const rented = instances.rows.filter(({ id }) => id !== null).map(instanceCharge);
  const check = (all: readonly Chargeable[]) =>
    windows.flatMap((window) => checkCharges(window, all, history.entries) ?? []);
  const worst = (checked: readonly CheckedCharges[]) => ({
    charges:
      checked.find(({ unexplained }) => unexplained.gt(0)) ??
      checked.find(({ late }) => late.gt(0)) ??
      checked[0],
  });

  const known = [...rented, ...drives.map(driveCharge)];
  const checked = check(known);
  if (!checked.some(({ unexplained }) => unexplained.gt(0))) return worst(checked);
  // Reads the archive only now, since it may be large.
  const journal = await context.journal();
  const journaled = await journal.read({ archived: true });
  const listed = new Set(instances.rows.map(({ id }) => id));
  const archived = journaled.instances.filter((one) => one.archived && !listed.has(one.id));
  const mayCount = ({ last }: KnownInstance) =>
    !isTerminated(last?.status) ||
    (instant(last?.terminated_at ?? last?.seen_at) ?? 0) >= now - LONGEST_WINDOW - LATE;
  const { read } = await readArchived(archived.filter(mayCount), api, options);
  const again = new Map(read.map(({ known, reading }) => [known.id, reading]));
  const ended = archived.flatMap(({ id, last }) =>
    last === undefined ? [] : [archivedCharge(last, again.get(id))],
  );
  const compared = worst(check([...known, ...ended]));
  const [fault] = read.flatMap(({ known, reading }) =>
    reading.kind === 'unread' && !isTerminated(known.last?.status) ? reading.fault : [],
  );
  const { charges } = compared;
  if (charges?.unexplained.gt(0) !== true) {
    return fault === undefined ? compared : { charges: undefined, fault };
  }
  return drives.some((drive) => isChanged(drive, now))
    ? { charges: withoutVerdict(charges), fault }
    : compared;
}

/** A terminated or untracked instance, read again. */
interface Archived {
  readonly known: KnownInstance;
  readonly reading: Reading;
}

const MOST = 100;

/** Reads the newest instances. `left` is the number of older, unread instances. */
export async function readArchived(
  instances: readonly KnownInstance[],
  api: Api,
  options: CallOptions,
): Promise<{ read: readonly Archived[]; left: number }> {
  const seenAt = ({ last }: KnownInstance) => last?.seen_at ?? '';
  const newest = [...instances].sort((a, b) => seenAt(b).localeCompare(seenAt(a)));
  const read = await eachBounded(
    newest.slice(0, MOST),
    LISTED_AT_ONCE,
    async (known): Promise<Archived> => {
      return { known, reading: await readInstance(known.id, api, options) };
    },
  );
  return { read, left: newest.length - read.length };
}

export type Part = 'profile' | 'instances' | 'drives' | 'transactions';

interface PartFault {
  readonly part: Part;
  readonly error: CliError;
}

const NAMES: Readonly<Record<Part, string>> = {
  profile: 'the balance',
  instances: 'instances',
  drives: 'the drives',
  transactions: 'the transactions',
};

/** Groups parts by fault and lists their names: `the drives, the transactions`. */
export function alikeFaults(faults: readonly PartFault[]) {
  const alike = new Map<string, { error: CliError; parts: Part[] }>();
  for (const { part, error } of faults) {
    const key = `${error.failure} ${error.message}`;
    const group = alike.get(key) ?? { error, parts: [] };
    group.parts.push(part);
    alike.set(key, group);
  }
  return [...alike.values()].map(({ error, parts }) => {
    return { names: parts.map((part) => NAMES[part]).join(', '), parts, error };
  });
}

/**
 * Throws the faults after a command has printed the parts it could read. The most serious fault
 * decides the exit code.
 */
export function assertWhole(faults: readonly PartFault[]): void {
  throwAll(
    alikeFaults(faults).map(({ names, error }) =>
      error.with(`Could not read ${names} (the rest is shown): ${error.message}`),
    ),
  );
}
