import type { Group } from '../kit/group.ts';

const NO_END =
  'a smaller one costs less: "gpucloud drives update DRIVE --size 1"; to end it, ask the service';

/** The verbs of `gpucloud drives`, in the order of the help. */
export const drives: Group = {
  verbs: {
    'list ls': async () => (await import('./list.ts')).registerList,
    'get show': async () => (await import('./get.ts')).registerGet,
    create: async () => (await import('./create.ts')).registerCreate,
    update: async () => (await import('./update.ts')).registerUpdate,
    resume: async () => (await import('./resume.ts')).registerResume,
  },
  undocumented: {
    delete: NO_END,
    rm: NO_END,
    attach:
      'a drive is given to a machine as it is created: "gpucloud instances create --drive DRIVE"',
    detach: 'the nearest is to end its machine: "gpucloud instances terminate INSTANCE"',
  },
};
