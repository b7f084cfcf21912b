import type { Group } from '../kit/group.ts';

/** The verbs of `gpucloud ssh-keys`, in the order of the help. */
export const sshKeys: Group = {
  verbs: {
    'list ls': async () => (await import('./list.ts')).registerList,
    'get show': async () => (await import('./get.ts')).registerGet,
    'add create': async () => (await import('./add.ts')).registerAdd,
    'delete rm': async () => (await import('./delete.ts')).registerDelete,
  },
  undocumented: {
    update: 'delete the key and add it again: "gpucloud ssh-keys delete", "gpucloud ssh-keys add"',
    rename: 'delete the key and add it again with --name',
  },
};
