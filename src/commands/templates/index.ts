import type { Group } from '../../cli/group.ts';

/** The verbs of `gpucloud templates`, in the order of the help. */
export const templates: Group = {
  verbs: [
    {
      name: 'list',
      aliases: ['ls'],
      summary: 'List the application templates',
      load: async () => (await import('./list.ts')).registerList,
    },
    {
      name: 'get',
      aliases: ['show'],
      usage: '<template>',
      summary: 'Show a template with its readme',
      load: async () => (await import('./get.ts')).registerGet,
    },
  ],
  examples: ['gpucloud templates list', 'gpucloud templates get jupyterlab'],
};
