import type { Api, Instance } from '../api/index.ts';
import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { Journal, KnownInstance, OpenRequest } from '../journal/index.ts';
import { instant } from '../output/time.ts';
import { resourceId } from '../rules/names.ts';

const AT_ONCE = 8;
/** Milliseconds by which this computer's clock and the service's may differ. */
const SKEW = 5 * 60_000;
/** Milliseconds after which an instance is no longer one that the request made. */
const LATEST = 3_600_000;

/** A request whose outcome was unknown, and the instance that came of it if one was found. */
export interface Resolution {
  readonly request: OpenRequest;
  readonly instance: Instance | undefined;
}

/**
 * Finds the instances that open requests made, and settles those requests: instances that drives
 * name, and tracked ones, whose name and time fit. Each is read now.
 */
export async function reconcile(
  open: readonly OpenRequest[],
  journal: Journal,
  context: Context,
): Promise<readonly Resolution[]> {
  const candidates = open.length === 0 ? [] : await readCandidates(open, journal, context);
  const found = new Map<OpenRequest, Instance>();
  for (const candidate of candidates) {
    const { instance } = candidate;
    const request = requestOf(
      candidate,
      open.filter((one) => !found.has(one)),
      context,
    );
    if (request === undefined) continue;
    await journal.settle(request.uid, instance.id);
    found.set(request, instance);
  }
  return open.map((request) => ({ request, instance: found.get(request) }));
}

interface Candidate {
  /** As it is now. */
  readonly instance: Instance;
  /** When this computer heard of it; undefined if a drive names it for the first time. */
  readonly known_at: string | undefined;
}

/** Of several requests with one name, the last that was sent before the instance was created. */
function requestOf(
  { instance, known_at }: Candidate,
  open: readonly OpenRequest[],
  context: Context,
): OpenRequest | undefined {
  const fitting = open
    .filter(({ asked_at }) => known_at === undefined || !isBefore(known_at, asked_at))
    .filter((request) => isOf(instance, request, context))
    .reverse();
  const ahead = context.serviceClock.now() - context.clock.now();
  const created = (instant(instance.created_at) ?? 0) - ahead;
  return fitting.find(({ asked_at }) => Date.parse(asked_at) <= created) ?? fitting[0];
}

/** What was known before a request was sent did not come of it. Both are by this computer's clock. */
function isBefore(known_at: string, asked_at: string): boolean {
  return Date.parse(known_at) < Date.parse(asked_at);
}

/** The instances of no other request that may have come of these. */
async function readCandidates(
  open: readonly OpenRequest[],
  journal: Journal,
  context: Context,
): Promise<Candidate[]> {
  const api = await context.api();
  const { instances } = await journal.read({ archived: true });
  const known = new Map(instances.map((instance) => [instance.id, instance]));
  const names = new Set(open.map(({ name }) => name));
  const attached = await attachedIds(api, context);
  const ids = new Set(instances.filter((one) => mayFit(one, names)).map(({ id }) => id));
  for (const id of attached) {
    if (known.get(id)?.request == null) ids.add(id);
  }
  const read = await eachBounded([...ids], AT_ONCE, async (id) => {
    try {
      const instance = await api.instances.get(id);
      const isWanted = known.has(id) || names.has(instance.name ?? '');
      return isWanted ? { instance, known_at: known.get(id)?.asked_at } : undefined;
    } catch (error) {
      if (!isNotFound(error)) warnUnread(id, error, context);
      return undefined;
    }
  });
  return read.filter((candidate) => candidate !== undefined);
}

function mayFit({ name, request, last }: KnownInstance, names: ReadonlySet<string>): boolean {
  return request === null && (names.has(name) || last === undefined);
}

/** The instances that drives name: the only ones that the service lists. */
async function attachedIds(api: Api, context: Context): Promise<readonly string[]> {
  try {
    const drives = await api.drives.list();
    const ids = drives.flatMap(({ current_instance_id: id }) => id || []);
    return ids.filter((id) => resourceId(id).ok);
  } catch (error) {
    warnUnread('The list of drives', error, context);
    return [];
  }
}

function isOf(
  { name, created_at }: Instance,
  { name: wanted, asked_at }: OpenRequest,
  { clock, serviceClock }: Context,
): boolean {
  const created = instant(created_at);
  if (name !== wanted || created === undefined) return false;
  // How far the service's clock was ahead when the request was made is not known: it only widens.
  const ahead = serviceClock.now() - clock.now();
  const age = created - Date.parse(asked_at);
  return age >= -SKEW + Math.min(0, ahead) && age <= LATEST + Math.max(0, ahead);
}

function isNotFound(error: unknown): boolean {
  return error instanceof CliError && error.failure === 'notFound';
}

/** Without a service or a key nothing can be found out at all. */
function warnUnread(what: string, error: unknown, { err, signal }: Context): void {
  const isEnd = !(error instanceof CliError) || ENDS.includes(error.failure) || signal.aborted;
  if (isEnd) throw error;
  err.warn('incomplete', `${what} could not be read, so it settles nothing now: ${error.message}`);
}

const ENDS: readonly CliError['failure'][] = ['authentication', 'unreachable'];
