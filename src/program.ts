import type { Command } from '@commander-js/extra-typings';
import { type AnyCommand, about, helpLast, newProgram, readFlags } from './command-line/command.ts';
import { addGlobalOptions } from './command-line/globals.ts';
import { type Entry, entriesOf, type Group, namedBy } from './command-line/group.ts';
import { helpStyle } from './command-line/help.ts';
import type { Listed, Runtime } from './command-line/verb.ts';
import { root } from './commands/tree.ts';

interface ProgramSettings {
  readonly runtime: Runtime;
  readonly version: string;
  /** Receives help and the version. */
  readonly write: (text: string) => void;
  /** Help width in columns. */
  readonly width: number;
  readonly isColoured: (command: AnyCommand) => boolean;
  /** Arguments: builds only the part of the tree that they need. Builds all of it by default. */
  readonly words?: readonly string[];
}

/** Builds the command tree of one run. */
export function buildProgram({
  runtime,
  version,
  write,
  width,
  isColoured,
  words,
}: ProgramSettings): Command {
  const program = newProgram('gpucloud')
    .description('Rent GPU instances by the hour from the terminal, scripts and CI.')
    .version(`gpucloud ${version}`, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .configureHelp(helpStyle(width, isColoured))
    .exitOverride()
    .configureOutput({
      writeOut: write,
      // Silences commander, since only report.ts prints errors.
      writeErr: () => {},
      // The help is already coloured or plain.
      getOutHasColors: () => true,
    });

  fill(program, root, runtime, words);
  return program;
}

/**
 * Adds a group's commands. If the words name one of them, adds only that one. If they can run none,
 * lists them for the help. Otherwise, and without words, adds everything below.
 */
function fill(
  command: AnyCommand,
  group: Group,
  runtime: Runtime,
  given?: readonly string[],
): void {
  const words = helpLast(given ?? [], command.parent === null);
  // Building the global flags takes longer than many commands, so skip them if a word comes first.
  if (words[0]?.startsWith('-') !== false) addGlobalOptions(command);
  const [flags, [word, ...after]] = readFlags(words, command.options, 0);
  // Commander may print this group's help, or read the words after `--` in its own way.
  const isUnclear = word === '--' || flags.some((flag) => /^-(?:-help$|[a-z]*h)/.test(flag));
  const entries = entriesOf(group);
  const chosen = isUnclear || word === undefined ? undefined : namedBy(entries, word);
  if (chosen !== undefined) {
    add(command, chosen, runtime, after);
    return;
  }
  const isListed = given !== undefined && (word === undefined || !isUnclear);
  for (const entry of entries) isListed ? list(command, entry) : add(command, entry, runtime);
  command.usage('<command>');
  const { examples, foot } = group;
  Object.assign(about(command), foot === undefined ? { examples } : { examples, foot });
}

function add(parent: AnyCommand, entry: Entry, runtime: Runtime, words?: readonly string[]): void {
  const one = entry.load();
  const command = addListed(parent, entry, one);
  if ('group' in one) fill(command, one.group(), runtime, words);
  else one.addTo(command, runtime);
}

/** Adds a command as its parent's help shows it. The root's help shows no arguments. */
function list(parent: AnyCommand, entry: Entry): void {
  const one = entry.load();
  const command = addListed(parent, entry, one);
  if (parent.parent === null || 'group' in one) return;
  for (const argument of one.args()) command.addArgument(argument);
}

function addListed(
  parent: AnyCommand,
  { name, heading }: Entry,
  { aliases = [], summary, isHidden = false, local = false }: Listed,
): AnyCommand {
  const command = parent
    .command(name, { hidden: isHidden })
    .aliases([...aliases])
    .summary(summary)
    .description(summary)
    .helpGroup(heading)
    .helpCommand(false);
  if (local) about(command).local = true;
  return command;
}
