import type { Group } from '../kit/group.ts';

/** The verbs of `gpucloud catalog`, in the order of the help. */
export const catalog: Group = {
  verbs: {
    'list ls': async () => (await import('./list.ts')).registerList,
    add: async () => (await import('./add.ts')).registerAdd,
    'remove rm': async () => (await import('./remove.ts')).registerRemove,
  },
};
