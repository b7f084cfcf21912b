import { type CommandReference, type Reference, referenceOf } from '../../cli/reference/index.ts';
import { action } from '../../cli/verb.ts';
import type { View } from '../../output/output.ts';

/** A command as a row. */
const commandView: View<CommandReference> = {
  columns: [
    { id: 'command', header: 'COMMAND', value: (c) => c.command },
    { id: 'summary', header: 'SUMMARY', value: (c) => c.summary },
    { id: 'usage', header: 'USAGE', value: (c) => c.usage, hidden: true },
    { id: 'aliases', header: 'ALIASES', value: (c) => c.aliases.join(' '), hidden: true },
    {
      id: 'flags',
      header: 'FLAGS',
      value: (c) => c.flags.map(({ long }) => long).join(' '),
      hidden: true,
    },
    {
      id: 'columns',
      header: 'COLUMNS',
      value: (c) => c.columns.map(({ name }) => name).join(' '),
      hidden: true,
    },
    { id: 'exit_codes', header: 'EXIT CODES', value: (c) => c.exit_codes.join(' '), hidden: true },
  ],
  id: (c) => c.command,
  empty: 'There are no commands.',
};

/** The whole as one document, for the formats that have structure. */
const referenceView: View<Reference> = {
  columns: [
    { id: 'version', header: 'VERSION', value: (r) => r.version },
    { id: 'commands', header: 'COMMANDS', value: (r) => r.commands.length },
  ],
  id: () => null,
  empty: 'There are no commands.',
};

/** `gpucloud commands`: a verb of the root. */
export const commands = action({
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
  takes: (command) => command,
  async run({ out, flags }, _flags, { runtime }) {
    const reference = referenceOf(await runtime.wholeTree());
    const isChosen = flags.columns !== undefined || flags.sort !== undefined;
    // One document where there is structure, rows when a format is rows or columns were chosen.
    await (!isChosen && (out.format === 'json' || out.format === 'yaml')
      ? out.item(reference, referenceView)
      : out.list(reference.commands, commandView));
  },
});
