import type { Group } from '../kit/group.ts';

const RESTART =
  'use "gpucloud instances stop NAME --wait" and then "gpucloud instances start NAME"';

/** The verbs of `gpucloud instances`, in the order of the help. */
export const instances: Group = {
  verbs: {
    'list ls': async () => (await import('./list.ts')).registerList,
    'get show': async () => (await import('./get.ts')).registerGet,
    create: async () => (await import('./create.ts')).registerCreate,
    reorder: async () => (await import('./reorder.ts')).registerReorder,
    start: async () => (await import('./start.ts')).registerStart,
    stop: async () => (await import('./stop.ts')).registerStop,
    'terminate rm': async () => (await import('./terminate.ts')).registerTerminate,
    events: async () => (await import('./events.ts')).registerEvents,
    wait: async () => (await import('./wait.ts')).registerWait,
    ssh: async () => (await import('./ssh.ts')).registerSsh,
    scp: async () => (await import('./scp.ts')).registerScp,
    tunnel: async () => (await import('./tunnel.ts')).registerTunnel,
    'ssh-config': async () => (await import('./ssh-config.ts')).registerSshConfig,
    endpoints: async () => (await import('./list-endpoints.ts')).registerEndpoints,
    secrets: async () => (await import('./secrets.ts')).registerSecrets,
    open: async () => (await import('./open.ts')).registerOpen,
    recover: async () => (await import('./recover.ts')).registerRecover,
    track: async () => (await import('./track.ts')).registerTrack,
    untrack: async () => (await import('./untrack.ts')).registerUntrack,
    export: async () => (await import('./transfer.ts')).registerExport,
    import: async () => (await import('./transfer.ts')).registerImport,
  },
  undocumented: {
    reboot: RESTART,
    restart: RESTART,
    delete: 'the nearest is to end it: "gpucloud instances terminate NAME"',
    rename: 'a machine keeps its name; "gpucloud instances reorder" gives a new one a new name',
    resize: 'create a machine from another offer',
  },
};
