import type { Group } from '../kit/group.ts';

const FORGET = '"gpucloud logout" forgets a key on this computer; the key itself goes on working';

/** The verbs of `gpucloud api-keys`, in the order of the help. */
export const apiKeys: Group = {
  verbs: {
    'list ls': async () => (await import('./list.ts')).registerList,
    create: async () => (await import('./create.ts')).registerCreate,
  },
  undocumented: {
    delete: FORGET,
    rm: FORGET,
    revoke: FORGET,
    update: 'create another key: "gpucloud api-keys create NAME"',
    rotate:
      'create another key and keep it: "gpucloud api-keys create NAME --save-profile PROFILE"',
  },
};
