import type { CallOptions } from '../../api/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { readAccount } from '../../money/account-reading.ts';
import { assertWhole, isNothingRead } from '../../money/unread-parts.ts';
import { forProfile } from '../../output/messages.ts';
import type { Output } from '../../output/output.ts';
import { intervalOption, watchOption } from '../../watch/flags.ts';
import { watch } from '../../watch/watch.ts';
import { billing, type Overview, overviewOf } from './overview.ts';
import { billingView, statusBlocks, statusView } from './view.ts';

/** `gpucloud status`, a verb of the root. */
export function registerStatus(root: AnyCommand, frame: Frame): void {
  describe(root, {
    view: statusView,
    notes:
      'The machines are those known to this computer, since the published API has no list of them.\n' +
      'The burn rate is the sum of the prices that the service tells for what is billing; how long the\n' +
      'balance lasts is at that rate. The charges of the last 24 hours are compared with what is known:\n' +
      'what they exceed it by is told, since something unknown may be billing. A part that can not be\n' +
      'read leaves the others alone, and decides the exit code. -q prints the ids of the machines that\n' +
      'bill, or may: of STOPPED and ERROR the API document does not say.',
    examples: [
      'gpucloud status',
      'gpucloud status --watch',
      'gpucloud status --json | jq -r .burn.per_hour',
      'gpucloud status -q',
    ],
  })
    .option('-a, --all', 'every machine and drive, however many there are')
    .addOption(watchOption())
    .addOption(intervalOption())
    .action(async ({ all, watch: isWatched, interval }, command) => {
      const context = frame.context(command);
      await (isWatched === true
        ? watchStatus(all === true, interval, context)
        : status(all === true, context));
    });
}

export async function status(all: boolean, context: Context): Promise<void> {
  const reading = await readAccount(context, how(context));
  await show(overviewOf(reading), all, context.out, context);
  assertWhole(reading.faults);
}

/** A screen tells of requests without an outcome in its own words; ids alone can't. */
function how({ out }: Context): { quiet: boolean } {
  return { quiet: out.format !== 'id' };
}

/** Parts that can't be read are named on the screen, and read again with the rest. */
async function watchStatus(all: boolean, interval: number, context: Context): Promise<void> {
  const read = async (options: CallOptions) => {
    const reading = await readAccount(context, { ...how(context), options });
    // The view of before says more than one of which nothing could be read.
    if (isNothingRead(reading)) assertWhole(reading.faults);
    const faults = reading.faults.map(({ error }) => error);
    return {
      overview: overviewOf(reading),
      faults: [...faults, ...(reading.machines?.faults ?? [])],
    };
  };
  type Reading = Awaited<ReturnType<typeof read>>;
  const faultsIn = ({ faults }: Reading) => faults;
  if (context.out.format === 'id') {
    const rows = ({ overview }: Reading) => billing(overview);
    const list = (reading: Reading, out: Output) => out.list(rows(reading), billingView);
    return watch({ read, show: list, rows, faultsIn, view: billingView }, interval, context);
  }
  await watch<Reading, Overview>(
    {
      read,
      show: ({ overview }, out) => show(overview, all, out, context),
      rows: ({ overview }) => [overview],
      faultsIn,
      view: statusView,
      one: true,
    },
    interval,
    context,
  );
}

async function show(
  overview: Overview,
  all: boolean,
  out: Output,
  { flags }: Context,
): Promise<void> {
  if (out.format === 'id') return out.list(billing(overview), billingView);
  if (!out.people) return out.item(overview, statusView);
  const typed = (command: string) => forProfile(command, flags.profile);
  const blocks = statusBlocks(overview, { all: all || !out.terminal, typed });
  return out.screen(blocks, Date.parse(overview.as_of));
}
