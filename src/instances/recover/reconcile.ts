import type { Api, Instance } from '../../api/index.ts';
import { onCancel } from '../../command-line/confirm.ts';
import { eachBounded, READS_AT_ONCE } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Journal, KnownInstance, OpenRequest } from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { ago, instant, minuteText, spanText } from '../../output/time.ts';
import { inRoubles, priceIn } from '../../rules/money.ts';
import { nameKey, resourceId, typedName } from '../../rules/names.ts';
import { CLOCKS } from '../../system/clock.ts';
import { deadlineText, noteEnds } from '../deadlines/deadline.ts';
import { readInstance } from '../read.ts';

/** Milliseconds after its request by which an instance must have been created. */
const LATEST = 3_600_000;

/** A request with an unknown outcome, and its instance if found. */
export interface Resolution {
  readonly request: OpenRequest;
  readonly instance: Instance | undefined;
  /** Unconfirmed instances with the request's name and time. */
  readonly candidates: readonly Instance[];
}

/**
 * Finds the instances of open requests, and resolves those requests. A name proves nothing: someone
 * else may have used it meanwhile. So tracked instances and those attached to drives are only
 * candidates: the user confirms or rejects each.
 */
export async function reconcile(
  open: readonly OpenRequest[],
  journal: Journal,
  context: Context,
): Promise<readonly Resolution[]> {
  const candidates = open.length === 0 ? [] : await readCandidates(open, journal, context);
  const fitting = new Map(
    open.map((request) => [
      request,
      candidates.flatMap((one) =>
        isOf(one, request, context) && !isOlder(one.known_at, request) ? one.instance : [],
      ),
    ]),
  );
  const found = await accepted(fitting, journal, context);
  const taken = new Set([...found.values()].map(({ id }) => id));
  const isAnswered = context.flags.yes !== true && (await context.prompts()) !== undefined;
  return [...fitting].map(([request, instances]) => ({
    request,
    instance: found.get(request),
    candidates:
      isAnswered || found.has(request) ? [] : instances.filter(({ id }) => !taken.has(id)),
  }));
}

interface Candidate {
  readonly instance: Instance;
  /** The key of its name. */
  readonly name: string;
  /** When this computer first recorded the instance; undefined if only a drive names it. */
  readonly known_at: string | undefined;
}

/**
 * Whether the instance was known before the request, so the request can't have created it. Both
 * times are local.
 */
function isOlder(known_at: string | undefined, { asked_at }: OpenRequest): boolean {
  return known_at !== undefined && Date.parse(known_at) < Date.parse(asked_at);
}

/** Returns instances that only these requests may have created. */
async function readCandidates(
  open: readonly OpenRequest[],
  journal: Journal,
  context: Context,
): Promise<Candidate[]> {
  const api = await context.api();
  const { instances, inFlight } = await journal.read({ archived: true });
  const known = new Map(instances.map((instance) => [instance.id, instance]));
  const names = new Set(open.map(({ name }) => nameKey(name)));
  // Skips names that another process is requesting, since that process will record the instance.
  for (const { name } of inFlight) names.delete(nameKey(name));
  const attached = await attachedIds(api, context);
  const ids = new Set(instances.filter((one) => mayFit(one, names)).map(({ id }) => id));
  for (const id of attached) {
    if (known.get(id)?.request == null) ids.add(id);
  }
  const read = await eachBounded([...ids], READS_AT_ONCE, async (id) => {
    const instance = await readOne(id, api, context);
    const name = nameKey(instance?.name ?? '');
    const isWanted = instance !== undefined && names.has(name);
    return isWanted ? { instance, name, known_at: known.get(id)?.asked_at } : undefined;
  });
  return read.filter((candidate) => candidate !== undefined);
}

function mayFit({ name, request, last }: KnownInstance, names: ReadonlySet<string>): boolean {
  return request === null && (names.has(nameKey(name)) || last === undefined);
}

/**
 * Reads an instance. Returns undefined if the service does not find it, or, with a warning, if
 * reading fails.
 */
async function readOne(id: string, api: Api, context: Context): Promise<Instance | undefined> {
  const reading = await readInstance(id, api);
  if (reading.kind === 'unread') warnUnread(id, reading.fault, context);
  return reading.kind === 'there' ? reading.instance : undefined;
}

/** Returns the instances attached to drives, since the service lists no others. */
async function attachedIds(api: Api, context: Context): Promise<readonly string[]> {
  try {
    const drives = await api.drives.list();
    const ids = drives.flatMap(({ current_instance_id: id }) => id || []);
    return ids.filter((id) => resourceId(id).ok);
  } catch (error) {
    warnUnread('the list of drives', error, context);
    return [];
  }
}

function isOf(
  { instance: { created_at }, name }: Candidate,
  { name: wanted, asked_at }: OpenRequest,
  { clock, serviceClock }: Context,
): boolean {
  const created = instant(created_at);
  if (name !== nameKey(wanted) || created === undefined) return false;
  // The clock difference at the request is unknown, so the current difference only widens the
  // window.
  const ahead = serviceClock.now() - clock.now();
  const age = created - Date.parse(asked_at);
  return age >= -CLOCKS.wrong + Math.min(0, ahead) && age <= LATEST + Math.max(0, ahead);
}

/**
 * Warns about a failed read. Rethrows errors that prevent every recovery, such as a refused key.
 */
function warnUnread(what: string, error: unknown, { err, signal }: Context): void {
  const isEnd = !(error instanceof CliError) || ENDS.includes(error.failure) || signal.aborted;
  if (isEnd) throw error;
  err.warn('incomplete', `Could not use ${what} to recover requests: ${error.message}`);
}

const ENDS: readonly CliError['failure'][] = ['authentication', 'unreachable'];

type Fitting = ReadonlyMap<OpenRequest, readonly Instance[]>;

/**
 * Asks for each request, newest first, whether it created one of these instances, and resolves it
 * if the user agrees. `--yes` agrees only if request and instance match nothing else.
 */
async function accepted(
  fitting: Fitting,
  journal: Journal,
  context: Context,
): Promise<ReadonlyMap<OpenRequest, Instance>> {
  const found = new Map<OpenRequest, Instance>();
  const taken = new Set<string>();
  for (const [request, instances] of [...fitting].reverse()) {
    for (const instance of instances) {
      if (taken.has(instance.id) || found.has(request)) continue;
      if (!(await isAccepted(instance, request, fitting, context))) continue;
      const ends = await isDeadlineAccepted(instance, request, journal, context);
      await journal.settle(request.uid, instance.id, ends);
      found.set(request, instance);
      taken.add(instance.id);
      if (endsText(request, 0) !== undefined) await noteEnd(instance, journal, context);
    }
  }
  return found;
}

async function isAccepted(
  instance: Instance,
  request: OpenRequest,
  fitting: Fitting,
  context: Context,
): Promise<boolean> {
  if (context.flags.yes === true) {
    const others = [...fitting].filter(([, those]) => those.some(({ id }) => id === instance.id));
    return others.length === 1 && fitting.get(request)?.length === 1;
  }
  const when = ago(request.asked_at, context.clock.now());
  return isAgreed(facts(instance), `Is it the instance you requested ${when}?`, context);
}

/**
 * Asks whether to apply the request's deadline. Returns undefined if there is none to apply, or if
 * not interactive.
 */
async function isDeadlineAccepted(
  { id }: Instance,
  request: OpenRequest,
  journal: Journal,
  context: Context,
): Promise<boolean | undefined> {
  const { deadline, if_idle } = await journal.ends(id);
  // An unreadable deadline is kept, too.
  const isOpen = deadline === null && if_idle === undefined;
  const asked = endsText(request, context.serviceClock.now());
  if (asked === undefined || !isOpen || context.flags.yes === true) return undefined;
  return isAgreed(`The request has ${asked}.`, 'Apply it to the instance?', context);
}

/**
 * Describes when the request's instance will be terminated, or returns undefined if the request
 * sets nothing.
 */
function endsText({ deadline, if_idle: idle }: OpenRequest, now: number): string | undefined {
  const texts = [
    ...(deadline === undefined ? [] : [`a deadline: ${deadlineText(deadline, now)}`]),
    ...(idle === undefined ? [] : [`an idle rule: after ${spanText(idle / 1000)} without use`]),
  ];
  return texts.length === 0 ? undefined : texts.join(', and ');
}

/** Asks the user. Returns false if not interactive. */
async function isAgreed(facts: string, question: string, context: Context): Promise<boolean> {
  const prompts = await context.prompts();
  if (prompts === undefined) return false;
  prompts.print(facts);
  return onCancel('The request stays UNKNOWN.', () => prompts.confirm(question, false));
}

/** Formats `trainer (ID) is ACTIVE, created 2026-01-15 12:00 +03:00, 89.90 ₽ per hour.` */
function facts({ id, name, status, created_at, price_per_hour_snapshot }: Instance): string {
  const price = priceIn(price_per_hour_snapshot);
  const cost = price === undefined ? '' : `, ${inRoubles(price)} per hour`;
  return `${name} (${id}) is ${status}, created ${minuteText(Number(instant(created_at)))}${cost}.`;
}

async function noteEnd(instance: Instance, journal: Journal, context: Context): Promise<void> {
  const { deadline, if_idle } = await journal.ends(instance.id);
  const typed = typedName(instance.name, instance.id);
  if (deadline != null || if_idle !== undefined) {
    const rule = if_idle === undefined ? {} : { if_idle: if_idle.after };
    noteEnds([typed], { ...(deadline && { deadline }), ...rule }, context);
    return;
  }
  context.err.note(
    `It has no deadline. To set one: ${gpucloud('instances', 'expire', typed, '--after', '4h')}`,
  );
}
