import type { Group, Verb } from '../../cli/group.ts';
import { gpucloud } from '../../output/shell-line.ts';

const RESTART = `use "${gpucloud('instances', 'stop', 'NAME', '--wait')}", then "${gpucloud('instances', 'start', 'NAME')}"`;

function under(heading: string, verbs: readonly Verb[]): readonly Verb[] {
  return verbs.map((verb) => ({ ...verb, heading }));
}

export const instances: Group = {
  verbs: [
    ...under('Lifecycle:', [
      {
        name: 'list',
        aliases: ['ls'],
        summary: 'List instances known to this computer',
        load: async () => (await import('./list.ts')).list,
      },
      {
        name: 'get',
        aliases: ['show'],
        usage: '<instance...>',
        summary: 'Show instances in detail',
        load: async () => (await import('./get.ts')).get,
      },
      {
        name: 'create',
        usage: '[name]',
        summary: 'Rent an instance',
        load: async () => (await import('./renting/create.ts')).create,
      },
      {
        name: 'reorder',
        usage: '<instance> [new-name]',
        summary: 'Rent a terminated instance again',
        load: async () => (await import('./renting/reorder.ts')).reorder,
      },
      {
        name: 'start',
        usage: '<instance...>',
        summary: 'Start stopped instances',
        load: async () => (await import('./lifecycle.ts')).start,
      },
      {
        name: 'stop',
        usage: '<instance...>',
        summary: 'Stop instances; their disks are kept',
        load: async () => (await import('./lifecycle.ts')).stop,
      },
      {
        name: 'terminate',
        aliases: ['rm'],
        usage: '[instance...]',
        summary: 'Terminate instances; their disks are deleted',
        load: async () => (await import('./lifecycle.ts')).terminate,
      },
      {
        name: 'events',
        usage: '<instance...>',
        summary: 'Show or follow the event log',
        load: async () => (await import('./events.ts')).events,
      },
      {
        name: 'wait',
        usage: '<instance...>',
        summary: 'Wait until instances reach a status',
        load: async () => (await import('./lifecycle.ts')).wait,
      },
    ]),
    ...under('Connect:', [
      {
        name: 'ssh',
        usage: '<instance> [command...]',
        summary: 'Open a shell, or run a command',
        load: async () => (await import('./connect/ssh.ts')).ssh,
      },
      {
        name: 'scp',
        usage: '<path...>',
        summary: 'Copy files to or from an instance',
        load: async () => (await import('./connect/ssh.ts')).scp,
      },
      {
        name: 'tunnel',
        usage: '<instance> [ports]',
        summary: 'Forward a port to this computer',
        load: async () => (await import('./connect/tunnel.ts')).tunnel,
      },
      {
        name: 'ssh-config',
        summary: 'Let ssh, rsync and VS Code use instance names',
        load: async () => (await import('./connect/ssh-config.ts')).sshConfig,
      },
      {
        name: 'endpoints',
        usage: '<instance...>',
        summary: 'List URLs and ports',
        load: async () => (await import('./connect/endpoints.ts')).endpoints,
      },
      {
        name: 'secrets',
        usage: '<instance> [key]',
        summary: 'Show generated passwords and tokens',
        load: async () => (await import('./connect/secrets.ts')).secrets,
      },
      {
        name: 'open',
        usage: '<instance> [endpoint]',
        summary: 'Open an application in the browser',
        load: async () => (await import('./connect/endpoints.ts')).open,
      },
    ]),
    ...under('Use:', [
      {
        name: 'top',
        usage: '[instance...]',
        summary: 'Show GPU, CPU and memory use',
        load: async () => (await import('./top.ts')).top,
      },
      {
        name: 'inventory',
        usage: '[instance...]',
        summary: 'Print hosts for Ansible, GNU parallel, MPI or ssh',
        load: async () => (await import('./connect/inventory.ts')).inventory,
      },
    ]),
    ...under('Deadlines:', [
      {
        name: 'expire',
        usage: '<instance...>',
        summary: 'Set or remove a deadline',
        load: async () => (await import('./deadlines/expire.ts')).expire,
      },
      {
        name: 'reap',
        summary: 'Terminate instances past their deadline',
        load: async () => (await import('./deadlines/reap.ts')).reap,
      },
    ]),
    ...under('Instances and requests on record:', [
      {
        name: 'recover',
        usage: '[name...]',
        summary: 'Resolve requests with an unknown outcome',
        load: async () => (await import('./recover.ts')).recover,
      },
      {
        name: 'track',
        usage: '<id...>',
        summary: 'Add instances rented elsewhere',
        load: async () => (await import('./track.ts')).track,
      },
      {
        name: 'untrack',
        usage: '<instance...>',
        summary: 'Remove from the list; billing continues',
        load: async () => (await import('./untrack.ts')).untrack,
      },
    ]),
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
    delete: `use "${gpucloud('instances', 'terminate', 'NAME')}"`,
    rename: `"${gpucloud('instances', 'reorder')}" rents it again under a new name`,
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
