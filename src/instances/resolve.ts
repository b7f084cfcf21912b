import { onCancel } from '../cli/confirm.ts';
import { beginningSo } from '../cli/lookup.ts';
import { checked } from '../cli/parse.ts';
import type { Context } from '../context.ts';
import { CliError, throwAll, usageError } from '../errors.ts';
import type { Known, KnownInstance } from '../journal/index.ts';
import { lazy } from '../lazy.ts';
import { instant, relative } from '../output/time.ts';
import { inRoubles, money } from '../rules/money.ts';
import { isUuid, resourceId } from '../rules/names.ts';
import { nearest } from '../rules/nearest.ts';
import { isTerminated, mayBill } from '../rules/statuses.ts';

/** An instance that a command is to act on. */
export interface Target {
  readonly id: string;
  /** The name known here, or what was typed. */
  readonly name: string;
  /** The status that was read last; undefined if it was never read here. */
  readonly last?: string | undefined;
}

/** What the command is about to do with the instance. */
interface Purpose {
  /** It changes something, so that a beginning of an id is taken only if no name is meant by it. */
  readonly changes?: true;
}

/**
 * Finds the instance that INSTANCE means: a UUID, a name known here, or a unique beginning of an id.
 * Only a UUID may be unknown here.
 * Throws CliError('notFound') for what fits nothing, and a usage error for what fits several.
 */
export async function findInstance(
  typed: string,
  context: Context,
  purpose: Purpose = {},
): Promise<Target> {
  return instanceFinder(context)(typed, purpose);
}

/** The same for several, one after the other: the known instances are read once. */
export function instanceFinder(
  context: Context,
): (typed: string, purpose?: Purpose) => Promise<Target> {
  const known = knownIn(context);
  return (typed, purpose = {}) => find(typed, purpose, known, context);
}

/** Finds several instances, each once, in the order in which they were given. */
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
 * The same, for a command that acts on those that exist and reports the others as failed: one
 * mistyped name may not keep a cleanup from terminating the rest.
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

/** The known instances, read once however many are looked for in them. */
interface KnownHere {
  one(id: string): Promise<KnownInstance | undefined>;
  /** Those that are not archived: the others may be many, and are seldom meant. */
  living(): Promise<Known>;
  all(): Promise<Known>;
}

function knownIn(context: Context): KnownHere {
  return {
    one: async (id) => (await context.journal()).instance(id),
    living: lazy(async () => (await context.journal()).read({ archived: false })),
    all: lazy(async () => (await context.journal()).read({ archived: true })),
  };
}

async function find(
  typed: string,
  purpose: Purpose,
  known: KnownHere,
  context: Context,
): Promise<Target> {
  checked('INSTANCE', typed, resourceId);
  if (isUuid(typed)) {
    const kept = (await withId(typed, known)) ?? (await withId(typed.toLowerCase(), known));
    return { id: kept?.id ?? typed, name: kept?.name ?? typed, last: kept?.last?.status };
  }
  const named = await called(typed, known);
  if (named.length > 0) return onlyOne(typed, named);
  const { instances } = await known.all();
  const beginning = preferLiving(beginningSo(typed, instances));
  if (beginning.length === 0 || (purpose.changes && mayBeName(typed, instances))) {
    throw notKnown(typed, instances);
  }
  const found = onlyOne(typed, beginning);
  if (purpose.changes && context.flags.yes) {
    throw usageError(
      `INSTANCE "${typed}" is only the beginning of an ID (${found.name} ${found.id}), which --yes does not accept`,
      'use the name or the whole ID',
    );
  }
  return found;
}

function onlyOne(typed: string, fitting: readonly KnownInstance[]): Target {
  const [first, second] = fitting;
  if (first === undefined || second !== undefined) {
    const list = fitting.map(({ id, name }) => `${name} ${id}`).join(', ');
    throw usageError(`INSTANCE "${typed}" fits several machines: ${list}`, 'use an id');
  }
  return { id: first.id, name: first.name, last: first.last?.status };
}

/** A whole id means that instance alone: its file is enough, however many others there are. */
async function withId(id: string, known: KnownHere): Promise<KnownInstance | undefined> {
  try {
    const kept = await known.one(id);
    // The request that made it may not have been settled yet.
    return kept ?? (await known.living()).instances.find((instance) => instance.id === id);
  } catch (error) {
    // Who wants to terminate an instance must not fail for a journal that can't be read.
    if (!(error instanceof CliError) || error.failure !== 'storage') throw error;
    return undefined;
  }
}

/** By name, or by an id that is not a UUID; the living ones first. */
async function called(typed: string, known: KnownHere): Promise<readonly KnownInstance[]> {
  const living = await known.living();
  const named = namedSo(typed, living.instances);
  if (named.length > 0) return named;
  const { instances } = await known.all();
  const archived = namedSo(typed, instances);
  if (!archived.some(({ id }) => id === typed)) refusePending(typed, living, archived);
  return archived;
}

function namedSo(typed: string, all: readonly KnownInstance[]): readonly KnownInstance[] {
  const exact = all.filter(({ id }) => id === typed);
  return exact.length > 0 ? exact : preferLiving(all.filter(({ name }) => name === typed));
}

/** A name may be used again after its instance was terminated; the living one is meant. */
function preferLiving(all: readonly KnownInstance[]): readonly KnownInstance[] {
  const living = all.filter(({ last }) => !isTerminated(last?.status));
  return living.length > 0 ? living : all;
}

function mayBeName(typed: string, instances: readonly KnownInstance[]): boolean {
  return instances.some(({ name }) => name.toLowerCase() === typed.toLowerCase());
}

function notKnown(typed: string, instances: readonly KnownInstance[]): CliError {
  const names = preferLiving(instances).map(({ name }) => name);
  const near = nearest(typed, names);
  const meant = near === undefined ? '' : `did you mean ${near}? `;
  return new CliError(
    'notFound',
    `INSTANCE "${typed}": no instance of that name or ID is known on this computer.`,
    {
      hint: `${meant}Names are known only on the computer that rented: gpucloud instances list --all; to add one: gpucloud instances track ID`,
      resource: typed,
    },
  );
}

/**
 * The instance of that name may be one whose id is not known: a namesake that is over is not meant
 * by who wants to terminate it, and 404 is no response either.
 */
function refusePending(
  name: string,
  { unknown, inFlight }: Known,
  archived: readonly KnownInstance[],
): void {
  const lost = unknown.find((request) => request.name === name);
  const open = lost ?? inFlight.find((request) => request.name === name);
  if (open === undefined) return;
  const others = archived.map(({ id, last }) => `${id} (${last?.status ?? 'not read'})`);
  const namesake = others.length === 0 ? '' : ` Of that name is known: ${others.join(', ')}.`;
  throw new CliError(
    'outcomeUnknown',
    `A machine "${name}" was asked for at ${open.asked_at}, and its id is not known: it may be billing.${namesake}`,
    {
      hint:
        lost === undefined
          ? 'its process still waits for the answer: run the command again in a while, or use an id'
          : 'settle it: gpucloud instances recover; or use an id',
      resource: name,
      mayBeBilling: true,
    },
  );
}

/**
 * The ids of the instances that a person picks from the living ones, if none was named.
 * Throws a usage error if nobody can be asked, CliError('notFound') if there is nothing to pick.
 */
export async function pickInstances(question: string, context: Context): Promise<string[]> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(
      'INSTANCE is missing: name the machines by their names or ids',
      'those known here: gpucloud instances list',
    );
  }
  // Whose instances they are is known once there is a key that is.
  await onCancel('Nothing was changed.', () => context.api());
  const { instances } = await (await context.journal()).read();
  const living = instances.filter(({ last }) => mayBill(last?.status));
  if (living.length === 0) {
    throw new CliError(
      'notFound',
      'No machine that is not terminated is known to this computer, so there is none to pick.',
      {
        hint: 'gpucloud instances list --all; a machine from elsewhere: gpucloud instances track ID',
      },
    );
  }
  const choices = living.map((instance) => ({
    name: instance.name,
    about: about(instance, context.clock.now()),
    value: instance.id,
  }));
  return await onCancel('Nothing was changed.', () =>
    prompts.chooseSeveral(question, choices, { least: 1 }),
  );
}

/** What was last seen of it, with the beginning of its id for those of one name. */
function about({ id, last }: KnownInstance, now: number): string[] {
  const seen = instant(last?.seen_at ?? '');
  const price = money(last?.price_per_hour ?? '');
  return [
    last?.status ?? 'never seen',
    price.ok ? `${inRoubles(price.value)}/h` : '',
    seen === undefined ? '' : `seen ${relative(seen, now)}`,
    isUuid(id) ? id.slice(0, 8) : id,
  ];
}
