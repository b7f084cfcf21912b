import type { Group } from '../../cli/group.ts';

const NO_END =
  'a smaller one costs less: "gpucloud drives update DRIVE --size 1"; to end it, ask the service';

/** The verbs of `gpucloud drives`, in the order of the help. */
export const drives: Group = {
  verbs: [
    {
      name: 'list',
      aliases: ['ls'],
      summary: 'List the cloud drives of the account',
      load: async () => (await import('./list.ts')).registerList,
    },
    {
      name: 'get',
      aliases: ['show'],
      usage: '<drive>',
      summary: 'Show everything about one drive',
      load: async () => (await import('./get.ts')).registerGet,
    },
    {
      name: 'create',
      usage: '[name]',
      summary: 'Create a cloud drive, which bills by the hour from then on',
      load: async () => (await import('./create.ts')).registerCreate,
    },
    {
      name: 'update',
      usage: '<drive>',
      summary: 'Rename a drive or change its billed size',
      load: async () => (await import('./update.ts')).registerUpdate,
    },
    {
      name: 'resume',
      usage: '<drive>',
      summary: 'Bring a SUSPENDED drive back, once the balance is topped up',
      load: async () => (await import('./resume.ts')).registerResume,
    },
  ],
  examples: [
    'gpucloud drives list',
    'gpucloud drives get datasets',
    'gpucloud drives create datasets --size 500GB',
    'gpucloud drives update datasets --size 1TB',
  ],
  undocumented: {
    delete: NO_END,
    rm: NO_END,
    attach:
      'a drive is given to a machine as it is created: "gpucloud instances create --drive DRIVE"',
    detach: 'the nearest is to end its machine: "gpucloud instances terminate INSTANCE"',
  },
};
