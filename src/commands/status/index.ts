import type { Context } from '../../context.ts';
import { type CliError, SeveralErrors } from '../../errors.ts';
import { forProfile } from '../../output/typed-again.ts';
import { readAccount } from '../kit/account-reading.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { describe } from '../kit/verb.ts';
import { overviewOf } from './overview.ts';
import { statusBlocks, statusView } from './view.ts';

/** `gpucloud status`, a verb of the root. */
export function registerStatus(root: AnyCommand, frame: Frame): void {
  describe(root, {
    summary: 'One screen: machines, drives, burn rate, balance, what needs attention',
    view: statusView,
    notes:
      'The machines are those known to this computer, since the published API has no list of them.\n' +
      'The burn rate is the sum of the prices that the service tells for what is billing; how long the\n' +
      'balance lasts is at that rate. The charges of the last 24 hours are compared with what is known:\n' +
      'what they exceed it by is told, since something unknown may be billing. A part that can not be\n' +
      'read leaves the others alone, and decides the exit code.',
    examples: ['gpucloud status', 'gpucloud status --json | jq -r .burn.per_hour'],
  })
    .option('-a, --all', 'every machine and drive, however many there are')
    .action(({ all }, command) => status(all === true, frame.context(command)));
}

export async function status(all: boolean, context: Context): Promise<void> {
  const reading = await readAccount(context, { quiet: true });
  const overview = overviewOf(reading);
  const { out, flags } = context;
  if (out.people) {
    const typed = (command: string) => forProfile(command, flags.profile);
    await out.screen(statusBlocks(overview, { all: all || !out.terminal, typed }), reading.now);
  } else {
    await out.item(overview, statusView);
  }
  const [first, ...others] = reading.faults.map(({ error }) => error);
  if (first !== undefined) throw incomplete([first, ...others]);
}

/** What could not be read is told on the screen by its name; the exit code is that of the gravest. */
function incomplete(errors: readonly [CliError, ...CliError[]]): CliError {
  return errors.length === 1 ? errors[0] : new SeveralErrors(errors);
}
