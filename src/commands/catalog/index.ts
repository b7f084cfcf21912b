import type { Group } from '../../cli/group.ts';

/** The verbs of `gpucloud catalog`, in the order of the help. */
export const catalog: Group = {
  verbs: [
    {
      name: 'list',
      aliases: ['ls'],
      summary:
        'List the offers and images that are known to this computer, with the last price seen',
      load: async () => (await import('./list.ts')).registerList,
    },
    {
      name: 'add',
      usage: '<kind> <id>',
      summary: 'Give an offer or an image a name of your own',
      load: async () => (await import('./add.ts')).registerAdd,
    },
    {
      name: 'remove',
      aliases: ['rm'],
      usage: '<entry>',
      summary: 'Forget what is known of an offer or an image',
      load: async () => (await import('./remove.ts')).registerRemove,
    },
  ],
  examples: [
    'gpucloud catalog list',
    'gpucloud catalog add offer 6f1c0e7a-3f57-4f0a-9a53-8e1f0c1d2b3a --name "RTX 4090"',
    'gpucloud catalog remove rtx-4090',
  ],
};
