import type { Group } from '../../cli/group.ts';

const RESTART =
  'use "gpucloud instances stop NAME --wait" and then "gpucloud instances start NAME"';

/** The verbs of `gpucloud instances`, in the order of the help. */
export const instances: Group = {
  verbs: [
    {
      name: 'list',
      aliases: ['ls'],
      summary: 'List the machines known to this computer',
      load: async () => (await import('./list.ts')).list,
    },
    {
      name: 'get',
      aliases: ['show'],
      usage: '<instance>',
      summary: 'Show everything about one machine',
      load: async () => (await import('./get.ts')).get,
    },
    {
      name: 'create',
      usage: '[name]',
      summary: 'Rent a machine',
      load: async () => (await import('./create.ts')).create,
    },
    {
      name: 'reorder',
      usage: '<instance> [new-name]',
      summary: 'Rent again what a terminated machine was',
      load: async () => (await import('./reorder.ts')).reorder,
    },
    {
      name: 'start',
      usage: '<instance...>',
      summary: 'Start stopped machines',
      load: async () => (await import('./lifecycle.ts')).start,
    },
    {
      name: 'stop',
      usage: '<instance...>',
      summary: 'Power machines off and keep their disks',
      load: async () => (await import('./lifecycle.ts')).stop,
    },
    {
      name: 'terminate',
      aliases: ['rm'],
      usage: '[instance...]',
      summary: 'End machines for good, with all that is on their disks',
      load: async () => (await import('./lifecycle.ts')).terminate,
    },
    {
      name: 'events',
      usage: '<instance...>',
      summary: 'Show the event log of a machine, newest first, or follow it',
      load: async () => (await import('./events.ts')).events,
    },
    {
      name: 'wait',
      usage: '<instance...>',
      summary: 'Wait until machines have a status',
      load: async () => (await import('./lifecycle.ts')).wait,
    },
    {
      name: 'ssh',
      usage: '<instance> [command...]',
      summary: 'Enter a machine, or run a command on it',
      load: async () => (await import('./connect/ssh.ts')).ssh,
    },
    {
      name: 'scp',
      usage: '<path...>',
      summary: 'Copy files to or from a machine',
      load: async () => (await import('./connect/scp.ts')).scp,
    },
    {
      name: 'tunnel',
      usage: '<instance> [ports]',
      summary: 'Reach a port of a machine on this computer, through SSH',
      load: async () => (await import('./connect/tunnel.ts')).tunnel,
    },
    {
      name: 'ssh-config',
      summary: 'Make ssh, rsync and VS Code know the machines by name',
      load: async () => (await import('./connect/ssh-config.ts')).sshConfig,
    },
    {
      name: 'endpoints',
      usage: '<instance>',
      summary: 'Show the links and ports of a machine',
      load: async () => (await import('./connect/endpoints.ts')).endpoints,
    },
    {
      name: 'secrets',
      usage: '<instance> [key]',
      summary: 'Show the generated passwords and tokens of a machine',
      load: async () => (await import('./connect/secrets.ts')).secrets,
    },
    {
      name: 'open',
      usage: '<instance> [endpoint]',
      summary: 'Open an application of a machine in the browser',
      load: async () => (await import('./connect/open.ts')).open,
    },
    {
      name: 'recover',
      usage: '[name...]',
      summary: 'Settle requests whose answer was lost',
      load: async () => (await import('./recover.ts')).recover,
    },
    {
      name: 'track',
      usage: '<id...>',
      summary: 'Take machines into the list that this computer did not rent',
      load: async () => (await import('./track.ts')).track,
    },
    {
      name: 'untrack',
      usage: '<instance...>',
      summary: 'Take machines out of the list; this does not stop billing',
      load: async () => (await import('./untrack.ts')).untrack,
    },
  ],
  examples: [
    'gpucloud instances list',
    'gpucloud instances get trainer',
    'gpucloud instances create',
    'gpucloud instances reorder trainer trainer-2',
  ],
  undocumented: {
    reboot: RESTART,
    restart: RESTART,
    delete: 'the nearest is to end it: "gpucloud instances terminate NAME"',
    rename: 'a machine keeps its name; "gpucloud instances reorder" gives a new one a new name',
    resize: 'create a machine from another offer',
  },
};
