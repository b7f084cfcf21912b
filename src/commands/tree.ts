import type { Group } from '../command-line/group.ts';
import { TOPICS } from '../command-line/help.ts';
import { gpucloud } from '../output/shell-line.ts';
import { api } from './api/index.ts';
import { apiKeys } from './api-keys/index.ts';
import { audit } from './audit/index.ts';
import { billing } from './billing/index.ts';
import { catalog } from './catalog/index.ts';
import { commands } from './commands/index.ts';
import { completion } from './completion/index.ts';
import { doctor } from './doctor/index.ts';
import { drives } from './drives/index.ts';
import { help } from './help/index.ts';
import { instances } from './instances/index.ts';
import { jobs } from './jobs/index.ts';
import { me } from './me/index.ts';
import { profiles } from './profiles/index.ts';
import { login } from './profiles/login.ts';
import { logout } from './profiles/logout.ts';
import { run } from './run/index.ts';
import { sandbox } from './sandbox/index.ts';
import { sshKeys } from './ssh-keys/index.ts';
import { status } from './status/index.ts';
import { templates } from './templates/index.ts';

const NO_CATALOG = `use "${gpucloud('catalog', 'list')}" for known offers and images, or "gpucloud sandbox catalog" for the sandbox`;
const RESTART = `use "${gpucloud('instances', 'stop', 'NAME', '--wait')}", then "${gpucloud('instances', 'start', 'NAME')}"`;

/** The whole program, with its commands in the order of the help. */
export const root: Group = {
  chapters: {
    'Get started:': {
      login: () => login,
      sandbox: {
        summary: 'Try everything free and offline, on this computer',
        local: true,
        group: () => sandbox,
      },
      doctor: () => doctor,
    },
    'Instances:': {
      instances: {
        aliases: ['instance'],
        summary: 'Create, connect to, stop and terminate instances',
        group: () => instances,
      },
      run: () => run,
      jobs: {
        aliases: ['job'],
        summary: 'List, follow and stop jobs started by "run"',
        group: () => jobs,
      },
      status: () => status,
      audit: () => audit,
      catalog: {
        summary: 'Name offers and images; see the last known prices',
        local: true,
        group: () => catalog,
      },
      templates: {
        aliases: ['template'],
        summary: 'Browse application templates',
        group: () => templates,
      },
    },
    'Storage and SSH keys:': {
      drives: {
        aliases: ['drive'],
        summary: 'Create and manage cloud drives',
        group: () => drives,
      },
      'ssh-keys': {
        aliases: ['ssh-key'],
        summary: 'Manage the SSH keys that new instances get',
        group: () => sshKeys,
      },
    },
    'Account:': {
      billing: {
        summary: 'Show balance and spending; apply promo codes',
        group: () => billing,
      },
      me: {
        summary: 'Show the account; change its name or password',
        group: () => me,
      },
      'api-keys': {
        aliases: ['api-key'],
        summary: 'List and create API keys',
        group: () => apiKeys,
      },
      profiles: {
        aliases: ['profile'],
        summary: 'Manage profiles: a base URL and a key each',
        local: true,
        group: () => profiles,
      },
      logout: () => logout,
    },
    'Tools:': {
      api: () => api,
      commands: () => commands,
      completion: () => completion,
      help: () => help,
    },
  },
  examples: [
    'gpucloud --profile sandbox sandbox catalog',
    'gpucloud instances create trainer --offer ID --image ID --wait=ssh',
  ],
  foot: `Topics: gpucloud help ${TOPICS.map(({ name }) => name).join('|')}`,
  // Other tools' commands, as people may type them by habit.
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
