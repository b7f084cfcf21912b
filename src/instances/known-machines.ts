import type { Api, CallOptions, Drive, Instance } from '../api/index.ts';
import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { type CliError, isOfOneReading } from '../errors.ts';
import type { Journal, KnownInstance, OpenRequest, Snapshot } from '../journal/index.ts';
import { instant, relative } from '../output/time.ts';
import { resourceId } from '../rules/names.ts';
import { isTerminated } from '../rules/statuses.ts';
import { newestFirst } from './newest-first.ts';
import { readableJournal } from './pending.ts';

/** A machine known to this computer: as it was read now, as it was last seen, or only asked for. */
export interface Listed {
  /** null for a request whose answer was lost, or has not come yet. */
  readonly id: string | null;
  readonly name: string;
  /** The service's word, or GONE, UNKNOWN, IN_FLIGHT, UNREAD, which are ours. */
  readonly status: string;
  readonly instance?: Instance;
  readonly last?: Snapshot | undefined;
  /** Of a request alone. */
  readonly asked_at?: string;
  /** Of a request alone; "untrack" takes it. */
  readonly uid?: string;
  /** Of a machine that this computer asked for: when. It only heard of the others. */
  readonly ordered_at?: string;
  readonly offer_id?: string | null;
  /** The status is old news: the machine could not be read now. */
  readonly unread?: true;
  /** What a person should know beside the status. */
  readonly note?: string;
}

export interface KnownMachines {
  /**
   * Requests without an outcome first, then machines, terminated ones too where they were read; each
   * of the two newest first.
   */
  readonly rows: readonly Listed[];
  /** How many of the rows are machines that the service was asked for. */
  readonly asked: number;
  /** Why machines could not be read; their rows show what was last seen. */
  readonly faults: readonly CliError[];
  /** Why the drives, which name machines too, could not be read. */
  readonly driveFault: CliError | undefined;
}

/**
 * As many readings at once: two hundred machines are two rounds of waiting. They are reads, and a
 * service that finds them too many says so (429) and is then asked again when it wants to be.
 */
const AT_ONCE = 100;

interface ReadHow {
  /** Terminated machines too. */
  readonly all: boolean;
  /** Ids of machines that need no reading; they get no row. */
  readonly except?: ReadonlySet<string | null>;
  /** The drives of the account, being read: they name the machines that they are mounted to. */
  readonly drives: Promise<readonly Drive[]>;
  /** The moment that ages are told from. */
  readonly now: number;
  /** For a caller that knows whose it is. */
  readonly journal?: Promise<Journal>;
  /** Of each reading of a machine. */
  readonly options?: CallOptions;
}

/**
 * The machines known to this computer, each read afresh, and those that a drive names, since the
 * published API has no list of them. One that can't be read is a row of old news and a fault; a
 * refused key is thrown.
 */
export async function readKnownMachines(
  { all, except, drives, now, options = {}, journal: given }: ReadHow,
  api: Api,
  context: Context,
): Promise<KnownMachines> {
  // Awaited below, and a failure in between would end the process.
  drives.catch(() => undefined);
  const journal = await (given ?? readableJournal(context));
  const known = await journal.read({ archived: all });
  const ids = new Map(known.instances.map((machine) => [machine.id, machine]));
  const faults: CliError[] = [];
  const read = (asked: readonly string[]) =>
    eachBounded(asked, AT_ONCE, (id) => readOne(id, ids.get(id), { api, faults, now, options }));

  const isAsked = (id: string) => except?.has(id) !== true;
  const reading = read([...ids.keys()].filter(isAsked));
  reading.catch(() => undefined);
  const { found, fault, isOdd } = await attachedTo(drives);
  if (isOdd) context.err.warn('odd_response', ODD);
  const archived = all ? NO_MACHINES : await archivedOf(found, ids, journal);
  const fresh = found.filter(
    (id) => isAsked(id) && !ids.has(id) && archived.get(id)?.untracked !== true,
  );
  for (const [id, machine] of archived) ids.set(id, machine);
  const attached = await read(fresh);
  for (const id of fresh.filter((one) => !archived.has(one))) {
    context.err.note(`Found through a drive and taken into the list: ${id}.`);
  }
  // A drive that names a machine which was over raises a doubt; that it is over, a reading says.
  const isOver = ({ id, status }: Listed) => archived.has(id ?? '') && isTerminated(status);
  const rows = [...(await reading), ...attached.filter((row) => !isOver(row))];
  const lost = known.unknown.map((rental) => unknownRow(rental, now));
  const inFlight = known.inFlight.map((rental) => inFlightRow(rental, now));
  const inOrder = [...newestFirst(lost), ...newestFirst(inFlight), ...newestFirst(rows)];
  return { rows: inOrder, asked: rows.length, faults, driveFault: fault };
}

export function drivesUnread({ message }: CliError): string {
  return `The drives could not be read, so machines known only through one may be missing: ${message}`;
}

const NO_MACHINES: ReadonlyMap<string, KnownInstance> = new Map();

/** Those of the archive: they were terminated, or are not wanted in the list. */
async function archivedOf(
  found: readonly string[],
  known: ReadonlyMap<string, KnownInstance>,
  journal: Journal,
): Promise<ReadonlyMap<string, KnownInstance>> {
  if (found.every((id) => known.has(id))) {
    return NO_MACHINES;
  }
  const { instances: machines } = await journal.read({ archived: true });
  return new Map(machines.filter(({ archived }) => archived).map((one) => [one.id, one]));
}

/** Nothing can be asked for by it, and nothing is kept under it. */
const ODD =
  'A drive names the machine that it is mounted to by what can be no id, so that this machine may be missing: gpucloud drives list shows it.';

/** The ids that drives name; a list of drives that can't be had leaves the rest alone. */
async function attachedTo(
  drives: Promise<readonly Drive[]>,
): Promise<{ found: string[]; fault: CliError | undefined; isOdd: boolean }> {
  try {
    const named = (await drives).flatMap(({ current_instance_id: id }) => id || []);
    const ids = [...new Set(named)];
    const found = ids.filter((id) => resourceId(id).ok);
    return { found, fault: undefined, isOdd: found.length < ids.length };
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    return { found: [], fault: error, isOdd: false };
  }
}

interface Reading {
  readonly api: Api;
  readonly faults: CliError[];
  readonly now: number;
  readonly options: CallOptions;
}

async function readOne(
  id: string,
  known: KnownInstance | undefined,
  { api, faults, now, options }: Reading,
): Promise<Listed> {
  const isOurs = known?.origin === 'create' || known?.origin === 'reorder';
  const ordered = isOurs ? { ordered_at: known.asked_at } : {};
  try {
    const instance: Instance = await api.instances.get(id, options);
    const row = { id, name: instance.name ?? id, status: instance.status, instance, ...ordered };
    return known?.untracked === true ? { ...row, note: 'untracked' } : row;
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    const name = known?.name ?? id;
    const last = known?.last;
    if (error.failure === 'notFound') {
      // Never dropped for it: only the web console can tell what became of the machine.
      const note = `the service does not find it; ${seenWords(last, now)}`;
      return { id, name, status: 'GONE', last, note, ...ordered };
    }
    faults.push(error);
    const note = `could not be read; ${seenWords(last, now)}`;
    return { id, name, status: last?.status ?? 'UNREAD', last, unread: true, note, ...ordered };
  }
}

function seenWords(last: Snapshot | undefined, now: number): string {
  return last === undefined ? 'never seen' : `${last.status} ${ago(last.seen_at, now)}`;
}

function ago(time: string, now: number): string {
  const then = instant(time);
  return then === undefined ? 'once' : relative(then, now);
}

function unknownRow({ uid, name, asked_at, offer_id }: OpenRequest, now: number): Listed {
  return {
    id: null,
    uid,
    name,
    status: 'UNKNOWN',
    asked_at,
    offer_id,
    note: `asked for ${ago(asked_at, now)}; may be billing: gpucloud instances recover`,
  };
}

/** Another process waits for its answer; should it stand still, nobody else tells of its machine. */
function inFlightRow(rental: OpenRequest, now: number): Listed {
  return {
    ...unknownRow(rental, now),
    status: 'IN_FLIGHT',
    note: `asked for ${ago(rental.asked_at, now)}; its process waits for the answer`,
  };
}
