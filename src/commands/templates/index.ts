import type { Group } from '../kit/group.ts';

/** The verbs of `gpucloud templates`, in the order of the help. */
export const templates: Group = {
  verbs: {
    'list ls': async () => (await import('./list.ts')).registerList,
    'get show': async () => (await import('./get.ts')).registerGet,
  },
};
