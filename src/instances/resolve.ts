import { onCancel } from '../command-line/confirm.ts';
import { recoverLine } from '../command-line/hints.ts';
import { checked } from '../command-line/parse.ts';
import type { Context } from '../context.ts';
import { CliError, doubt, ensureCliError, throwAll, usageError } from '../errors.ts';
import type { Known, KnownInstance, OpenRequest } from '../journal/index.ts';
import { lazy } from '../lazy.ts';
import { gpucloud } from '../output/shell-line.ts';
import { instant, relative } from '../output/time.ts';
import { inRoubles, priceIn } from '../rules/money.ts';
import { idKey, isSameName, isUuid, resourceId, typedName } from '../rules/names.ts';
import { nearest } from '../rules/nearest.ts';
import { isTerminated, mayBill } from '../rules/statuses.ts';
import { isOwn, type Match, matchInstance } from './match.ts';
import { newestFirst } from './newest-first.ts';
import { otherAccountHint } from './other-accounts.ts';

/** Target instance of a command. */
export interface Target {
  readonly id: string;
  /** The known name, otherwise the typed text. */
  readonly name: string;
  /** The last status read on this computer; undefined if none. */
  readonly last?: string | undefined;
  /** Deadline in service time (ISO 8601). */
  readonly ends_at?: string | undefined;
  readonly idle?: KnownInstance['idle'];
  readonly copies?: KnownInstance['rescue'];
  readonly wasStopped?: boolean;
}

/** How the command uses the instance. */
interface Purpose {
  /**
   * Set if the command changes something. No open request may then have the name. The value is the
   * command's name for messages.
   */
  readonly changes?: true | 'start' | 'stop' | 'terminate';
}

/**
 * Finds an instance by UUID, known name or unique ID prefix, as {@link matchInstance} does. Only a
 * UUID may be unknown on this computer. Throws CliError('notFound') if nothing matches, and a usage
 * error if several match.
 */
export async function findInstance(
  typed: string,
  context: Context,
  purpose: Purpose = {},
): Promise<Target> {
  return instanceFinder(context)(typed, purpose);
}

/** Finds several instances one after another, and reads the known instances only once. */
export function instanceFinder(
  context: Context,
): (typed: string, purpose?: Purpose) => Promise<Target> {
  const known: KnownHere = {
    // Omits archived instances, since there may be many and users rarely mean one.
    living: lazy(async () => (await context.journal()).read({ archived: false })),
    all: lazy(async () => (await context.journal()).read({ archived: true })),
  };
  return async (typed, { changes } = {}) => {
    checked('INSTANCE', typed, resourceId);
    try {
      return await find(typed, changes, known, context);
    } catch (error) {
      // An unreadable journal must not prevent terminating an instance.
      const isUnread = error instanceof CliError && error.failure === 'storage';
      if (!isUnread || !isUuid(typed)) throw error;
      return unknownHere(typed);
    }
  };
}

interface KnownHere {
  living(): Promise<Known>;
  all(): Promise<Known>;
}

async function find(
  typed: string,
  changes: Purpose['changes'],
  known: KnownHere,
  context: Context,
): Promise<Target> {
  const isChange = changes !== undefined;
  const living = await known.living();
  // The instance with this ID may be archived. Reads only its file.
  const byId = isUuid(typed) ? await (await context.journal()).instance(idKey(typed)) : undefined;
  const archived = byId?.kind === 'known' && byId.instance.archived ? [byId.instance] : [];
  const near = [...living.instances, ...archived];
  let found = matchInstance(typed, near, isChange);
  const isSure = isChange
    ? found.by === 'name' && found.fitting.every(isOwn)
    : found.by !== 'nothing' && found.by !== 'beginning';
  if (!isSure) found = matchInstance(typed, (await known.all()).instances, isChange);
  if (isChange || !isSure) refusePending(typed, living, found, changes);
  const [one, other] = found.fitting;
  if (one === undefined) {
    if (isUuid(typed)) return unknownHere(typed);
    throw await notKnown(typed, (await known.all()).instances, context);
  }
  if (other !== undefined) throw ambiguous(typed, found);
  if (found.by === 'beginning' && isChange && context.flags.yes) {
    throw beginningWithYes(typed, one);
  }
  return targetOf(one);
}

function unknownHere(typed: string): Target {
  return { id: idKey(typed), name: idKey(typed) };
}

/** Finds several instances in the given order. Returns each only once. */
export async function findInstances(
  typed: readonly string[],
  context: Context,
  purpose: Purpose = {},
): Promise<Target[]> {
  const { targets, missing } = await findEach(typed, context, purpose);
  throwAll(missing);
  return targets;
}

/**
 * Finds several instances for a command that reports missing names as failed. A mistyped name must
 * not stop a cleanup from terminating the others.
 */
export async function findEach(
  typed: readonly string[],
  context: Context,
  purpose: Purpose = {},
): Promise<{ targets: Target[]; missing: CliError[] }> {
  const find = instanceFinder(context);
  const found = new Map<string, Target>();
  const missing: CliError[] = [];
  for (const text of new Set(typed)) {
    try {
      const target = await find(text, purpose);
      found.set(target.id, target);
    } catch (error) {
      ensureCliError(error);
      if (error.failure !== 'notFound') throw error;
      missing.push(error);
    }
  }
  return { targets: [...found.values()], missing };
}

/** Builds the error for a text that fits several instances. */
export function ambiguous(
  typed: string,
  { by, fitting }: Match<Pick<KnownInstance, 'id' | 'name'>>,
): CliError {
  const list = fitting.map(({ id, name }) => `${name} ${id}`).join(', ');
  return usageError(
    `INSTANCE "${typed}" matches several instances: ${list}`,
    by === 'both' ? 'use a name or ID that only one of them has' : 'use an ID',
  );
}

/** Builds the error for the beginning of an ID: a script must not change a wrong instance. */
export function beginningWithYes(
  typed: string,
  { id, name }: Pick<KnownInstance, 'id' | 'name'>,
): CliError {
  const typable = typedName(name, id) === id ? '' : `the name ${name} or `;
  return usageError(
    `--yes does not accept an ID prefix: "${typed}"`,
    `use ${typable}the full ID ${id}`,
  );
}

function targetOf({ id, name, last, deadline, idle, rescue, wasStopped }: KnownInstance): Target {
  return { id, name, last: last?.status, ends_at: deadline, wasStopped, idle, copies: rescue };
}

async function notKnown(
  typed: string,
  instances: readonly KnownInstance[],
  context: Context,
): Promise<CliError> {
  const elsewhere = await otherAccountHint(typed, context);
  const living = instances.filter(({ last }) => !isTerminated(last?.status));
  const names = (living.length > 0 ? living : instances).map(({ name }) => name);
  const near = nearest(typed, names);
  const meant = near === undefined ? '' : `did you mean ${near}? `;
  return new CliError(
    'notFound',
    `INSTANCE "${typed}": no instance with that name or ID is known on this computer for this account.`,
    {
      hint: `${elsewhere}${meant}list known instances: ${gpucloud('instances', 'list', '--all')}; add an instance rented elsewhere: ${gpucloud('instances', 'track', 'ID')}`,
      resource: typed,
    },
  );
}

/**
 * Rejects the name of a request without a known ID. Another instance with that name may be someone
 * else's, and "not found" would be wrong.
 */
function refusePending(
  name: string,
  { unknown, inFlight }: Known,
  found: Match<KnownInstance>,
  changes: Purpose['changes'],
): void {
  const isCalled = (request: OpenRequest) => isSameName(request.name, name);
  const lost = unknown.find(isCalled);
  const open = lost ?? inFlight.find(isCalled);
  if (open === undefined) return;
  const namesakes = found.by === 'name' ? found.fitting : [];
  const others = namesakes.map(({ id, last }) => `${id} (${last?.status ?? 'not read'})`);
  const namesake =
    others.length === 0 ? '' : ` Other instances with this name: ${others.join(', ')}.`;
  const verb = changes === undefined || changes === true ? undefined : changes;
  const byId =
    verb === undefined
      ? 'or use an ID'
      : `or use an ID: ${gpucloud('instances', verb, namesakes[0]?.id ?? 'ID')}`;
  throw doubt(
    `The ID of "${name}", requested at ${open.asked_at}, is unknown. The instance may be billing.${namesake}`,
    {
      hint:
        lost === undefined
          ? `another process is waiting for the response: try again later; ${byId}`
          : `recover the request: ${recoverLine(name)}; ${byId}`,
      resource: name,
    },
  );
}

/**
 * Asks which living instances to use if the command names none, and returns their IDs. Throws a
 * usage error if not interactive, and CliError('notFound') if there are none.
 */
export async function pickInstances(question: string, context: Context): Promise<string[]> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(
      'INSTANCE is missing: give names or IDs',
      `list known instances: ${gpucloud('instances', 'list')}`,
    );
  }
  // Checks the API key first: without it, the account is unknown.
  await onCancel('No changes made.', () => context.api());
  const { instances } = await (await context.journal()).read();
  const living = newestFirst(
    instances
      .filter(({ last }) => mayBill(last?.status))
      .map((instance) => ({ ...instance, created_at: instance.last?.created_at })),
  );
  if (living.length === 0) {
    throw new CliError('notFound', 'No known instances to choose from.', {
      hint: `list terminated instances too: ${gpucloud('instances', 'list', '--all')}; add an instance rented elsewhere: ${gpucloud('instances', 'track', 'ID')}`,
    });
  }
  const choices = living.map((instance) => ({
    name: instance.name,
    about: about(instance, context.clock.now()),
    value: instance.id,
  }));
  return await onCancel('No changes made.', () =>
    prompts.chooseSeveral(question, choices, { least: 1 }),
  );
}

/**
 * Describes an instance as last seen. Adds an ID prefix to distinguish instances with the same
 * name.
 */
function about({ id, last }: KnownInstance, now: number): string[] {
  const seen = instant(last?.seen_at ?? '');
  const price = priceIn(last?.price_per_hour_snapshot);
  return [
    last?.status ?? 'never seen',
    price === undefined ? '' : `${inRoubles(price)}/h`,
    seen === undefined ? '' : `seen ${relative(seen, now)}`,
    isUuid(id) ? id.slice(0, 8) : id,
  ];
}
