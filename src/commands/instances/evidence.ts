import type { Api, Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { KnownMachine, OutcomeDetails, UnknownRental } from '../../rentals/index.ts';
import { isSameName } from '../../rules/names.ts';
import { eachBounded } from '../kit/bounded.ts';
import { keepSighting, sightingOf } from '../kit/sighting.ts';

const AT_ONCE = 8;

/** Milliseconds by which this computer's clock and the service's may differ. */
const SKEW = 5 * 60_000;

/** Milliseconds after which a thing that is in no list was not made: longer than a request takes. */
const SETTLED_AFTER = 2 * 60_000;

/** What is certain of a request whose answer was lost. */
export interface Finding {
  readonly outcome: 'rented' | 'replaced' | 'not_made';
  readonly details: OutcomeDetails;
  /** The machine that it made, as it was read just now. */
  readonly instance?: Instance;
  /** For people: why it is certain, and what it means. */
  readonly words: string;
}

export interface Evidence {
  /** Whether all that could tell was read; otherwise nobody knows what the rest would have told. */
  isWhole(): boolean;
  /** What is certain of the request; undefined where nothing is. A machine is found for one only. */
  find(request: UnknownRental): Promise<Finding | undefined>;
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
  requests: readonly UnknownRental[],
  api: Api,
  context: Context,
): Promise<Evidence> {
  const rentals = await context.rentals();
  const { machines } = await rentals.read({ archived: true });
  const known = new Map(machines.map((machine) => [machine.id, machine]));
  const names = new Set(requests.map(({ name }) => name));
  const uids = new Set(requests.map(({ uid }) => uid));
  const wanted = new Set<string>();
  for (const machine of machines) {
    const isNamed = machine.request !== null && uids.has(machine.request);
    if (isNamed || isWorthReading(machine, names)) wanted.add(machine.id);
  }
  const listed = await listOrTell('drives', () => api.drives.list(), context);
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
  const adopted = new Set(drives.map(({ current_instance_id: id }) => id));
  const readings = await eachBounded([...wanted], AT_ONCE, async (id) => {
    const instance = await readOne(id, api, context, () => {
      isWhole = false;
    });
    const before = known.get(id);
    const isOurs =
      before !== undefined || requests.some((request) => bears(instance?.name, request, id));
    if (instance !== undefined && (isOurs || adopted.has(id))) {
      await keepSighting(sightingOf(instance), context, adopted.has(id) ? 'drive' : 'read');
    }
    return instance === undefined ? undefined : { instance, request: before?.request ?? null };
  });
  const pool: Reading[] = readings.filter((reading) => reading !== undefined);
  const taken = new Set<string>();

  /** Whether a machine may be what was asked for, by its name. */
  function bears(name: string | null | undefined, request: UnknownRental, id: string): boolean {
    if (name === request.name) return true;
    // In another case it could be a namesake, but for one that the request itself leads to.
    const drive = request.body?.storage_drive_id;
    const isLedTo =
      request.candidates.includes(id) || (typeof drive === 'string' && holders.get(drive) === id);
    return isLedTo && name != null && isSameName(name, request.name);
  }

  function findMachine(wanted: UnknownRental): Finding | undefined {
    const { uid, asked_at, operation } = wanted;
    const bearers = pool.filter(({ instance }) => bears(instance.name, wanted, instance.id));
    const own = bearers.find(
      ({ instance, request }) =>
        (request === null || request === uid) &&
        !taken.has(instance.id) &&
        // A machine that is over, or older than the request, may be a namesake from before, unless
        // it is known to come of this request.
        (isLiving(instance) || request === uid) &&
        isSince(instance.created_at, asked_at),
    );
    if (own !== undefined) {
      const { id, status } = own.instance;
      taken.add(id);
      return {
        outcome: 'rented',
        details: { id },
        instance: own.instance,
        words: `it is ${id}, ${status}`,
      };
    }
    // Names are unique for POST /instances; for `new_name` of reorder the document has no rule.
    const other =
      operation === 'create'
        ? bearers.find(({ instance }) => isLiving(instance) && instance.status !== 'ERROR')
            ?.instance
        : undefined;
    return other === undefined
      ? undefined
      : {
          outcome: 'replaced',
          details: { reason: `the name is held by ${other.id}` },
          words: `the name is held by ${other.id}, which is known here; names are unique, so no other machine bears it`,
        };
  }

  let keys: Promise<readonly Listed[] | undefined> | undefined;
  return {
    isWhole: () => isWhole,
    async find(request) {
      switch (request.operation) {
        case 'drive':
          return listed && findByList('drive', request, listed, context);
        case 'api_key': {
          keys ??= listOrTell('API keys', () => api.apiKeys.list(), context);
          const all = await keys;
          isWhole &&= all !== undefined;
          return all && findByList('API key', request, all, context);
        }
        default:
          return findMachine(request);
      }
    },
  };
}

/** Machines of other requests count too: while one lives, no other can bear its name. */
function isWorthReading({ name, origin, last }: KnownMachine, names: ReadonlySet<string>): boolean {
  return names.has(name) || (last === undefined && (origin === 'track' || origin === 'import'));
}

/** Only an answer counts; a machine that can't be read now proves nothing. */
async function readOne(
  id: string,
  api: Api,
  context: Context,
  onFault: () => void,
): Promise<Instance | undefined> {
  try {
    return await api.instances.get(id);
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

function isLiving({ status }: Instance): boolean {
  return status !== 'TERMINATED' && status !== 'TERMINATING';
}

function isSince(created: string | null | undefined, asked: string): boolean {
  return created != null && Date.parse(created) >= Date.parse(asked) - SKEW;
}

interface Listed {
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly created_at?: string | null | undefined;
}

/** The service lists these whole (API document: Endpoints), so what is not there was not made. */
function findByList(
  what: string,
  { name, asked_at }: UnknownRental,
  items: readonly Listed[],
  { clock }: Context,
): Finding | undefined {
  const fitting = items.filter((item) => item.name === name && isSince(item.created_at, asked_at));
  const [first, second] = fitting;
  if (first !== undefined && second === undefined) {
    const secret =
      what === 'API key' ? '; its secret was in the lost answer, so make a new one' : '';
    return {
      outcome: 'rented',
      details: { id: first.id },
      words: `the ${what} is there, ${first.id}${secret}`,
    };
  }
  // One of that name, however old it seems, may be it: clocks differ.
  const isThere = items.some((item) => item.name === name);
  if (!isThere && clock.now() - Date.parse(asked_at) > SETTLED_AFTER) {
    return {
      outcome: 'not_made',
      details: { reason: 'it is in no list' },
      words: `the list of the service has no such ${what}: it was not made`,
    };
  }
  return undefined;
}
