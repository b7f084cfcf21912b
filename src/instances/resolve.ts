import { beginningSo } from '../cli/lookup.ts';
import { checked } from '../cli/parse.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import type { Known, KnownInstance } from '../journal/index.ts';
import { isUuid, resourceId } from '../rules/ids.ts';
import { nearest } from '../rules/nearest.ts';
import { isTerminated } from '../rules/statuses.ts';

/** A machine that a command is to act on. */
export interface Target {
  readonly id: string;
  /** The name known here, or what was typed. */
  readonly name: string;
}

/**
 * Finds the machine that INSTANCE means: an id, a name known here, or a unique beginning of an id.
 * A text that fits nothing known is taken for an id, and the service answers for it.
 * Throws a usage error for what can't be an id, and for what fits several machines.
 */
export function findMachine(typed: string, context: Context): Promise<Target> {
  return find(typed, journalOf(context));
}

async function find(typed: string, journal: Journal): Promise<Target> {
  checked('INSTANCE', typed, resourceId);
  const fitting = await fittingMachines(typed, journal);
  const [first, second] = fitting;
  if (first === undefined) {
    return { id: typed, name: typed };
  }
  if (second !== undefined) {
    const list = fitting.map((machine) => `${machine.name} ${machine.id}`).join(', ');
    throw usageError(`INSTANCE "${typed}" fits several machines: ${list}`, 'use an id');
  }
  return { id: first.id, name: first.name };
}

/** The machines of the list first: the terminated ones may be many, and are seldom meant. */
async function fittingMachines(typed: string, journal: Journal): Promise<readonly KnownInstance[]> {
  try {
    if (isUuid(typed)) return await machinesOfId(typed, journal);
    const living = await journal.living();
    const fitting = candidates(typed, living.instances);
    if (fitting.length > 0) return fitting;
    const archived = candidates(typed, (await journal.all()).instances);
    const isId = archived.some(({ id }) => id === typed);
    if (!isId) refuseUnknown(typed, living, archived);
    if (!isId && archived.length === 0) refuseMistyped(typed, await journal.all());
    return archived;
  } catch (error) {
    // A whole id needs no journal: whoever wants to end a machine must not fail for one.
    if (!(error instanceof CliError) || error.failure !== 'storage' || !isUuid(typed)) throw error;
    return [];
  }
}

/** A whole id means that machine alone: its file is enough, however many others there are. */
async function machinesOfId(id: string, journal: Journal): Promise<readonly KnownInstance[]> {
  const kept = await journal.one(id);
  // The request that made it may not have been tidied up yet.
  return kept === undefined ? candidates(id, (await journal.living()).instances) : [kept];
}

/** A name that is nearly that of a machine is no id that the service could know. */
function refuseMistyped(typed: string, { instances: machines }: Known): void {
  const meant = nearest(
    typed,
    preferLiving(machines).map(({ name }) => name),
  );
  if (meant === undefined) return;
  throw new CliError(
    'notFound',
    `INSTANCE "${typed}": no machine of that name or id is known to this computer.`,
    {
      hint: `did you mean ${meant}? The known ones: gpucloud instances list --all`,
      resource: typed,
    },
  );
}

/**
 * The machine of that name may be one whose id is not known: a namesake that is over is not meant
 * by whoever wants to end it, and 404 is no answer either.
 */
function refuseUnknown(
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

/** Finds several machines, each once, in the order in which they were given. */
export async function findMachines(typed: readonly string[], context: Context): Promise<Target[]> {
  const found = new Map<string, Target>();
  const journal = journalOf(context);
  for (const text of typed) {
    const target = await find(text, journal);
    found.set(target.id, target);
  }
  return [...found.values()];
}

/** The known machines, read once however many are looked for in them. */
interface Journal {
  one(id: string): Promise<KnownInstance | undefined>;
  living(): Promise<Known>;
  all(): Promise<Known>;
}

function journalOf(context: Context): Journal {
  let living: Promise<Known> | undefined;
  let all: Promise<Known> | undefined;
  async function read(archived: boolean): Promise<Known> {
    return (await context.journal()).read({ archived });
  }
  return {
    one: async (id) => (await context.journal()).instance(id),
    living() {
      living ??= read(false);
      return living;
    },
    all() {
      all ??= read(true);
      return all;
    },
  };
}

function candidates(typed: string, machines: readonly KnownInstance[]): readonly KnownInstance[] {
  const exact = machines.filter((machine) => machine.id === typed);
  if (exact.length > 0 || isUuid(typed)) {
    return exact;
  }
  const named = machines.filter((machine) => machine.name === typed);
  if (named.length > 0) {
    return preferLiving(named);
  }
  return preferLiving(beginningSo(typed, machines));
}

/** A name may be used again after its machine was terminated; the living one is meant. */
function preferLiving(machines: readonly KnownInstance[]): readonly KnownInstance[] {
  const living = machines.filter(({ last }) => !isTerminated(last?.status));
  return living.length > 0 ? living : machines;
}
