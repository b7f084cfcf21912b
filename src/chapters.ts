import type { Group, Listed, Register } from './cli/group.ts';
import { TOPICS } from './cli/help.ts';

/** A group of verbs, or a verb of the root. Its code loads when it is chosen. */
export interface Entry extends Listed {
  /** It needs no service, and so no key. */
  readonly local?: true;
  load(): Promise<Group | Register>;
}

interface Chapter {
  readonly heading: string;
  readonly entries: readonly Entry[];
}

/** The tree, in the order of the help. */
export const CHAPTERS: readonly Chapter[] = [
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

export const ENTRIES = CHAPTERS.flatMap(({ entries }) => entries);

const NO_CATALOG =
  '"gpucloud catalog list" has those that this computer has seen, "gpucloud sandbox catalog" those of the sandbox';

/** What can be ordered is what people look for first, and the document has no list of it. */
export const UNDOCUMENTED: Readonly<Record<string, string>> = {
  offers: NO_CATALOG,
  offer: NO_CATALOG,
  images: NO_CATALOG,
  image: NO_CATALOG,
};

export const EXAMPLES = `
Examples:
  $ gpucloud --profile sandbox sandbox catalog          what can be rented in the sandbox
  $ gpucloud login                                      sign in to the service
  $ gpucloud instances create trainer --offer ID --image ID --wait
  $ gpucloud status                                     machines, drives, what they cost, what is wrong
  $ gpucloud instances terminate trainer

Every command takes --json and tells its outcome by its exit code.
More to read: gpucloud help ${TOPICS.map(({ name }) => name).join('|')}`;
