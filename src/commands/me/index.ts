import type { Group } from '../../cli/group.ts';

/** The verbs of `gpucloud me`, in the order of the help. */
export const me: Group = {
  verbs: [
    {
      name: 'get',
      aliases: ['show'],
      summary: 'Show the account that the API key belongs to',
      load: async () => (await import('./get.ts')).registerGet,
    },
    {
      name: 'update',
      summary: 'Change the name of the account, the one field that can be changed',
      load: async () => (await import('./update.ts')).registerUpdate,
    },
    {
      name: 'set-password',
      usage: '[words...]',
      summary: 'Set a new password for the account',
      load: async () => (await import('./set-password.ts')).registerSetPassword,
    },
  ],
  examples: ['gpucloud me get', 'gpucloud me update --name "Ann Lee"', 'gpucloud me set-password'],
};
