import type { AnyCommand } from '../../command-line/command.ts';
import { findCommand } from '../../command-line/reference/find-command.ts';
import {
  type CommandReference,
  commandsOf,
  groupOf,
  referenceOf,
} from '../../command-line/reference/index.ts';
import { verb } from '../../command-line/verb.ts';
import { field, type View } from '../../output/output.ts';

const commandView: View<CommandReference> = {
  columns: [
    field('command', 'COMMAND'),
    field('summary', 'SUMMARY'),
    field('usage', 'USAGE', { hidden: true }),
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
  empty: 'No commands.',
};

/** Shows any part of the tree as one document in structured formats. */
const documentView: View<object> = {
  columns: [],
  id: () => null,
  empty: 'No commands.',
};

export const commands = verb({
  summary: 'List every command, flag and exit code as data',
  tool: { allow: 'read' },
  local: true,
  notes:
    'With --json or -o yaml, prints one document: every command, the global options, exit codes ' +
    'and environment variables. With PATH, prints only that command or group. Other formats print ' +
    'one row per command. New versions only add fields to the document.',
  completes: { path: { topics: [] } },
  examples: [
    'gpucloud commands',
    'gpucloud commands instances create --json',
    'gpucloud commands --query "commands[].usage"',
    'gpucloud commands drives -o tsv --columns command,usage',
  ],
  view: commandView,
  takes: (command) => command.argument('[path...]', 'a command or group (default: all)'),
  async run({ out, flags }, path, _flags, { runtime }) {
    const root = runtime.wholeTree();
    const found = findCommand(root, path, '"gpucloud --help" lists the commands');
    const below = commandsOf(found, root);
    const isChosen = flags.columns !== undefined || flags.sort !== undefined;
    // Prints rows in row formats or with chosen columns, otherwise one document.
    if (isChosen || (out.format !== 'json' && out.format !== 'yaml')) {
      return out.list(below, commandView);
    }
    return out.item(documentOf(found, below, root), documentView);
  },
});

function documentOf(
  found: AnyCommand,
  below: readonly CommandReference[],
  root: AnyCommand,
): object {
  if (found === root) return referenceOf(root);
  const [only] = below;
  const isCommand = found.commands.length === 0 && only !== undefined;
  return isCommand ? only : { ...groupOf(found), commands: below };
}
