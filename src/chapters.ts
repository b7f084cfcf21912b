import type { Group, Listed, Refused, Register } from './cli/group.ts';
import { TOPICS } from './cli/help.ts';
import { api } from './commands/api/index.ts';
import { apiKeys } from './commands/api-keys/index.ts';
import { audit } from './commands/audit/index.ts';
import { billing } from './commands/billing/index.ts';
import { catalog } from './commands/catalog/index.ts';
import { commands } from './commands/commands/index.ts';
import { completion } from './commands/completion/index.ts';
import { doctor } from './commands/doctor/index.ts';
import { drives } from './commands/drives/index.ts';
import { help } from './commands/help/index.ts';
import { instances } from './commands/instances/index.ts';
import { jobs } from './commands/jobs/index.ts';
import { me } from './commands/me/index.ts';
import { profiles } from './commands/profiles/index.ts';
import { login } from './commands/profiles/login.ts';
import { logout } from './commands/profiles/logout.ts';
import { run } from './commands/run/index.ts';
import { sandbox } from './commands/sandbox/index.ts';
import { sshKeys } from './commands/ssh-keys/index.ts';
import { status } from './commands/status/index.ts';
import { templates } from './commands/templates/index.ts';
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
        load: async () => login,
      },
      {
        name: 'sandbox',
        local: true,
        summary: 'Try everything free and offline, on this computer',
        load: async () => sandbox,
      },
      {
        name: 'doctor',
        summary: 'Check this computer, your settings and the connection',
        load: async () => doctor,
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
        load: async () => instances,
      },
      {
        name: 'run',
        summary: 'Rent an instance, run a command, fetch results and terminate it',
        load: async () => run,
      },
      {
        name: 'jobs',
        aliases: ['job'],
        summary: 'List, follow and stop jobs started by "run"',
        load: async () => jobs,
      },
      {
        name: 'status',
        summary: 'Show instances, drives, costs and problems',
        load: async () => status,
      },
      {
        name: 'audit',
        summary: 'Find charges and instances unknown to this computer',
        load: async () => audit,
      },
      {
        name: 'catalog',
        local: true,
        summary: 'Name offers and images; see the last known prices',
        load: async () => catalog,
      },
      {
        name: 'templates',
        aliases: ['template'],
        summary: 'Browse application templates',
        load: async () => templates,
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
        load: async () => drives,
      },
      {
        name: 'ssh-keys',
        aliases: ['ssh-key'],
        summary: 'Manage the SSH keys that new instances get',
        load: async () => sshKeys,
      },
    ],
  },
  {
    heading: 'Account:',
    entries: [
      {
        name: 'billing',
        summary: 'Show balance and spending; apply promo codes',
        load: async () => billing,
      },
      {
        name: 'me',
        summary: 'Show the account; change its name or password',
        load: async () => me,
      },
      {
        name: 'api-keys',
        aliases: ['api-key'],
        summary: 'List and create API keys',
        load: async () => apiKeys,
      },
      {
        name: 'profiles',
        local: true,
        aliases: ['profile'],
        summary: 'Manage profiles: a base URL and a key each',
        load: async () => profiles,
      },
      {
        name: 'logout',
        local: true,
        summary: 'Remove the API key from a profile',
        load: async () => logout,
      },
    ],
  },
  {
    heading: 'Tools:',
    entries: [
      {
        name: 'api',
        summary: 'Send any request to the API',
        load: async () => api,
      },
      {
        name: 'commands',
        local: true,
        summary: 'List every command, flag and exit code as data',
        load: async () => commands,
      },
      {
        name: 'completion',
        summary: 'Set up Tab completion for your shell',
        load: async () => completion,
      },
      {
        name: 'help',
        local: true,
        summary: 'Show help for a command or topic',
        load: async () => help,
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
