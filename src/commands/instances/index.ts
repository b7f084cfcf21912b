import type { Group, Verb } from '../../cli/group.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { endpoints, open } from './connect/endpoints.ts';
import { inventory } from './connect/inventory.ts';
import { secrets } from './connect/secrets.ts';
import { scp, ssh } from './connect/ssh.ts';
import { sshConfig } from './connect/ssh-config.ts';
import { tunnel } from './connect/tunnel.ts';
import { expire } from './deadlines/expire.ts';
import { reap } from './deadlines/reap.ts';
import { events } from './events.ts';
import { get } from './get.ts';
import { start, stop, terminate, wait } from './lifecycle.ts';
import { list } from './list.ts';
import { recover } from './recover.ts';
import { create } from './renting/create.ts';
import { reorder } from './renting/reorder.ts';
import { top } from './top.ts';
import { track } from './track.ts';
import { untrack } from './untrack.ts';

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
        load: async () => list,
      },
      {
        name: 'get',
        aliases: ['show'],
        usage: '<instance...>',
        summary: 'Show instances in detail',
        load: async () => get,
      },
      {
        name: 'create',
        usage: '[name]',
        summary: 'Rent an instance',
        load: async () => create,
      },
      {
        name: 'reorder',
        usage: '<instance> [new-name]',
        summary: 'Rent a terminated instance again',
        load: async () => reorder,
      },
      {
        name: 'start',
        usage: '<instance...>',
        summary: 'Start stopped instances',
        load: async () => start,
      },
      {
        name: 'stop',
        usage: '<instance...>',
        summary: 'Stop instances; their disks are kept',
        load: async () => stop,
      },
      {
        name: 'terminate',
        aliases: ['rm'],
        usage: '[instance...]',
        summary: 'Terminate instances; their disks are deleted',
        load: async () => terminate,
      },
      {
        name: 'events',
        usage: '<instance...>',
        summary: 'Show or follow the event log',
        load: async () => events,
      },
      {
        name: 'wait',
        usage: '<instance...>',
        summary: 'Wait until instances reach a status',
        load: async () => wait,
      },
    ]),
    ...under('Connect:', [
      {
        name: 'ssh',
        usage: '<instance> [command...]',
        summary: 'Open a shell, or run a command',
        load: async () => ssh,
      },
      {
        name: 'scp',
        usage: '<path...>',
        summary: 'Copy files to or from an instance',
        load: async () => scp,
      },
      {
        name: 'tunnel',
        usage: '<instance> [ports]',
        summary: 'Forward a port to this computer',
        load: async () => tunnel,
      },
      {
        name: 'ssh-config',
        summary: 'Let ssh, rsync and VS Code use instance names',
        load: async () => sshConfig,
      },
      {
        name: 'endpoints',
        usage: '<instance...>',
        summary: 'List URLs and ports',
        load: async () => endpoints,
      },
      {
        name: 'secrets',
        usage: '<instance> [key]',
        summary: 'Show generated passwords and tokens',
        load: async () => secrets,
      },
      {
        name: 'open',
        usage: '<instance> [endpoint]',
        summary: 'Open an application in the browser',
        load: async () => open,
      },
    ]),
    ...under('Use:', [
      {
        name: 'top',
        usage: '[instance...]',
        summary: 'Show GPU, CPU and memory use',
        load: async () => top,
      },
      {
        name: 'inventory',
        usage: '[instance...]',
        summary: 'Print hosts for Ansible, GNU parallel, MPI or ssh',
        load: async () => inventory,
      },
    ]),
    ...under('Deadlines:', [
      {
        name: 'expire',
        usage: '<instance...>',
        summary: 'Set or remove a deadline',
        load: async () => expire,
      },
      {
        name: 'reap',
        summary: 'Terminate instances past their deadline',
        load: async () => reap,
      },
    ]),
    ...under('Instances and requests on record:', [
      {
        name: 'recover',
        usage: '[name...]',
        summary: 'Resolve requests with an unknown outcome',
        load: async () => recover,
      },
      {
        name: 'track',
        usage: '<id...>',
        summary: 'Add instances rented elsewhere',
        load: async () => track,
      },
      {
        name: 'untrack',
        usage: '<instance...>',
        summary: 'Remove from the list; billing continues',
        load: async () => untrack,
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
