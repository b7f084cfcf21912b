import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { type Reference, referenceOf } from '../../cli/reference/index.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { commandView, referenceView } from './view.ts';

/** `gpucloud commands`: a verb of the root. */
export function registerCommands(command: AnyCommand, frame: Frame): void {
  describe(command, {
    notes:
      'For tools and agents: --json and -o yaml are one document with every command, the global flags,\n' +
      'the exit codes and the environment. The other formats are a row for each command.\n' +
      'Things are added to it from version to version; none is taken away or changed.',
    examples: [
      'gpucloud commands',
      'gpucloud commands --json',
      `gpucloud commands --query "commands[?command=='instances create'].flags[].long"`,
      'gpucloud commands -o tsv --columns command,usage',
    ],
    view: commandView,
  }).action(async (_flags, own) => {
    const context = frame.context(own);
    await showCommands(referenceOf(await frame.wholeTree()), context);
  });
}

/** One document where there is structure, rows where a format is rows or columns were chosen. */
export async function showCommands(reference: Reference, context: Context): Promise<void> {
  const { out, flags } = context;
  const isChosen = flags.columns !== undefined || flags.sort !== undefined;
  if (!isChosen && (out.format === 'json' || out.format === 'yaml')) {
    await out.item(reference, referenceView);
  } else {
    await out.list(reference.commands, commandView);
  }
}
