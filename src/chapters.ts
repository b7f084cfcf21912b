import type { Group, Listed, Refused, Register } from './cli/group.ts';
import { TOPICS } from './cli/help.ts';
import { gpucloud } from './output/shell-line.ts';

/** A group of verbs, or a top-level verb. Its code loads when the command is chosen. */
export interface Entry extends Listed {
  /** Needs neither the service nor a key. */
  readonly local?: true;
  load(): Promise<Group | Register>;
}

interface Chapter {
  readonly heading: string;
  readonly entries: readonly Entry[];
}

/** Commands in the order of the help. */
export const CHAPTERS: readonly Chapter[] = [
  {
    heading: 'Get started:',
    entries: [
      {
        name: 'login',
        summary: 'Sign in with an API key',
        load: async () => (await import('./commands/profiles/login.ts')).login,
      },
      {
        name: 'sandbox',
        local: true,
        summary: 'Try everything free and offline, on this computer',
        load: async () => (await import('./commands/sandbox/index.ts')).sandbox,
      },
      {
        name: 'doctor',
        summary: 'Check this computer, your settings and the connection',
        load: async () => (await import('./commands/doctor/index.ts')).doctor,
      },
    ],
  },
  {
    heading: 'Instances:',
    entries: [
      {
        name: 'instances',
        aliases: ['instance'],
        summary: 'Create, connect to, stop and terminate instances',
        load: async () => (await import('./commands/instances/index.ts')).instances,
      },
      {
        name: 'run',
        summary: 'Rent an instance, run a command, fetch results and terminate it',
        load: async () => (await import('./commands/run/index.ts')).run,
      },
      {
        name: 'jobs',
        aliases: ['job'],
        summary: 'List, follow and stop jobs started by "run"',
        load: async () => (await import('./commands/jobs/index.ts')).jobs,
      },
      {
        name: 'status',
        summary: 'Show instances, drives, costs and problems',
        load: async () => (await import('./commands/status/index.ts')).status,
      },
      {
        name: 'audit',
        summary: 'Find charges and instances unknown to this computer',
        load: async () => (await import('./commands/audit/index.ts')).audit,
      },
      {
        name: 'catalog',
        local: true,
        summary: 'Name offers and images; see the last known prices',
        load: async () => (await import('./commands/catalog/index.ts')).catalog,
      },
      {
        name: 'templates',
        aliases: ['template'],
        summary: 'Browse application templates',
        load: async () => (await import('./commands/templates/index.ts')).templates,
      },
    ],
  },
  {
    heading: 'Storage and SSH keys:',
    entries: [
      {
        name: 'drives',
        aliases: ['drive'],
        summary: 'Create and manage cloud drives',
        load: async () => (await import('./commands/drives/index.ts')).drives,
      },
      {
        name: 'ssh-keys',
        aliases: ['ssh-key'],
        summary: 'Manage the SSH keys that new instances get',
        load: async () => (await import('./commands/ssh-keys/index.ts')).sshKeys,
      },
    ],
  },
  {
    heading: 'Account:',
    entries: [
      {
        name: 'billing',
        summary: 'Show balance and spending; apply promo codes',
        load: async () => (await import('./commands/billing/index.ts')).billing,
      },
      {
        name: 'me',
        summary: 'Show the account; change its name or password',
        load: async () => (await import('./commands/me/index.ts')).me,
      },
      {
        name: 'api-keys',
        aliases: ['api-key'],
        summary: 'List and create API keys',
        load: async () => (await import('./commands/api-keys/index.ts')).apiKeys,
      },
      {
        name: 'profiles',
        local: true,
        aliases: ['profile'],
        summary: 'Manage profiles: a base URL and a key each',
        load: async () => (await import('./commands/profiles/index.ts')).profiles,
      },
      {
        name: 'logout',
        local: true,
        summary: 'Remove the API key from a profile',
        load: async () => (await import('./commands/profiles/logout.ts')).logout,
      },
    ],
  },
  {
    heading: 'Tools:',
    entries: [
      {
        name: 'api',
        summary: 'Send any request to the API',
        load: async () => (await import('./commands/api/index.ts')).api,
      },
      {
        name: 'commands',
        local: true,
        summary: 'List every command, flag and exit code as data',
        load: async () => (await import('./commands/commands/index.ts')).commands,
      },
      {
        name: 'completion',
        summary: 'Set up Tab completion for your shell',
        load: async () => (await import('./commands/completion/index.ts')).completion,
      },
      {
        name: 'help',
        local: true,
        summary: 'Show help for a command or topic',
        load: async () => (await import('./commands/help/index.ts')).help,
      },
    ],
  },
];

export const ENTRIES = CHAPTERS.flatMap(({ entries }) => entries);

const NO_CATALOG = `use "${gpucloud('catalog', 'list')}" for known offers and images, or "gpucloud sandbox catalog" for the sandbox`;
const RESTART = `use "${gpucloud('instances', 'stop', 'NAME', '--wait')}", then "${gpucloud('instances', 'start', 'NAME')}"`;

/** Other tools' commands, as people may type them by habit. */
export const REFUSED: Refused = {
  undocumented: {
    offers: NO_CATALOG,
    offer: NO_CATALOG,
    images: NO_CATALOG,
    image: NO_CATALOG,
    reboot: RESTART,
    restart: RESTART,
  },
  foreign: {
    ls: 'instances list',
    list: 'instances list',
    ps: 'instances list',
    create: 'instances create',
    launch: 'instances create',
    get: 'instances get NAME',
    describe: 'instances get NAME',
    start: 'instances start NAME',
    stop: 'instances stop NAME',
    terminate: 'instances terminate NAME',
    destroy: 'instances terminate NAME',
    rm: 'instances terminate NAME',
    logs: 'instances events NAME --follow',
    ssh: 'instances ssh NAME',
    connect: 'instances ssh NAME',
    exec: 'instances ssh NAME -- COMMAND',
    scp: 'instances scp FILE NAME:',
    cp: 'instances scp FILE NAME:',
    rsync: 'instances ssh-config --install',
    balance: 'billing balance',
    whoami: 'me get',
    config: 'profiles list',
    auth: 'login',
    keys: 'ssh-keys list or api-keys list',
    version: '--version',
  },
};

export const EXAMPLES = [
  'gpucloud --profile sandbox sandbox catalog',
  'gpucloud instances create trainer --offer ID --image ID --wait=ssh',
];

export const footer = () => `Topics: gpucloud help ${TOPICS.map(({ name }) => name).join('|')}`;
