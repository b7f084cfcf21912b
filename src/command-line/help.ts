import { labelledText } from '../output/table/layout.ts';
import { paragraph } from '../output/width.ts';
import { type AnyCommand, about, argumentTerm, Help, type Option } from './command.ts';

/** Marks the flags of every command. */
export const GLOBAL_HEADING = 'Global options:';

/**
 * Extends commander's help with examples and columns, and shortens the global flags to one line.
 * `isColoured` decides whether a command's help is coloured.
 */
export const helpStyle = (
  helpWidth: number,
  isColoured: (command: AnyCommand) => boolean,
): Partial<Help> => ({
  helpWidth,
  formatHelp(command: AnyCommand, helper: Help): string {
    const { examples = [], view, foot = GLOBAL_OPTIONS } = about(command);
    const columns = view?.columns.map(({ id }) => id).join(', ') ?? '';
    const parts = [
      ownHelp(command, helper),
      section('Examples', examples.map((line) => `$ ${line}`).join('\n')),
      section('Columns (--columns, --sort)', columns && helper.boxWrap(columns, helpWidth - 2)),
      foot,
    ];
    const text = `${parts.filter((part) => part !== '').join('\n\n')}\n`;
    return isColoured(command) ? text.replace(HEADING, '\u001b[1m$&\u001b[22m') : text;
  },

  /** Shows an optional value after `=` (see StrictCommand): `--wait[=target]`. */
  optionTerm(option: Option): string {
    return option.optional ? option.flags.replace(/ \[(.+)]$/, '[=$1]') : option.flags;
  },

  /**
   * Shows `create [name]` in a list of commands: aliases and `[options]` appear only in the
   * command's own help.
   */
  subcommandTerm(command: AnyCommand): string {
    // The root lists only names of groups and verbs.
    if (command.parent?.parent === null) {
      return command.name();
    }
    return [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ');
  },
});

/** The most used global options. */
const GLOBAL_OPTIONS = `Global options: --json  -o <format>  -q (only IDs)  --yes  --profile <name>
All of them: gpucloud help options`;

/**
 * Filters flags only while printing: for typos, commander compares every option that the helper
 * returns.
 */
function ownHelp(command: AnyCommand, helper: Help): string {
  const own: Help = Object.create(helper);
  own.visibleOptions = (of) => helper.visibleOptions(of).filter(isOwn);
  return Help.prototype.formatHelp.call(own, command, own).trimEnd();
}

function isOwn({ helpGroupHeading, long = '' }: Option): boolean {
  return helpGroupHeading !== GLOBAL_HEADING && !['--help', '--version'].includes(long);
}

const HEADING = /^(?:Usage:|Global options:|Topics:|[A-Z].*:$)/gm;

function section(heading: string, text: string): string {
  return text === '' ? '' : `${heading}:\n${text.replace(/^/gm, '  ')}`;
}

/** First steps in the screen of a bare `gpucloud`. */
const STEPS = [
  ['sandbox tour', 'try everything free and offline'],
  ['login', 'sign in with an API key'],
  ['instances create', 'rent an instance, step by step'],
  ['run -- COMMAND', 'rent, run a command, copy --fetch paths, terminate'],
  ['status', 'show instances, drives, costs and problems'],
] as const;

/** Text beside a command in fewer columns is hard to read, and takes more than the 24 lines. */
const NARROW = 30;

/** Formats the screen of a bare `gpucloud`, which fits into 24 lines: names without summaries. */
export function firstScreen(root: AnyCommand, cells: number): string {
  const names = new Map<string, string[]>();
  for (const command of root.createHelp().visibleCommands(root)) {
    const heading = command.helpGroup();
    names.set(heading, [...(names.get(heading) ?? []), command.name()]);
  }
  const steps = STEPS.map(([words, purpose]) => ({
    label: `  gpucloud ${words}`,
    lines: (room: number) => (room < NARROW ? [''] : paragraph(purpose, room)),
  }));
  const groups = [...names].map(([heading, commands]) => ({
    label: `  ${heading}`,
    lines: (room: number) => paragraph(commands.join(' '), room),
  }));
  const isNarrow = cells < 2 * NARROW;
  const all = paragraph([...names.values()].flat().join(' '), cells).join('\n');
  return [
    ...paragraph(root.description(), cells),
    '\nGet started:',
    labelledText(steps, cells).trimEnd(),
    '\nCommands:',
    isNarrow ? all : labelledText(groups, cells).trimEnd(),
    '',
    ...paragraph('More: "gpucloud --help", or "gpucloud COMMAND --help".', cells),
    '',
  ].join('\n');
}

/** Help pages about a topic instead of a command: `gpucloud help exit-codes`. */
export const TOPICS = [
  { name: 'options', summary: 'Options of every command' },
  { name: 'exit-codes', summary: 'Exit codes and error codes' },
  { name: 'environment', summary: 'Environment variables' },
  { name: 'output', summary: 'Formats, columns, queries and streams' },
  { name: 'scripting', summary: 'Guarantees for scripts' },
  { name: 'deadlines', summary: 'Deadlines and idle rules' },
] as const;
export type Topic = (typeof TOPICS)[number]['name'];
