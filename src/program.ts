import type { Command } from '@commander-js/extra-typings';
import { CHAPTERS, ENTRIES, type Entry, EXAMPLES, footer, REFUSED } from './chapters.ts';
import { type AnyCommand, about, newProgram } from './cli/command.ts';
import { addGlobalOptions, firstWord } from './cli/globals.ts';
import { addListed, type Group, namedBy, type Runtime, refuseWords } from './cli/group.ts';
import { helpStyle } from './cli/help.ts';

interface ProgramSettings {
  readonly runtime: Runtime;
  readonly version: string;
  /** Receives help and the version. */
  readonly write: (text: string) => void;
  /** Help width in columns. */
  readonly width: number;
  readonly isColoured: (command: AnyCommand) => boolean;
  /**
   * Arguments. Builds only the command they name, to save start time. Without a command, as for
   * help, builds all groups.
   */
  readonly words?: readonly string[];
}

/**
 * Builds the command tree of one run. A group has a name and a summary; choosing the group adds its
 * verbs.
 */
export function buildProgram({
  runtime,
  version,
  write,
  width,
  isColoured,
  words = [],
}: ProgramSettings): Command {
  const program = newProgram('gpucloud')
    .description('Rent GPU instances by the hour from the terminal, scripts and CI.')
    .usage('<command>')
    .version(`gpucloud ${version}`, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .configureHelp(helpStyle(isColoured))
    .exitOverride()
    .configureOutput({
      writeOut: write,
      // Silences commander, since only report.ts prints errors.
      writeErr: () => {},
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      // The help is already coloured or plain.
      getOutHasColors: () => true,
    });

  const word = wordAfterFlags(program, words);
  const chosen = word === undefined ? undefined : namedBy(ENTRIES, word);
  for (const { heading, entries } of CHAPTERS) {
    for (const entry of entries) {
      if (chosen !== undefined && chosen !== entry) continue;
      const command = addListed(program, { ...entry, heading }).helpCommand(false);
      if (entry.local === true) about(command).local = true;
    }
  }
  if (chosen === undefined) {
    refuseWords(program, REFUSED);
    about(program).examples = EXAMPLES;
    about(program).foot = footer();
  }
  program.hook('preSubcommand', (root, command) => {
    const entry = namedBy(ENTRIES, command.name());
    return entry && loadEntry(entry, command, runtime, root.args.slice(1));
  });
  return program;
}

/**
 * Returns the first word that is not a flag. Builds the level's global flags only if a flag comes
 * first, since building them takes longer than many commands.
 */
function wordAfterFlags(command: AnyCommand, words: readonly string[]): string | undefined {
  if (words[0]?.startsWith('-') === false) return words[0];
  addGlobalOptions(command);
  return firstWord(words, command.options);
}

async function loadEntry(
  entry: Entry,
  command: AnyCommand,
  runtime: Runtime,
  words: readonly string[],
): Promise<void> {
  const loaded = await entry.load();
  if (typeof loaded === 'function') {
    loaded(command, runtime);
    return;
  }
  const word = wordAfterFlags(command, words);
  const verb = word === undefined ? undefined : namedBy(loaded.verbs, word);
  if (verb !== undefined) {
    (await verb.load())(addListed(command, verb), runtime);
  } else if (words.length <= 1) {
    // With a single word that is not a verb, nothing will run, so list only the verbs.
    for (const { usage, ...listed } of loaded.verbs) {
      const line = addListed(command, listed);
      if (usage) line.arguments(usage);
    }
    addTheRest(loaded, command);
  } else {
    await addVerbs(loaded, command, runtime);
  }
}

/** Adds the verbs of every group, for help, completion and the reference. */
export async function addAllVerbs(program: AnyCommand, runtime: Runtime): Promise<void> {
  for (const { name, load } of ENTRIES) {
    const command = program.commands.find((known) => known.name() === name);
    if (command === undefined) continue;
    const loaded = await load();
    if (typeof loaded === 'function') {
      loaded(command, runtime);
    } else {
      addGlobalOptions(command);
      await addVerbs(loaded, command, runtime);
    }
  }
}

async function addVerbs(group: Group, command: AnyCommand, runtime: Runtime): Promise<void> {
  for (const verb of group.verbs) (await verb.load())(addListed(command, verb), runtime);
  addTheRest(group, command);
}

function addTheRest(group: Group, command: AnyCommand): void {
  command.usage('<command>');
  refuseWords(command, group);
  about(command).examples = group.examples;
}
