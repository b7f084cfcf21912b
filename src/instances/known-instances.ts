import type { Api, CallOptions, Drive, Instance } from '../api/index.ts';
import { eachBounded, LISTED_AT_ONCE } from '../concurrency.ts';
import type { Context } from '../context.ts';
import { type CliError, isOfOneReading } from '../errors.ts';
import type { Journal, KnownInstance, OpenRequest, SeenInstance } from '../journal/index.ts';
import type { ListedInstance } from '../json-results/instances.ts';
import { gpucloud, gpucloudLine } from '../output/shell-line.ts';
import { ago } from '../output/time.ts';
import { resourceId } from '../rules/names.ts';
import { GONE, IN_FLIGHT, isTerminated, mayBill, UNKNOWN, UNREAD } from '../rules/statuses.ts';
import { idleTime } from './deadlines/idle-time.ts';
import { rescueFields } from './deadlines/rescued.ts';
import { newestFirst } from './newest-first.ts';
import { readInstance } from './read.ts';
import { readableJournal } from './recover/pending.ts';

/**
 * A row of `list`: an instance just read or as last seen, or a request without a known ID. The
 * status is the service's, or gpucloud's own GONE, UNKNOWN, IN_FLIGHT or UNREAD.
 */
export interface Listed extends ListedInstance {
  /** When this computer requested the instance. Missing if it only found the instance. */
  readonly ordered_at?: string;
  /** Details about the status, for people. */
  readonly note?: string;
}

/** Whether the service has just returned the row's instance. */
export function isReadNow(row: Listed): row is Listed & Instance {
  return row.id !== null && !row.unread && row.status !== GONE;
}

export interface KnownInstances {
  /**
   * Requests with an unknown outcome, then instances, including terminated ones that were read.
   * Each part is sorted newest first.
   */
  readonly rows: readonly Listed[];
  /** Number of rows read from the service. */
  readonly requested: number;
  /** Why instances could not be read. Their rows show the last state seen. */
  readonly faults: readonly CliError[];
  /** Whether this computer's record of a request is unreadable, so that an instance may be missing. */
  readonly isPartial: boolean;
  /** Error from reading the drives. Drives also name instances. */
  readonly driveFault: CliError | undefined;
}

interface ReadHow {
  /** Whether to include terminated instances. */
  readonly all: boolean;
  /** IDs of instances to omit. */
  readonly except?: ReadonlySet<string | null>;
  /** The account's drives, still loading. Each names the instance it is attached to. */
  readonly drives: Promise<readonly Drive[]>;
  /** Current time, to compute ages. */
  readonly now: number;
  /** The account's journal, if already open. */
  readonly journal?: Promise<Journal>;
  readonly options?: CallOptions;
}

/**
 * Reads all instances known to this computer or attached to a drive, since the API does not list
 * instances. An instance that can't be read becomes a row with its last state, and a fault. Throws
 * if the service refuses the key.
 */
export async function readKnownInstances(
  { all, except, drives, now, options = {}, journal: given }: ReadHow,
  api: Api,
  context: Context,
): Promise<KnownInstances> {
  // Handles a rejection early: before the await below, it would crash the process.
  drives.catch(() => undefined);
  const journal = await (given ?? readableJournal(context));
  const known = await journal.read({ archived: all });
  const ids = new Map(known.instances.map((one) => [one.id, one]));
  const faults: CliError[] = [];
  const read = (wanted: readonly string[]) =>
    eachBounded(wanted, LISTED_AT_ONCE, (id) =>
      readOne(id, ids.get(id), { api, faults, now, options, serviceNow: context.serviceClock.now }),
    );

  const isWanted = (id: string) => except?.has(id) !== true;
  const damaged = known.unreadable.filter((one) => resourceId(one).ok);
  const reading = read([...ids.keys(), ...damaged].filter(isWanted));
  reading.catch(() => undefined);
  const { found, fault, isOdd } = await attachedTo(drives);
  if (isOdd) context.err.warn('odd_response', ODD);
  const archived = all ? NONE : await archivedOf(found, ids, journal);
  const fresh = found.filter(
    (id) =>
      isWanted(id) && !ids.has(id) && !damaged.includes(id) && archived.get(id)?.untracked !== true,
  );
  for (const [id, instance] of archived) ids.set(id, instance);
  const attached = await read(fresh);
  for (const { id } of attached.filter(isReadNow)) {
    if (archived.has(id)) continue;
    context.err.note(`Found an instance through its drive and added it to the list: ${id}.`);
  }
  // Omits terminated archived instances. Drives may still name them.
  const isOver = ({ id, status }: Listed) => isTerminated(status) && archived.has(String(id));
  const rows = [...(await reading), ...attached.filter((row) => !isOver(row))];
  const lost = known.unknown.map((rental) => unknownRow(rental, now, context.flags.profile));
  const inFlight = known.inFlight.map((rental) => inFlightRow(rental, now));
  const inOrder = [...newestFirst(lost), ...newestFirst(inFlight), ...newestFirst(rows)];
  const isPartial = damaged.length < known.unreadable.length;
  return { rows: inOrder, requested: rows.length, faults, driveFault: fault, isPartial };
}

export function drivesUnread({ message }: CliError): string {
  return `Could not read drives: ${message} Instances known only from a drive may be missing.`;
}

const NONE: ReadonlyMap<string, KnownInstance> = new Map();

/** Returns archived instances, which are terminated or untracked. */
async function archivedOf(
  found: readonly string[],
  known: ReadonlyMap<string, KnownInstance>,
  journal: Journal,
): Promise<ReadonlyMap<string, KnownInstance>> {
  if (found.every((id) => known.has(id))) {
    return NONE;
  }
  const { instances } = await journal.read({ archived: true });
  return new Map(instances.filter(({ archived }) => archived).map((one) => [one.id, one]));
}

/** Warns about an ID that can't safely be part of a request path or a file name. */
const ODD = `A drive has an invalid instance ID, so its instance may be missing: ${gpucloud('drives', 'list')}`;

/** Returns the instance IDs that drives name, or the fault if the drives can't be read. */
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
  readonly serviceNow: () => number;
}

async function readOne(
  id: string,
  known: KnownInstance | undefined,
  { api, faults, now, options, serviceNow }: Reading,
): Promise<Listed> {
  const isOurs = known?.origin === 'create' || known?.origin === 'reorder';
  const ordered = isOurs ? { ordered_at: known.asked_at } : {};
  const own = (status: string) => ({
    ends_at: mayBill(status) ? (known?.deadline ?? null) : null,
    ...idleTime(known?.idle, serviceNow()),
    ...rescueFields(known?.rescue),
    ...ordered,
    ...(known?.wasStopped === true && { was_stopped: true }),
  });
  const read = await readInstance(id, api, options);
  if (read.kind === 'there') {
    const { instance } = read;
    const note = known?.untracked === true ? { note: 'untracked' } : {};
    const name = instance.name ?? id;
    return { ...instance, id, name, ...own(instance.status), unread: false, ...note };
  }
  const name = known?.name ?? id;
  const last = known?.last;
  if (read.kind === 'gone') {
    // Keeps the row, since only the web console shows what happened to the instance.
    const note = `not found by the service; ${lastSeen(last, now)}`;
    const seen = lastValues(last, ['offer', 'created_at']);
    return { id, name, status: GONE, ...seen, ...own(GONE), unread: false, note };
  }
  faults.push(read.fault);
  const note = `read failed; ${lastSeen(last, now)}`;
  const status = last?.status ?? UNREAD;
  return { id, name, status, ...lastValues(last, KEPT), ...own(status), unread: true, note };
}

/** The fields to show of an instance that could not be read. */
const KEPT = [
  'ip_address',
  'ssh_username',
  'ssh_port',
  'paid_until',
  'last_billed_at',
  'started_at',
  'updated_at',
  'offer',
  'created_at',
] as const;

/** Returns an instance's price, and other fields, as last seen. */
function lastValues(last: SeenInstance | undefined, fields: readonly (typeof KEPT)[number][]) {
  if (last === undefined) return {};
  const { price_per_hour_snapshot = null, seen_at, offer } = last;
  const shown = {
    ...last,
    created_at: last.created_at ?? null,
    offer: offer?.id == null ? undefined : { id: offer.id, name: offer.name ?? null },
  };
  const known = fields.filter((field) => shown[field] !== undefined);
  return {
    price_per_hour_snapshot,
    ...Object.fromEntries(known.map((field) => [field, shown[field]])),
    last_seen_at: seen_at,
  };
}

function lastSeen(last: SeenInstance | undefined, now: number): string {
  return last === undefined ? 'never seen' : `${last.status} ${ago(last.seen_at, now)}`;
}

function unknownRow(request: OpenRequest, now: number, profile: string | undefined): Listed {
  const { uid, name, asked_at, offer_id, deadline = null } = request;
  return {
    id: null,
    name,
    status: UNKNOWN,
    uid,
    asked_at,
    offer_id,
    may_be_billing: true,
    ends_at: deadline,
    unread: false,
    note: `requested ${ago(asked_at, now)}; may be billing: ${gpucloudLine(['instances', 'recover'], profile)}`,
  };
}

/** Returns a row for a request in flight. If its process hangs, nothing else shows the instance. */
function inFlightRow(rental: OpenRequest, now: number): Listed {
  return {
    ...unknownRow(rental, now, undefined),
    status: IN_FLIGHT,
    note: `requested ${ago(rental.asked_at, now)}; its process is waiting for the response`,
  };
}
