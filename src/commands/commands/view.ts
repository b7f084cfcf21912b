import type { CommandReference, Reference } from '../../cli/reference/index.ts';
import type { View } from '../../output/output.ts';

/** A command as a row. */
export const commandView: View<CommandReference> = {
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
export const referenceView: View<Reference> = {
  columns: [
    { id: 'version', header: 'VERSION', value: (r) => r.version },
    { id: 'commands', header: 'COMMANDS', value: (r) => r.commands.length },
  ],
  id: () => null,
  empty: 'There are no commands.',
};
