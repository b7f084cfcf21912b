import type { Group } from '../../command-line/group.ts';
import { endpoints, open } from './connect/endpoints.ts';
import { inventory } from './connect/inventory.ts';
import { secrets } from './connect/secrets.ts';
import { scp, ssh } from './connect/ssh.ts';
import { sshConfig } from './connect/ssh-config.ts';
import { tunnel } from './connect/tunnel.ts';
import { expire } from './deadlines/expire.ts';
import { reap } from './deadlines/reap.ts';
import { rescue } from './deadlines/rescue.ts';
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

export const instances: Group = {
  chapters: {
    'Lifecycle:': {
      list: () => list,
      get: () => get,
      create: () => create,
      reorder: () => reorder,
      start: () => start,
      stop: () => stop,
      terminate: () => terminate,
      events: () => events,
      wait: () => wait,
    },
    'Connect:': {
      ssh: () => ssh,
      scp: () => scp,
      tunnel: () => tunnel,
      'ssh-config': () => sshConfig,
      endpoints: () => endpoints,
      secrets: () => secrets,
      open: () => open,
    },
    'Use:': {
      top: () => top,
      inventory: () => inventory,
    },
    'Deadlines:': {
      expire: () => expire,
      reap: () => reap,
      rescue: () => rescue,
    },
    'Instances and requests on record:': {
      recover: () => recover,
      track: () => track,
      untrack: () => untrack,
    },
  },
  examples: [
    'gpucloud instances create',
    'gpucloud instances list',
    'gpucloud instances ssh trainer',
    'gpucloud instances terminate trainer',
  ],
};
