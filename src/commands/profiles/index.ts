import type { Group } from '../../cli/group.ts';

/** The verbs of `gpucloud profiles`, in the order of the help. */
export const profiles: Group = {
  verbs: [
    {
      name: 'list',
      aliases: ['ls'],
      summary: 'List the profiles, the built-in sandbox included',
      load: async () => (await import('./list.ts')).registerList,
    },
    {
      name: 'get',
      aliases: ['show'],
      usage: '[name]',
      summary: 'Show a profile, never its key',
      load: async () => (await import('./get.ts')).registerGet,
    },
    {
      name: 'use',
      usage: '<name>',
      summary: 'Make a profile the current one',
      load: async () => (await import('./use.ts')).registerUse,
    },
    {
      name: 'add',
      usage: '<name>',
      summary: 'Add a profile without a key',
      load: async () => (await import('./add.ts')).registerAdd,
    },
    {
      name: 'move',
      usage: '<name>',
      summary: 'Move the key of a profile into the system keyring, or into the config file',
      load: async () => (await import('./move.ts')).registerMove,
    },
    {
      name: 'remove',
      aliases: ['rm'],
      usage: '<name>',
      summary: 'Remove a profile and its key',
      load: async () => (await import('./remove.ts')).registerRemove,
    },
  ],
  examples: [
    'gpucloud profiles list',
    'gpucloud profiles get',
    'gpucloud profiles use work',
    'gpucloud profiles add work --base-url https://api.example.com',
  ],
};
