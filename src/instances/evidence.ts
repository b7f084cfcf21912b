import type { Api, Instance, RawAnswer } from '../api/index.ts';
import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { KnownInstance, OutcomeDetails, UnknownRequest } from '../journal/index.ts';
import type { Money } from '../rules/money.ts';
import { isSameName } from '../rules/names.ts';
import { mayBill } from '../rules/statuses.ts';
import { lowestLimit } from './recover-limit.ts';
import {
  findListed,
  type Listed,
  type ListedEvidence,
  type ListedOperation,
} from './recover-listed.ts';
import { isMaybeSince, isSince, ServiceClock } from './recover-window.ts';

const AT_ONCE = 8;

/** What is certain of a request whose answer was lost. */
export interface Finding {
  readonly outcome: 'rented' | 'replaced' | 'not_made';
  readonly details: OutcomeDetails;
  /** The machine that it made, or that holds its name, as it was read just now. */
  readonly instance?: Instance | undefined;
  /** The lowest `--max-price` of the requests that the machine may be of. */
  readonly limit?: Money | undefined;
  /** What it made is over by now, and costs nothing. */
  readonly isOver?: boolean;
  /** For people: why it is certain, and what it means. */
  readonly words: string;
}

/** Why nothing is certain, where making the request again would not settle it either. */
export interface Undecided {
  readonly outcome: 'unknown';
  readonly words: string;
}

export interface Evidence {
  /** Whether all that could tell was read; otherwise nobody knows what the rest would have told. */
  isWhole(): boolean;
  /** What is certain of the request; undefined where nothing is. A machine is found for one only. */
  find(request: UnknownRequest): Promise<Finding | Undecided | undefined>;
}

interface Reading {
  readonly instance: Instance;
  /** The request that it is known to come from. */
  readonly request: string | null;
}

/**
 * Gathers what tells of machines that may have come of the requests: those that drives name, those
 * that were taken into the list from elsewhere, those of the same names, and the ids that stood in
 * answers which could not be trusted. Each is read afresh, and kept.
 */
export async function gatherEvidence(
  requests: readonly UnknownRequest[],
  api: Api,
  context: Context,
): Promise<Evidence> {
  const journal = await context.journal();
  const { instances: machines, inFlight } = await journal.read({ archived: true });
  const known = new Map(machines.map((machine) => [machine.id, machine]));
  const names = new Set(requests.map(({ name }) => name));
  const uids = new Set(requests.map(({ uid }) => uid));
  const wanted = new Set<string>();
  for (const machine of machines) {
    const isNamed = machine.request !== null && uids.has(machine.request);
    if (isNamed || isWorthReading(machine, names)) wanted.add(machine.id);
  }
  const service = new ServiceClock(() => context.clock.now());
  const onAnswer = async ({ headers }: RawAnswer) => service.hear(headers.date);
  const listed = await listOrTell('drives', () => api.drives.list({ onAnswer }), context);
  const drives = listed ?? [];
  let isWhole = listed !== undefined;
  for (const { current_instance_id: id } of drives) {
    if (id != null && !known.has(id)) wanted.add(id);
  }
  for (const id of requests.flatMap(({ candidates }) => candidates)) {
    if (!known.has(id)) wanted.add(id);
  }

  const holders = new Map(
    drives.map(({ id, current_instance_id: held }) => [id, held ?? undefined]),
  );
  const readings = await eachBounded([...wanted], AT_ONCE, async (id) => {
    const instance = await readOne(
      id,
      () => api.instances.get(id, { onAnswer }),
      context,
      () => {
        isWhole = false;
      },
    );
    const before = known.get(id);
    return instance === undefined ? undefined : { instance, request: before?.request ?? null };
  });
  const pool: Reading[] = readings.filter((reading) => reading !== undefined);
  const taken = new Set<string>();
  /** Machines whose price was held against a limit that may not have been meant for them. */
  const compared = new Set<string>();

  /** Whether a machine may be what was asked for, by its name. */
  function bears(name: string | null | undefined, request: UnknownRequest, id: string): boolean {
    if (name === request.name) return true;
    // In another case it could be a namesake, but for one that the request itself leads to.
    const drive = request.body?.storage_drive_id;
    const isLedTo =
      request.candidates.includes(id) || (typeof drive === 'string' && holders.get(drive) === id);
    return isLedTo && name != null && isSameName(name, request.name);
  }

  function mayComeOf({ instance, request: known }: Reading, request: UnknownRequest): boolean {
    return (
      isOfMachine(request) &&
      bears(instance.name, request, instance.id) &&
      (known === null || known === request.uid) &&
      // A machine that is over, or older than the request, may be a namesake from before, unless
      // it is known to come of this request.
      (mayBill(instance.status) || known === request.uid) &&
      isSince(instance.created_at, request.asked_at, service)
    );
  }

  /**
   * The limit that may have been meant for a machine which is of no request for certain: that it
   * seems older than all of them may be a fault of a clock, and it bills.
   */
  function doubtfulLimit(reading: Reading): Money | undefined {
    const { instance, request: known } = reading;
    const isOfAnother = known !== null && !uids.has(known);
    const isOfOne = requests.some((request) => mayComeOf(reading, request));
    if (isOfAnother || isOfOne || compared.has(instance.id)) return undefined;
    compared.add(instance.id);
    return lowestLimit(
      requests.filter(
        (request) =>
          isOfMachine(request) &&
          bears(instance.name, request, instance.id) &&
          (known === null || known === request.uid) &&
          isMaybeSince(instance.created_at, request.asked_at),
      ),
    );
  }

  function findMachine(wanted: UnknownRequest): Finding | undefined {
    const { operation } = wanted;
    const bearers = pool.filter(({ instance }) => bears(instance.name, wanted, instance.id));
    const own = bearers.find(
      (reading) => !taken.has(reading.instance.id) && mayComeOf(reading, wanted),
    );
    if (own !== undefined) {
      const { id, status } = own.instance;
      taken.add(id);
      return {
        outcome: 'rented',
        details: { id },
        instance: own.instance,
        limit: lowestLimit(requests.filter((request) => mayComeOf(own, request))),
        words: `it is ${id}, ${status}`,
      };
    }
    // Names are unique for POST /instances; for `new_name` of reorder the document has no rule.
    const other =
      operation === 'create'
        ? bearers.find(({ instance }) => mayBill(instance.status) && instance.status !== 'ERROR')
        : undefined;
    if (other === undefined) return undefined;
    const { id } = other.instance;
    return {
      outcome: 'replaced',
      details: { reason: `the name is held by ${id}` },
      instance: other.instance,
      limit: doubtfulLimit(other),
      words: `the name is held by ${id}, which is known here; names are unique, so no other machine bears it`,
    };
  }

  let keys: Promise<readonly Listed[] | undefined> | undefined;

  async function listOf(operation: ListedOperation): Promise<readonly Listed[] | undefined> {
    if (operation === 'drive') return listed;
    keys ??= listOrTell('API keys', () => api.apiKeys.list(), context);
    const all = await keys;
    isWhole &&= all !== undefined;
    return all;
  }

  /** Looked up once: what one request is settled with is not known to be another's before. */
  const others = new Map<ListedOperation, Promise<Pick<ListedEvidence, 'rivals' | 'made'>>>();

  async function othersOf(operation: ListedOperation) {
    const strange = (await journal.strangers()).flatMap(({ unknown }) => unknown);
    return {
      rivals: [...inFlight, ...strange].filter((request) => request.operation === operation),
      made: await journal.made(operation),
    };
  }

  async function findInList(wanted: UnknownRequest, operation: ListedOperation) {
    const items = await listOf(operation);
    if (items === undefined) return undefined;
    const looked = others.get(operation) ?? othersOf(operation);
    others.set(operation, looked);
    return findListed(
      { ...wanted, operation },
      {
        items,
        requests: requests.filter((request) => request.operation === operation),
        ...(await looked),
        now: context.clock.now(),
        service,
      },
    );
  }

  return {
    isWhole: () => isWhole,
    async find(request) {
      const { operation } = request;
      return operation === 'drive' || operation === 'api_key'
        ? findInList(request, operation)
        : findMachine(request);
    },
  };
}

/** Whether it asked for a machine; the others are settled by their lists. */
export function isOfMachine({ operation }: UnknownRequest): boolean {
  return operation === 'create' || operation === 'reorder';
}

/** Machines of other requests count too: while one lives, no other can bear its name. */
function isWorthReading(
  { name, origin, last }: KnownInstance,
  names: ReadonlySet<string>,
): boolean {
  return names.has(name) || (last === undefined && (origin === 'track' || origin === 'import'));
}

/** Only an answer counts; a machine that can't be read now proves nothing. */
async function readOne(
  id: string,
  read: () => Promise<Instance>,
  context: Context,
  onFault: () => void,
): Promise<Instance | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    tellUnread(id, error, context);
    onFault();
    return undefined;
  }
}

/** A list of the service; undefined, after it was said, where it can't be had now. */
async function listOrTell<T>(
  what: string,
  list: () => Promise<T>,
  context: Context,
): Promise<T | undefined> {
  try {
    return await list();
  } catch (error) {
    tellUnread(`The list of ${what}`, error, context);
    return undefined;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof CliError && error.failure === 'notFound';
}

/** Without a service or a key nothing at all can be told, so that it ends there. */
function tellUnread(what: string, error: unknown, { err, signal }: Context): void {
  const isEnd = !(error instanceof CliError) || ENDS.includes(error.failure) || signal.aborted;
  if (isEnd) throw error;
  err.warn(`${what} could not be read, so it settles nothing now: ${error.message}`);
}

const ENDS: readonly CliError['failure'][] = ['authentication', 'unreachable'];
