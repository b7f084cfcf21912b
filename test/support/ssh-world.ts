import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from './afterwards.ts';
import { type Instance, type InstanceService, startInstances } from './machines.ts';
import { type Computer, createComputer, type Outcome } from './program.ts';
import { makeKey, type Sshd, type SshdOptions, startSshd, USER } from './sshd.ts';

export const ID = '3f0c5d9e-1111-4222-8333-444455556666';
export const OTHER = '7a1b2c3d-1111-4222-8333-444455556666';

/** Keys and an SSH server that all tests of a file share. */
export interface SshSite {
  readonly folder: string;
  readonly hostKey: string;
  readonly otherHostKey: string;
  readonly clientKey: string;
  readonly sshd: Sshd;
  /** Starts another server with these options. */
  start(how?: Partial<SshdOptions>): Promise<Sshd>;
  close(): Promise<void>;
}

export async function createSshSite(): Promise<SshSite> {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-sshd-'));
  const hostKey = makeKey(folder, 'host');
  const otherHostKey = makeKey(folder, 'other-host');
  const clientKey = makeKey(folder, 'client');
  const start = (how: Partial<SshdOptions> = {}) =>
    startSshd({ folder, hostKey, clientKey: `${clientKey}.pub`, ...how });
  const sshd = await start();
  return {
    folder,
    hostKey,
    otherHostKey,
    clientKey,
    sshd,
    start,
    async close() {
      await sshd.stop();
      await removeFolder(folder);
    },
  };
}

/** A computer, and a service whose only instance, `box`, is the SSH server. */
export interface SshWorld {
  readonly computer: Computer;
  readonly service: InstanceService;
  /** Flags that exclude the user's own configuration and keys. */
  readonly own: readonly string[];
  /** Runs the built program against the service. */
  gpucloud(argv: readonly string[], stdin?: string): Promise<Outcome>;
  /** Runs `instances VERB` with {@link own} and the given words. */
  instances(verb: string, ...words: string[]): Promise<Outcome>;
}

export async function createSshWorld(site: SshSite): Promise<SshWorld> {
  const computer = await createComputer();
  const service = await startInstances([box(site.sshd.port)]);
  const own = ['--identity', site.clientKey, '--ssh-arg=-F/dev/null'];
  const gpucloud = (argv: readonly string[], stdin?: string) =>
    computer.gpucloud(argv, { env: service.env, ...(stdin === undefined ? {} : { stdin }) });
  return {
    computer,
    service,
    own,
    gpucloud,
    instances: (verb, ...words) => gpucloud(['instances', verb, ...own, ...words]),
  };
}

export function box(port: number, more: Partial<Instance> = {}): Instance {
  return {
    id: ID,
    name: 'box',
    status: 'ACTIVE',
    ip_address: '127.0.0.1',
    ssh_username: USER,
    ssh_port: port,
    ...more,
  };
}

export { until } from './until.ts';
