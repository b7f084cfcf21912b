import type { Group } from '../kit/group.ts';

/** The verbs of `gpucloud me`, in the order of the help. */
export const me: Group = {
  verbs: {
    'get show': async () => (await import('./get.ts')).registerGet,
    update: async () => (await import('./update.ts')).registerUpdate,
    'set-password': async () => (await import('./set-password.ts')).registerSetPassword,
  },
};
