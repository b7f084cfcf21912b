import type { Command } from '@commander-js/extra-typings';
import { type AnyCommand, newProgram, setLocal, toldOf } from './commands/kit/command.ts';
import type { Frame } from './commands/kit/frame.ts';
import { addGlobalOptions } from './commands/kit/globals.ts';
import { helpStyle } from './commands/kit/help.ts';
import { TOPICS } from './commands/kit/topics.ts';
import { undocumented } from './commands/kit/undocumented.ts';

/** A group of verbs, or a verb of the root. Its code loads when it is chosen. */
interface Entry {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** It needs no service, and so no key. */
  readonly local?: true;
  load(): Promise<(command: AnyCommand, frame: Frame) => void>;
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
        load: async () => (await import('./commands/instances/index.ts')).registerInstances,
      },
      {
        name: 'catalog',
        local: true,
        summary: 'Names for offers and images, with the last price seen',
        load: async () => (await import('./commands/catalog/index.ts')).registerCatalog,
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
        load: async () => (await import('./commands/drives/index.ts')).registerDrives,
      },
      {
        name: 'ssh-keys',
        aliases: ['ssh-key'],
        summary: 'Public SSH keys for new machines',
        load: async () => (await import('./commands/ssh-keys/index.ts')).registerSshKeys,
      },
      {
        name: 'api-keys',
        aliases: ['api-key'],
        summary: 'API keys: list them, create one',
        load: async () => (await import('./commands/api-keys/index.ts')).registerApiKeys,
      },
      {
        name: 'templates',
        aliases: ['template'],
        summary: 'Application templates, with what they need and how they are used',
        load: async () => (await import('./commands/templates/index.ts')).registerTemplates,
      },
    ],
  },
  {
    heading: 'Account and money:',
    entries: [
      {
        name: 'status',
        summary: 'One screen: machines, drives, burn rate, balance, what needs attention',
        load: async () => (await import('./commands/status/index.ts')).registerStatus,
      },
      {
        name: 'me',
        summary: 'The account: see it, rename it, set its password',
        load: async () => (await import('./commands/me/index.ts')).registerMe,
      },
      {
        name: 'billing',
        summary: 'Balance, what was spent, how long it lasts, promo codes',
        load: async () => (await import('./commands/billing/index.ts')).registerBilling,
      },
    ],
  },
  {
    heading: 'Sign in:',
    entries: [
      {
        name: 'login',
        summary: 'Sign in with an API key and keep it in a profile',
        load: async () => (await import('./commands/login/index.ts')).registerLogin,
      },
      {
        name: 'logout',
        local: true,
        summary: 'Forget the key of a profile',
        load: async () => (await import('./commands/logout/index.ts')).registerLogout,
      },
      {
        name: 'profiles',
        local: true,
        aliases: ['profile'],
        summary: 'List, choose, add and remove profiles',
        load: async () => (await import('./commands/profiles/index.ts')).registerProfiles,
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
        load: async () => (await import('./commands/sandbox/index.ts')).registerSandbox,
      },
      {
        name: 'doctor',
        summary: 'Check this computer, the settings and the way to the service',
        load: async () => (await import('./commands/doctor/index.ts')).registerDoctor,
      },
      {
        name: 'help',
        local: true,
        summary: 'Help for any command, and some topics',
        load: async () => (await import('./commands/help/index.ts')).registerHelp,
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
        load: async () => (await import('./commands/commands/index.ts')).registerCommands,
      },
      {
        name: 'api',
        summary: 'Send any request with the key in force',
        load: async () => (await import('./commands/api/index.ts')).registerApi,
      },
      {
        name: 'completion',
        summary: 'Completion with Tab for bash, zsh, fish and PowerShell',
        load: async () => (await import('./commands/completion/index.ts')).registerCompletion,
      },
    ],
  },
];

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
  readonly frame: Frame;
  readonly version: string;
  /** Where help and the version go. */
  readonly write: (text: string) => void;
  /** Columns of the help. */
  readonly width: number;
}

/**
 * Builds the tree of one run. Groups are there by name and summary; the verbs of a group are added
 * when it is chosen, so that a run pays for one group alone.
 */
export function buildProgram({ frame, version, write, width }: ProgramSettings): Command {
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
  addGlobalOptions(program);

  const entries = new Map<string, Entry>();
  for (const chapter of CHAPTERS) {
    for (const entry of chapter.entries) {
      entries.set(entry.name, entry);
      const command = program
        .command(entry.name)
        .aliases([...(entry.aliases ?? [])])
        .helpCommand(false)
        .helpOption('-h, --help', 'show this help')
        .summary(entry.summary)
        .description(entry.summary)
        .helpGroup(chapter.heading);
      if (entry.local === true) setLocal(command);
    }
  }
  undocumented(program, UNDOCUMENTED);
  program.addHelpText('after', EXAMPLES);
  program.hook('preSubcommand', (_program, chosen) => loadEntry(entries, chosen, frame));
  return program;
}

/** Adds the verbs of every group, for help, completion and the reference. */
export async function addAllVerbs(program: AnyCommand, frame: Frame): Promise<void> {
  for (const entry of CHAPTERS.flatMap((chapter) => chapter.entries)) {
    const command = program.commands.find((known) => known.name() === entry.name);
    if (command !== undefined) {
      await addVerbs(entry, command, frame);
    }
  }
}

async function addVerbs(entry: Entry, command: AnyCommand, frame: Frame): Promise<void> {
  (await entry.load())(command, frame);
  // A verb of the root has its global flags by now; a group takes them too, before its verbs.
  if (command.commands.length > 0) {
    addGlobalOptions(command);
    command.addHelpText('after', () => `\nExamples:\n${examplesOf(command).join('\n')}`);
  }
}

/** The first example of each of its first verbs tells what a group is for. */
function examplesOf(group: AnyCommand): string[] {
  return group.commands
    .flatMap((verb) => toldOf(verb)?.examples.slice(0, 1) ?? [])
    .slice(0, MOST_EXAMPLES)
    .map((line) => `  $ ${line}`);
}

const MOST_EXAMPLES = 4;

async function loadEntry(
  entries: ReadonlyMap<string, Entry>,
  chosen: AnyCommand,
  frame: Frame,
): Promise<void> {
  const entry = entries.get(chosen.name());
  if (entry !== undefined) {
    await addVerbs(entry, chosen, frame);
  }
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
