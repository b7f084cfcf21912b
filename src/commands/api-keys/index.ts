import type { Group } from '../../cli/group.ts';

const FORGET = '"gpucloud logout" forgets a key on this computer; the key itself goes on working';

/** The verbs of `gpucloud api-keys`, in the order of the help. */
export const apiKeys: Group = {
  verbs: [
    {
      name: 'list',
      aliases: ['ls'],
      summary: 'List the API keys of the account, without their secrets',
      load: async () => (await import('./list.ts')).registerList,
    },
    {
      name: 'create',
      usage: '<name>',
      summary: 'Create an API key and show its secret, this once',
      load: async () => (await import('./create.ts')).registerCreate,
    },
  ],
  examples: ['gpucloud api-keys list', 'KEY=$(gpucloud api-keys create ci)'],
  undocumented: {
    delete: FORGET,
    rm: FORGET,
    revoke: FORGET,
    update: 'create another key: "gpucloud api-keys create NAME"',
    rotate:
      'create another key and keep it: "gpucloud api-keys create NAME --save-profile PROFILE"',
  },
};
