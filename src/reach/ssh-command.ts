import type { Instance } from '../api/index.ts';
import { knownWay } from './way.ts';

/**
 * The plain command that enters a machine, to be read by a person or used where gpucloud is not. It
 * is only given when nothing in it could become an option or a word of the shell.
 */
export function sshCommand(instance: Instance): string | undefined {
  const way = knownWay({ ...instance, ssh_port: instance.ssh_port ?? 22 });
  if (way === undefined) {
    return undefined;
  }
  const { user, host, port } = way;
  return port === 22 ? `ssh ${user}@${host}` : `ssh -p ${port} ${user}@${host}`;
}
