import { onCancel } from '../cli/confirm.ts';
import { recoverLine } from '../cli/hints.ts';
import { beginningSo, calledSo } from '../cli/lookup.ts';
import { checked } from '../cli/parse.ts';
import type { Context } from '../context.ts';
import { CliError, throwAll, usageError } from '../errors.ts';
import type { Known, KnownInstance } from '../journal/index.ts';
import { lazy } from '../lazy.ts';
import { gpucloud } from '../output/shell-line.ts';
import { instant, relative } from '../output/time.ts';
import { inRoubles, priceIn } from '../rules/money.ts';
import { idKey, isSameName, isUuid, resourceId } from '../rules/names.ts';
import { nearest } from '../rules/nearest.ts';
import { isTerminated, mayBill } from '../rules/statuses.ts';

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
}

/** How the command uses the instance. */
interface Purpose {
  /**
   * Set if the command changes something. An ID prefix must then not equal a name, and no open
   * request may have that name. The value is the command's name for messages.
   */
  readonly changes?: true | 'start' | 'stop' | 'terminate';
}

/**
 * Finds an instance by UUID, known name (in any case if none is exact) or unique ID prefix. Only a
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
  return async (typed, purpose = {}) => {
    checked('INSTANCE', typed, resourceId);
    if (isUuid(typed)) return withId(idKey(typed), known, context);
    const named = await called(typed, purpose, known, context);
    if (named.length > 0) return onlyOne(typed, named);
    return alike(typed, purpose, (await known.all()).instances, context);
  };
}

interface KnownHere {
  living(): Promise<Known>;
  all(): Promise<Known>;
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
      if (!(error instanceof CliError) || error.failure !== 'notFound') throw error;
      missing.push(error);
    }
  }
  return { targets: [...found.values()], missing };
}

/** Finds an instance by name in another case, or by ID prefix. */
function alike(
  typed: string,
  purpose: Purpose,
  instances: readonly KnownInstance[],
  context: Context,
): Target {
  const beginning = preferLiving(beginningSo(typed, instances));
  const inAnyCase = instances.filter(isCalled(typed));
  if (inAnyCase.length > 0) {
    // Before a change, never guesses between two instances, or between a terminated and a running
    // instance with the same name.
    const isChange = purpose.changes !== undefined;
    const meant = isChange ? new Set([...inAnyCase, ...beginning]) : preferLiving(inAnyCase);
    return onlyOne(typed, [...meant]);
  }
  if (beginning.length === 0) throw notKnown(typed, instances);
  const found = onlyOne(typed, beginning);
  if (purpose.changes && context.flags.yes) {
    throw usageError(
      `--yes does not accept an ID prefix: "${typed}"`,
      `use the name ${found.name} or the full ID ${found.id}`,
    );
  }
  return found;
}

function onlyOne(typed: string, fitting: readonly KnownInstance[]): Target {
  const [first, second] = fitting;
  if (first === undefined || second !== undefined) {
    const list = fitting.map(({ id, name }) => `${name} ${id}`).join(', ');
    throw usageError(`INSTANCE "${typed}" matches several instances: ${list}`, 'use an ID');
  }
  return targetOf(first);
}

function targetOf({ id, name, last, deadline, idle }: KnownInstance): Target {
  return { id, name, last: last?.status, ends_at: deadline, ...(idle && { idle }) };
}

/** Reads only the file of the instance, since a full ID identifies it. */
async function withId(id: string, known: KnownHere, context: Context): Promise<Target> {
  let kept: KnownInstance | undefined;
  try {
    kept = await (await context.journal()).instance(id);
    // An open request may have created the instance. Reading the living instances resolves it.
    kept ??= (await known.living()).instances.find((instance) => instance.id === id);
  } catch (error) {
    // An unreadable journal must not prevent terminating an instance.
    if (!(error instanceof CliError) || error.failure !== 'storage') throw error;
  }
  return kept === undefined ? { id, name: id } : targetOf(kept);
}

/** Finds an instance by name or by an ID that is not a UUID. Prefers living instances. */
async function called(
  typed: string,
  { changes }: Purpose,
  known: KnownHere,
  context: Context,
): Promise<readonly KnownInstance[]> {
  const living = await known.living();
  const named = preferLiving(calledSo(typed, living.instances));
  if (named.length > 0 && changes === undefined) return named;
  const isSure = named.length > 0 && named.every(isOwn);
  const fitting = isSure ? named : meantBy(typed, (await known.all()).instances, changes, context);
  if (!fitting.some(({ id }) => id === typed)) refusePending(typed, living, fitting, changes);
  return fitting;
}

/**
 * Returns the instances with a name, for a change. A terminated instance that was rented or tracked
 * on this computer keeps its name. So terminating it twice never terminates another instance with
 * that name. The other instance needs its ID.
 */
function meantBy(
  typed: string,
  all: readonly KnownInstance[],
  changes: Purpose['changes'],
  { err }: Context,
): readonly KnownInstance[] {
  const own = all.filter((one) => one.name === typed && isOwn(one));
  const isOver = own.length > 0 && own.every(({ last }) => isTerminated(last?.status));
  if (changes === undefined || !isOver) return preferLiving(calledSo(typed, all));
  for (const { id, name, last, untracked } of all) {
    if (name !== typed || isTerminated(last?.status)) continue;
    const what = untracked
      ? 'an untracked instance'
      : 'an instance that this computer does not track';
    err.warn(
      'may_be_billing',
      `${typed} is also the name of ${what}: ${id}. Use the ID to change that instance.`,
    );
  }
  return own;
}

/** Whether the instance was rented or tracked on this computer, and not untracked since. */
function isOwn({ origin, untracked }: KnownInstance): boolean {
  return !untracked && origin !== 'read';
}

/** Prefers running instances, since a name can be reused after a termination. */
function preferLiving(all: readonly KnownInstance[]): readonly KnownInstance[] {
  const living = all.filter(({ last }) => !isTerminated(last?.status));
  return living.length > 0 ? living : all;
}

/** Whether an instance or a request has the name, in any case. */
function isCalled(typed: string): (one: { readonly name: string }) => boolean {
  return ({ name }) => isSameName(name, typed);
}

function notKnown(typed: string, instances: readonly KnownInstance[]): CliError {
  const names = preferLiving(instances).map(({ name }) => name);
  const near = nearest(typed, names);
  const meant = near === undefined ? '' : `did you mean ${near}? `;
  return new CliError(
    'notFound',
    `INSTANCE "${typed}": no instance with that name or ID is known on this computer.`,
    {
      hint: `${meant}list known instances: ${gpucloud('instances', 'list', '--all')}; add an instance rented elsewhere: ${gpucloud('instances', 'track', 'ID')}`,
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
  namesakes: readonly KnownInstance[],
  changes: Purpose['changes'],
): void {
  const lost = unknown.find(isCalled(name));
  const open = lost ?? inFlight.find(isCalled(name));
  if (open === undefined) return;
  const others = namesakes.map(({ id, last }) => `${id} (${last?.status ?? 'not read'})`);
  const namesake =
    others.length === 0 ? '' : ` Other instances with this name: ${others.join(', ')}.`;
  const verb = changes === undefined || changes === true ? undefined : changes;
  const byId =
    verb === undefined
      ? 'or use an ID'
      : `or use an ID: ${gpucloud('instances', verb, namesakes[0]?.id ?? 'ID')}`;
  throw new CliError(
    'outcomeUnknown',
    `The ID of "${name}", requested at ${open.asked_at}, is unknown. The instance may be billing.${namesake}`,
    {
      hint:
        lost === undefined
          ? `another process is waiting for the response: try again later; ${byId}`
          : `recover the request: ${recoverLine(name)}; ${byId}`,
      resource: name,
      mayBeBilling: true,
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
  const living = instances.filter(({ last }) => mayBill(last?.status));
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
  const price = priceIn(last?.price_per_hour);
  return [
    last?.status ?? 'never seen',
    price === undefined ? '' : `${inRoubles(price)}/h`,
    seen === undefined ? '' : `seen ${relative(seen, now)}`,
    isUuid(id) ? id.slice(0, 8) : id,
  ];
}
