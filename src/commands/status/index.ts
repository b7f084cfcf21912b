import type { Context } from '../../context.ts';
import type { Output } from '../../output/output.ts';
import { forProfile } from '../../output/typed-again.ts';
import { readAccount } from '../kit/account-reading.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { assertWhole, isNothingRead } from '../kit/unread-parts.ts';
import { describe } from '../kit/verb.ts';
import { intervalOption, watch, watchOption } from '../kit/watching.ts';
import { type Overview, overviewOf } from './overview.ts';
import { statusBlocks, statusView } from './view.ts';

/** `gpucloud status`, a verb of the root. */
export function registerStatus(root: AnyCommand, frame: Frame): void {
  describe(root, {
    view: statusView,
    notes:
      'The machines are those known to this computer, since the published API has no list of them.\n' +
      'The burn rate is the sum of the prices that the service tells for what is billing; how long the\n' +
      'balance lasts is at that rate. The charges of the last 24 hours are compared with what is known:\n' +
      'what they exceed it by is told, since something unknown may be billing. A part that can not be\n' +
      'read leaves the others alone, and decides the exit code.',
    examples: [
      'gpucloud status',
      'gpucloud status --watch',
      'gpucloud status --json | jq -r .burn.per_hour',
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
  const reading = await readAccount(context, { quiet: true });
  await show(overviewOf(reading), all, context.out, context);
  assertWhole(reading.faults);
}

/** Parts that can't be read are named on the screen, and read again with the rest. */
async function watchStatus(all: boolean, interval: number, context: Context): Promise<void> {
  await watch(
    {
      async read(options) {
        const reading = await readAccount(context, { quiet: true, options });
        // The view of before says more than one of which nothing could be read.
        if (isNothingRead(reading)) assertWhole(reading.faults);
        const faults = reading.faults.map(({ error }) => error);
        return {
          overview: overviewOf(reading),
          faults: [...faults, ...(reading.machines?.faults ?? [])],
        };
      },
      show: ({ overview }, out) => show(overview, all, out, context),
      rows: ({ overview }) => [overview],
      faultsIn: ({ faults }) => faults,
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
  if (!out.people) return out.item(overview, statusView);
  const typed = (command: string) => forProfile(command, flags.profile);
  const blocks = statusBlocks(overview, { all: all || !out.terminal, typed });
  return out.screen(blocks, Date.parse(overview.as_of));
}
