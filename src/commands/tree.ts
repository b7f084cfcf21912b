import type { Group } from '../command-line/group.ts';
import { TOPICS } from '../command-line/help.ts';
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
import { mcp } from './mcp/index.ts';
import { me } from './me/index.ts';
import { profiles } from './profiles/index.ts';
import { login } from './profiles/login.ts';
import { logout } from './profiles/logout.ts';
import { run } from './run/index.ts';
import { sandbox } from './sandbox/index.ts';
import { sshKeys } from './ssh-keys/index.ts';
import { status } from './status/index.ts';
import { templates } from './templates/index.ts';

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
      mcp: () => mcp,
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
};
