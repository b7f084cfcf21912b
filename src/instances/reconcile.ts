import type { Api, Instance } from '../api/index.ts';
import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { Journal, KnownInstance, OpenRequest } from '../journal/index.ts';
import { instant } from '../output/time.ts';
import { resourceId } from '../rules/names.ts';

const AT_ONCE = 8;
/** Milliseconds that this computer's clock and the service's may differ. */
const SKEW = 5 * 60_000;
/** Milliseconds after which a new instance can't belong to the request. */
const LATEST = 3_600_000;

/** A request with an unknown outcome, and the instance it created if found. */
export interface Resolution {
  readonly request: OpenRequest;
  readonly instance: Instance | undefined;
}

/**
 * Finds the instances that open requests created, and settles those requests. Candidates are
 * instances that drives name, and tracked ones, with a matching name and time. Each is read first.
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
  /** The instance as just read. */
  readonly instance: Instance;
  /** When this computer first knew of it; undefined if a drive names it for the first time. */
  readonly known_at: string | undefined;
}

/** Among requests with one name, picks the last one sent before the creation. */
function requestOf(
  { instance, known_at }: Candidate,
  open: readonly OpenRequest[],
  context: Context,
): OpenRequest | undefined {
  const fitting = open
    // An instance known before the request was not created by it. Both times are local.
    .filter(
      ({ asked_at }) => known_at === undefined || !(Date.parse(known_at) < Date.parse(asked_at)),
    )
    .filter((request) => isOf(instance, request, context))
    .reverse();
  const ahead = context.serviceClock.now() - context.clock.now();
  const created = (instant(instance.created_at) ?? 0) - ahead;
  return fitting.find(({ asked_at }) => Date.parse(asked_at) <= created) ?? fitting[0];
}

/** Returns instances that may belong to these requests and belong to no other. */
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
  const unfinished = await journal.unfinished();
  const ids = new Set(instances.filter((one) => mayFit(one, names)).map(({ id }) => id));
  for (const id of [...attached, ...unfinished]) {
    if (known.get(id)?.request == null) ids.add(id);
  }
  const read = await eachBounded([...ids], AT_ONCE, async (id) => {
    try {
      const instance = await api.instances.get(id);
      const isWanted = known.has(id) || names.has(instance.name ?? '');
      return isWanted ? { instance, known_at: known.get(id)?.asked_at } : undefined;
    } catch (error) {
      const isGone = error instanceof CliError && error.failure === 'notFound';
      if (!isGone) warnUnread(id, error, context);
      return undefined;
    }
  });
  return read.filter((candidate) => candidate !== undefined);
}

function mayFit({ name, request, last }: KnownInstance, names: ReadonlySet<string>): boolean {
  return request === null && (names.has(name) || last === undefined);
}

/** Returns the instances that drives name: the only ones that the service lists. */
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
  // The clock difference at the time of the request is unknown, so it only widens the window.
  const ahead = serviceClock.now() - clock.now();
  const age = created - Date.parse(asked_at);
  return age >= -SKEW + Math.min(0, ahead) && age <= LATEST + Math.max(0, ahead);
}

/** Without a service or a key nothing can be recovered. */
function warnUnread(what: string, error: unknown, { err, signal }: Context): void {
  const isEnd = !(error instanceof CliError) || ENDS.includes(error.failure) || signal.aborted;
  if (isEnd) throw error;
  err.warn('incomplete', `${what} could not be read, so it recovers nothing now: ${error.message}`);
}

const ENDS: readonly CliError['failure'][] = ['authentication', 'unreachable'];
