import type { Api, Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { KnownMachine, UnknownRental } from '../../rentals/index.ts';
import { eachBounded } from '../kit/bounded.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { verb } from '../kit/verb.ts';
import { type Listed, listedView } from './listed-view.ts';
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
  const rentals = await context.rentals();
  const known = await rentals.read();
  const ended = (machine: KnownMachine) => machine.last?.status === 'TERMINATED';
  const ids = new Map(
    known.machines
      .filter((machine) => all || !ended(machine))
      .map((machine) => [machine.id, machine]),
  );
  const terminated = new Set(known.machines.filter(ended).map((machine) => machine.id));
  const found = await attachedToDrives(api, context);
  const fresh = found.filter((id) => !ids.has(id) && !terminated.has(id));

  const faults: CliError[] = [];
  const rows = await eachBounded([...ids.keys(), ...fresh], AT_ONCE, (id) =>
    readOne(id, ids.get(id), api, context, faults),
  );
  for (const id of fresh) {
    context.err.note(`Found through a drive and taken into the list: ${id}.`);
  }
  const shown = rows.filter((row) => all || row.status !== 'TERMINATED');
  await context.out.list([...known.unknown.map(unknownRow), ...shown], listedView);
  tellFaults(faults, rows.length, context);
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
    await keepSighting(sightingOf(instance), context);
    return { id, name: instance.name ?? id, status: instance.status, instance };
  } catch (error) {
    if (!(error instanceof CliError) || error.failure === 'authentication') throw error;
    const name = known?.name ?? id;
    if (error.failure === 'notFound') {
      return { id, name, status: 'GONE', last: known?.last };
    }
    faults.push(error);
    return { id, name, status: known?.last?.status ?? 'UNREAD', last: known?.last, unread: true };
  }
}

function unknownRow(rental: UnknownRental): Listed {
  return { id: null, name: rental.name, status: 'UNKNOWN', asked_at: rental.asked_at };
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
