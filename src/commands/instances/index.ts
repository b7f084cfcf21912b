import type { Group } from '../../cli/group.ts';

const RESTART = 'use "gpucloud instances stop NAME --wait", then "gpucloud instances start NAME"';

const LIFECYCLE = 'Lifecycle:';
const CONNECT = 'Connect:';
const DEADLINES = 'Deadlines:';
const KNOWN = 'What this computer knows:';

/** The verbs of `gpucloud instances`, in the order of the help. */
export const instances: Group = {
  verbs: [
    {
      name: 'list',
      heading: LIFECYCLE,
      aliases: ['ls'],
      summary: 'List instances known to this computer',
      load: async () => (await import('./list.ts')).list,
    },
    {
      name: 'get',
      heading: LIFECYCLE,
      aliases: ['show'],
      usage: '<instance...>',
      summary: 'Show instances in detail',
      load: async () => (await import('./get.ts')).get,
    },
    {
      name: 'create',
      heading: LIFECYCLE,
      usage: '[name]',
      summary: 'Rent an instance',
      load: async () => (await import('./create.ts')).create,
    },
    {
      name: 'reorder',
      heading: LIFECYCLE,
      usage: '<instance> [new-name]',
      summary: 'Rent a terminated instance again',
      load: async () => (await import('./reorder.ts')).reorder,
    },
    {
      name: 'start',
      heading: LIFECYCLE,
      usage: '<instance...>',
      summary: 'Start stopped instances',
      load: async () => (await import('./lifecycle.ts')).start,
    },
    {
      name: 'stop',
      heading: LIFECYCLE,
      usage: '<instance...>',
      summary: 'Stop instances; their disks are kept',
      load: async () => (await import('./lifecycle.ts')).stop,
    },
    {
      name: 'terminate',
      heading: LIFECYCLE,
      aliases: ['rm'],
      usage: '[instance...]',
      summary: 'Terminate instances; their disks are deleted',
      load: async () => (await import('./lifecycle.ts')).terminate,
    },
    {
      name: 'events',
      heading: LIFECYCLE,
      usage: '<instance...>',
      summary: 'Show or follow the event log',
      load: async () => (await import('./events.ts')).events,
    },
    {
      name: 'wait',
      heading: LIFECYCLE,
      usage: '<instance...>',
      summary: 'Wait until instances reach a status',
      load: async () => (await import('./lifecycle.ts')).wait,
    },
    {
      name: 'ssh',
      heading: CONNECT,
      usage: '<instance> [command...]',
      summary: 'Open a shell, or run a command',
      load: async () => (await import('./connect/ssh.ts')).ssh,
    },
    {
      name: 'scp',
      heading: CONNECT,
      usage: '<path...>',
      summary: 'Copy files to or from an instance',
      load: async () => (await import('./connect/scp.ts')).scp,
    },
    {
      name: 'tunnel',
      heading: CONNECT,
      usage: '<instance> [ports]',
      summary: 'Forward a port to this computer',
      load: async () => (await import('./connect/tunnel.ts')).tunnel,
    },
    {
      name: 'ssh-config',
      heading: CONNECT,
      summary: 'Let ssh, rsync and VS Code use instance names',
      load: async () => (await import('./connect/ssh-config.ts')).sshConfig,
    },
    {
      name: 'endpoints',
      heading: CONNECT,
      usage: '<instance...>',
      summary: 'List URLs and ports',
      load: async () => (await import('./connect/endpoints.ts')).endpoints,
    },
    {
      name: 'secrets',
      heading: CONNECT,
      usage: '<instance> [key]',
      summary: 'Show generated passwords and tokens',
      load: async () => (await import('./connect/secrets.ts')).secrets,
    },
    {
      name: 'open',
      heading: CONNECT,
      usage: '<instance> [endpoint]',
      summary: 'Open an application in the browser',
      load: async () => (await import('./connect/open.ts')).open,
    },
    {
      name: 'expire',
      heading: DEADLINES,
      usage: '<instance...>',
      summary: 'Set or remove a deadline',
      load: async () => (await import('./deadlines/expire.ts')).expire,
    },
    {
      name: 'reap',
      heading: DEADLINES,
      summary: 'Terminate instances past their deadline',
      load: async () => (await import('./deadlines/reap.ts')).reap,
    },
    {
      name: 'recover',
      heading: KNOWN,
      usage: '[name...]',
      summary: 'Settle requests with an unknown outcome',
      load: async () => (await import('./recover.ts')).recover,
    },
    {
      name: 'track',
      heading: KNOWN,
      usage: '<id...>',
      summary: 'Add instances rented elsewhere',
      load: async () => (await import('./track.ts')).track,
    },
    {
      name: 'untrack',
      heading: KNOWN,
      usage: '<instance...>',
      summary: 'Remove from the list; billing continues',
      load: async () => (await import('./untrack.ts')).untrack,
    },
  ],
  examples: [
    'gpucloud instances create',
    'gpucloud instances list',
    'gpucloud instances ssh trainer',
    'gpucloud instances terminate trainer',
  ],
  undocumented: {
    reboot: RESTART,
    restart: RESTART,
    delete: 'use "gpucloud instances terminate NAME"',
    rename: '"gpucloud instances reorder" rents it again under a new name',
    resize: 'create an instance from another offer',
  },
  foreign: {
    ps: 'instances list',
    launch: 'instances create',
    describe: 'instances get NAME',
    destroy: 'instances terminate NAME',
    logs: 'instances events NAME --follow',
    connect: 'instances ssh NAME',
    exec: 'instances ssh NAME -- COMMAND',
    cp: 'instances scp FILE NAME:',
    rsync: 'instances ssh-config --install',
  },
};
