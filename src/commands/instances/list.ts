import type { Api, Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { instant, relative } from '../../output/time.ts';
import type { KnownMachine, Rentals, Snapshot, UnknownRental } from '../../rentals/index.ts';
import { eachBounded } from '../kit/bounded.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { verb } from '../kit/verb.ts';
import { learnAccount } from './account.ts';
import { type Listed, listedView, notedView } from './listed-view.ts';
import { keepSighting, sightingOf } from './sighting.ts';

/** As many readings at once as is polite to a service whose rate limits are not documented. */
const AT_ONCE = 8;

export function registerList(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'list',
    view: listedView,
    aliases: ['ls'],
    summary: 'List the machines known to this computer',
    notes:
      'The published API has no list of machines: these are the ones that this computer rented, was\n' +
      'told of, or found attached to a drive, each read afresh. UNKNOWN marks a request whose answer\n' +
      'was lost, GONE a machine that the service does not find.',
    examples: ['gpucloud instances list', 'gpucloud instances list --all --json'],
  })
    .option('-a, --all', 'terminated machines too')
    .action((flags, command) => list(flags.all === true, frame.context(command)));
}

export async function list(all: boolean, context: Context): Promise<void> {
  const api = await context.api();
  await learnAccount(api, context);
  const rentals = await context.rentals();
  const known = await rentals.read({ archived: all });
  const ids = new Map(known.machines.map((machine) => [machine.id, machine]));
  const found = await attachedToDrives(api, context);
  const archived = all ? [] : await archivedOf(found, ids, rentals);
  const fresh = found.filter((id) => !ids.has(id) && !archived.includes(id));

  const faults: CliError[] = [];
  const rows = await eachBounded([...ids.keys(), ...fresh], AT_ONCE, (id) =>
    readOne(id, ids.get(id), api, context, faults),
  );
  for (const id of fresh) {
    context.err.note(`Found through a drive and taken into the list: ${id}.`);
  }
  const shown = rows.filter((row) => all || row.status !== 'TERMINATED');
  const lost = known.unknown.filter(isMachine).map((rental) => unknownRow(rental, context));
  const listed = [...lost, ...shown];
  const isNoted = context.out.format === 'table' && listed.some(({ note }) => note !== undefined);
  await context.out.list(listed, isNoted ? notedView() : listedView);
  tellFaults(faults, rows.length, context);
}

/** Terminated machines, and those that are not wanted in the list, stay out though a drive names them. */
async function archivedOf(
  found: readonly string[],
  known: ReadonlyMap<string, KnownMachine>,
  rentals: Rentals,
): Promise<string[]> {
  if (found.every((id) => known.has(id))) {
    return [];
  }
  const { machines } = await rentals.read({ archived: true });
  return machines.filter(({ archived }) => archived).map(({ id }) => id);
}

/** The ids that drives name; a list of drives that can't be had leaves the rest of the list alone. */
async function attachedToDrives(api: Api, context: Context): Promise<string[]> {
  try {
    const drives = await api.drives.list();
    const ids = drives.map((drive) => drive.current_instance_id).filter((id) => id != null);
    return [...new Set(ids)];
  } catch (error) {
    if (!(error instanceof CliError) || error.failure === 'authentication') throw error;
    context.err.warn(
      `The drives could not be read, so machines known only through one may be missing: ${error.message}`,
    );
    return [];
  }
}

async function readOne(
  id: string,
  known: KnownMachine | undefined,
  api: Api,
  context: Context,
  faults: CliError[],
): Promise<Listed> {
  try {
    const instance: Instance = await api.instances.get(id);
    await keepSighting(sightingOf(instance), context, known === undefined ? 'drive' : 'read');
    const row = { id, name: instance.name ?? id, status: instance.status, instance };
    return known?.untracked === true ? { ...row, note: 'untracked' } : row;
  } catch (error) {
    if (!(error instanceof CliError) || error.failure === 'authentication') throw error;
    const name = known?.name ?? id;
    const last = known?.last;
    if (error.failure === 'notFound') {
      // Never dropped for it: only the web console can tell what became of the machine.
      const note = `the service does not find it; ${seenWords(last, context)}`;
      return { id, name, status: 'GONE', last, note };
    }
    faults.push(error);
    const note = `could not be read; ${seenWords(last, context)}`;
    return { id, name, status: last?.status ?? 'UNREAD', last, unread: true, note };
  }
}

function seenWords(last: Snapshot | undefined, { clock }: Context): string {
  return last === undefined ? 'never seen' : `${last.status} ${ago(last.seen_at, clock.now())}`;
}

function ago(time: string, now: number): string {
  const then = instant(time);
  return then === undefined ? 'once' : relative(then, now);
}

function isMachine({ operation }: UnknownRental): boolean {
  return operation === 'create' || operation === 'reorder';
}

function unknownRow({ name, asked_at, offer_id }: UnknownRental, { clock }: Context): Listed {
  return {
    id: null,
    name,
    status: 'UNKNOWN',
    asked_at,
    offer_id,
    note: `asked for ${ago(asked_at, clock.now())}; may be billing: gpucloud instances recover`,
  };
}

/** Some rows of old news are a warning; a list of nothing else is a failure. */
function tellFaults(faults: readonly CliError[], rows: number, context: Context): void {
  const [first] = faults;
  if (first === undefined) {
    return;
  }
  if (faults.length === rows) {
    throw first;
  }
  context.err.warn(
    `${faults.length} of ${rows} machines could not be read; their rows show what was last seen: ${first.message}`,
  );
}
