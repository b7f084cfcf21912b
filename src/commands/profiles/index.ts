import type { Group } from '../kit/group.ts';

/** The verbs of `gpucloud profiles`, in the order of the help. */
export const profiles: Group = {
  verbs: {
    'list ls': async () => (await import('./list.ts')).registerList,
    'get show': async () => (await import('./get.ts')).registerGet,
    use: async () => (await import('./use.ts')).registerUse,
    add: async () => (await import('./add.ts')).registerAdd,
    move: async () => (await import('./move.ts')).registerMove,
    'remove rm': async () => (await import('./remove.ts')).registerRemove,
  },
};
