import type { CallOptions } from '../../api/index.ts';
import { action } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { type AccountReading, readAccount } from '../../money/account.ts';
import { assertWhole } from '../../money/faults.ts';
import { forProfile } from '../../output/messages.ts';
import type { Output } from '../../output/output.ts';
import { intervalOption, watchOption } from '../../watch/flags.ts';
import { watch } from '../../watch/watch.ts';
import { mayBillIn, type Overview, overviewOf } from './overview.ts';
import { idView, statusBlocks, statusView } from './view.ts';

/** `gpucloud status`, a verb of the root. */
export const status = action({
  view: statusView,
  notes:
    'Shows the instances known to this computer: the API has no list of them. The burn rate ' +
    'is the sum of their prices and those of the drives.\n\n' +
    "Charges of the last 24 hours that these don't explain are reported: something unknown " +
    "may be billing. If a part can't be read, the others are shown, and it decides the exit " +
    'code. -q prints the IDs of instances that bill or may bill.',
  examples: [
    'gpucloud status',
    'gpucloud status --watch',
    'gpucloud status --json | jq -r .burn.per_hour',
    'gpucloud status -q',
  ],
  takes: (command) =>
    command
      .option('-a, --all', 'show all instances and drives')
      .addOption(watchOption())
      .addOption(intervalOption()),
  run: async (context, { all = false, watch: isWatched, interval }) => {
    if (isWatched) return watchStatus(all, interval, context);
    const reading = await read({}, context);
    await show(overviewOf(reading), all, context.out, context);
    assertWhole(reading.faults);
  },
});

/** The screen reports pending requests itself; a list of ids can't. */
function read(options: CallOptions, context: Context): Promise<AccountReading> {
  return readAccount(context, { quiet: context.out.format !== 'id', options });
}

/** Parts that can't be read are named on the screen, and read again with the rest. */
async function watchStatus(all: boolean, interval: number, context: Context): Promise<void> {
  interface Reading {
    readonly reading: AccountReading;
    readonly overview: Overview;
  }
  const watched = {
    async read(options: CallOptions): Promise<Reading> {
      const reading = await read(options, context);
      // The previous screen shows more than one on which nothing could be read.
      if (isNothingRead(reading)) assertWhole(reading.faults);
      return { reading, overview: overviewOf(reading) };
    },
    show: ({ overview }: Reading, out: Output) => show(overview, all, out, context),
    faultsIn: ({ reading: { faults, instances } }: Reading) => [
      ...faults.map(({ error }) => error),
      ...(instances?.faults ?? []),
    ],
  };
  if (context.out.format === 'id') {
    const rows = ({ overview }: Reading) => mayBillIn(overview.instances);
    return watch({ ...watched, rows, view: idView }, interval, context);
  }
  const rows = ({ overview }: Reading) => [overview];
  await watch({ ...watched, rows, view: statusView, one: true }, interval, context);
}

/** Whether the service sent nothing at all, so that only old states can be shown. */
function isNothingRead({ user, drives, instances, faults }: AccountReading): boolean {
  const read = instances === undefined ? 0 : instances.asked - instances.faults.length;
  const isHistory = !faults.some(({ part }) => part === 'transactions');
  return user === undefined && drives === undefined && read === 0 && !isHistory;
}

async function show(
  overview: Overview,
  all: boolean,
  out: Output,
  { flags }: Context,
): Promise<void> {
  if (out.format === 'id') return out.list(mayBillIn(overview.instances), idView);
  if (!out.people) return out.item(overview, statusView);
  const typed = (command: string) => forProfile(command, flags.profile);
  const blocks = statusBlocks(overview, { all: all || !out.terminal, typed });
  return out.screen(blocks, Date.parse(overview.as_of));
}
