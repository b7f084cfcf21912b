import type { Context } from '../../context.ts';
import { learnAccount } from '../kit/account.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { type KnownMachines, readKnownMachines } from '../kit/known-machines.ts';
import { verb } from '../kit/verb.ts';
import { listedView, notedView } from './listed-view.ts';

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
  const known = await readKnownMachines(
    { all, drives: api.drives.list(), now: context.clock.now() },
    api,
    context,
  );
  if (known.driveFault !== undefined) {
    context.err.warn(
      `The drives could not be read, so machines known only through one may be missing: ${known.driveFault.message}`,
    );
  }
  const listed = known.rows.filter((row) => all || row.status !== 'TERMINATED');
  const isNoted = context.out.format === 'table' && listed.some(({ note }) => note !== undefined);
  await context.out.list(listed, isNoted ? notedView() : listedView);
  tellFaults(known, context);
}

/** Some rows of old news are a warning; a list of nothing else is a failure. */
function tellFaults({ faults, asked }: KnownMachines, context: Context): void {
  const [first] = faults;
  if (first === undefined) {
    return;
  }
  if (faults.length === asked) {
    throw first;
  }
  context.err.warn(
    `${faults.length} of ${asked} machines could not be read; their rows show what was last seen: ${first.message}`,
  );
}
