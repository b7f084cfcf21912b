import type { Group } from '../../cli/group.ts';

/** The verbs of `gpucloud ssh-keys`, in the order of the help. */
export const sshKeys: Group = {
  verbs: [
    {
      name: 'list',
      aliases: ['ls'],
      summary: 'List the SSH keys of the account, newest first',
      load: async () => (await import('./list.ts')).registerList,
    },
    {
      name: 'get',
      aliases: ['show'],
      usage: '<key>',
      summary: 'Show one SSH key, the public key itself included',
      load: async () => (await import('./get.ts')).registerGet,
    },
    {
      name: 'add',
      aliases: ['create'],
      usage: '[file]',
      summary: 'Add a public SSH key to the account',
      load: async () => (await import('./add.ts')).registerAdd,
    },
    {
      name: 'delete',
      aliases: ['rm'],
      usage: '<key...>',
      summary: 'Delete SSH keys from the account for good',
      load: async () => (await import('./delete.ts')).registerDelete,
    },
  ],
  examples: [
    'gpucloud ssh-keys list',
    'gpucloud ssh-keys get laptop',
    'gpucloud ssh-keys add ~/.ssh/id_ed25519.pub',
    'gpucloud ssh-keys delete laptop',
  ],
  undocumented: {
    update: 'delete the key and add it again: "gpucloud ssh-keys delete", "gpucloud ssh-keys add"',
    rename: 'delete the key and add it again with --name',
  },
};
