import type { Command } from '@commander-js/extra-typings';
import { type AnyCommand, about, newProgram } from './cli/command.ts';
import { addGlobalOptions, firstWord } from './cli/globals.ts';
import {
  addListed,
  type Group,
  type Listed,
  namedBy,
  type Register,
  type Runtime,
  undocumented,
} from './cli/group.ts';
import { helpStyle, TOPICS } from './cli/help.ts';

/** A group of verbs, or a verb of the root. Its code loads when it is chosen. */
interface Entry extends Listed {
  /** It needs no service, and so no key. */
  readonly local?: true;
  load(): Promise<Group | Register>;
}

interface Chapter {
  readonly heading: string;
  readonly entries: readonly Entry[];
}

/** The tree, in the order of the help. */
const CHAPTERS: readonly Chapter[] = [
  {
    heading: 'Rent machines:',
    entries: [
      {
        name: 'instances',
        aliases: ['instance'],
        summary: 'Rent GPU machines, see them, stop and end them',
        load: async () => (await import('./commands/instances/index.ts')).instances,
      },
      {
        name: 'catalog',
        local: true,
        summary: 'Names for offers and images, with the last price seen',
        load: async () => (await import('./commands/catalog/index.ts')).catalog,
      },
    ],
  },
  {
    heading: 'Storage and keys:',
    entries: [
      {
        name: 'drives',
        aliases: ['drive'],
        summary: 'Cloud drives: network storage that bills by the hour',
        load: async () => (await import('./commands/drives/index.ts')).drives,
      },
      {
        name: 'ssh-keys',
        aliases: ['ssh-key'],
        summary: 'Public SSH keys for new machines',
        load: async () => (await import('./commands/ssh-keys/index.ts')).sshKeys,
      },
      {
        name: 'api-keys',
        aliases: ['api-key'],
        summary: 'API keys: list them, create one',
        load: async () => (await import('./commands/api-keys/index.ts')).apiKeys,
      },
      {
        name: 'templates',
        aliases: ['template'],
        summary: 'Application templates, with what they need and how they are used',
        load: async () => (await import('./commands/templates/index.ts')).templates,
      },
    ],
  },
  {
    heading: 'Account and money:',
    entries: [
      {
        name: 'status',
        summary: 'One screen: machines, drives, burn rate, balance, what needs attention',
        load: async () => (await import('./commands/status/index.ts')).status,
      },
      {
        name: 'me',
        summary: 'The account: see it, rename it, set its password',
        load: async () => (await import('./commands/me/index.ts')).me,
      },
      {
        name: 'billing',
        summary: 'Balance, what was spent, how long it lasts, promo codes',
        load: async () => (await import('./commands/billing/index.ts')).billing,
      },
    ],
  },
  {
    heading: 'Sign in:',
    entries: [
      {
        name: 'login',
        summary: 'Sign in with an API key and keep it in a profile',
        load: async () => (await import('./commands/profiles/login.ts')).login,
      },
      {
        name: 'logout',
        local: true,
        summary: 'Forget the key of a profile',
        load: async () => (await import('./commands/profiles/logout.ts')).logout,
      },
      {
        name: 'profiles',
        local: true,
        aliases: ['profile'],
        summary: 'List, choose, add and remove profiles',
        load: async () => (await import('./commands/profiles/index.ts')).profiles,
      },
    ],
  },
  {
    heading: 'Learn:',
    entries: [
      {
        name: 'sandbox',
        local: true,
        summary: 'The whole service on this computer: free, offline, with a clock to turn',
        load: async () => (await import('./commands/sandbox/index.ts')).sandbox,
      },
      {
        name: 'doctor',
        summary: 'Check this computer, the settings and the way to the service',
        load: async () => (await import('./commands/doctor/index.ts')).doctor,
      },
      {
        name: 'help',
        local: true,
        summary: 'Help for any command, and some topics',
        load: async () => (await import('./commands/help/index.ts')).help,
      },
    ],
  },
  {
    heading: 'More:',
    entries: [
      {
        name: 'commands',
        local: true,
        summary: 'The whole command line as data: flags, columns, exit codes',
        load: async () => (await import('./commands/commands/index.ts')).commands,
      },
      {
        name: 'api',
        summary: 'Send any request with the key in force',
        load: async () => (await import('./commands/api/index.ts')).api,
      },
      {
        name: 'completion',
        summary: 'Completion with Tab for bash, zsh, fish and PowerShell',
        load: async () => (await import('./commands/completion/index.ts')).completion,
      },
    ],
  },
];

const ENTRIES = CHAPTERS.flatMap(({ entries }) => entries);

const NO_CATALOG =
  '"gpucloud catalog list" has those that this computer has seen, "gpucloud sandbox catalog" those of the sandbox';

/** What can be ordered is what people look for first, and the document has no list of it. */
const UNDOCUMENTED: Readonly<Record<string, string>> = {
  offers: NO_CATALOG,
  offer: NO_CATALOG,
  images: NO_CATALOG,
  image: NO_CATALOG,
};

export interface ProgramSettings {
  readonly runtime: Runtime;
  readonly version: string;
  /** Where help and the version go. */
  readonly write: (text: string) => void;
  /** Columns of the help. */
  readonly width: number;
  /**
   * The words of the command line. What they name is all that is built, so that a run pays for its
   * own command; where they name nothing, as for help, all groups are there.
   */
  readonly words?: readonly string[];
}

/**
 * Builds the tree of one run. Groups are there by name and summary; the verbs of a group are added
 * when it is chosen.
 */
export function buildProgram({
  runtime,
  version,
  write,
  width,
  words = [],
}: ProgramSettings): Command {
  const program = newProgram('gpucloud')
    .description('Rent GPU machines by the hour from the terminal, scripts and CI.')
    .usage('<command>')
    .version(`gpucloud ${version}`, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .configureHelp(helpStyle)
    .exitOverride()
    .configureOutput({
      writeOut: write,
      // Words for errors are found in one place, run.ts.
      writeErr: () => {},
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });

  const chosen = chosenEntry(program, words);
  for (const { heading, entries } of CHAPTERS) {
    for (const entry of entries) {
      if (chosen === undefined || chosen === entry) addEntry(program, entry, heading);
    }
  }
  if (chosen === undefined) {
    undocumented(program, UNDOCUMENTED);
    program.addHelpText('after', EXAMPLES);
  }
  program.hook('preSubcommand', (root, command) => {
    const entry = ENTRIES.find(({ name }) => name === command.name());
    return entry && loadEntry(entry, command, runtime, root.args.slice(1));
  });
  return program;
}

function chosenEntry(program: AnyCommand, words: readonly string[]): Entry | undefined {
  const word = wordAfterFlags(program, words);
  return word === undefined ? undefined : namedBy(ENTRIES, word);
}

/** The global flags of a level cost more than many a command, and rarely stand before its word. */
function wordAfterFlags(command: AnyCommand, words: readonly string[]): string | undefined {
  if (words[0]?.startsWith('-') === false) return words[0];
  addGlobalOptions(command);
  return firstWord(words, command.options);
}

function addEntry(program: AnyCommand, entry: Entry, heading: string): void {
  const command = addListed(program, entry).helpCommand(false).helpGroup(heading);
  if (entry.local === true) about(command).local = true;
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
    // A single word, and no verb: none can be run, so that it is enough to list them.
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

function addTheRest({ examples, undocumented: missing = {} }: Group, command: AnyCommand): void {
  undocumented(command, missing);
  command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
}

const EXAMPLES = `
Examples:
  $ gpucloud --profile sandbox sandbox catalog          what can be rented in the sandbox
  $ gpucloud login                                      sign in to the service
  $ gpucloud instances create trainer --offer ID --image ID --wait
  $ gpucloud status                                     machines, drives, what they cost, what is wrong
  $ gpucloud instances terminate trainer

Every command takes --json and tells its outcome by its exit code.
More to read: gpucloud help ${TOPICS.map(({ name }) => name).join('|')}`;
