import type { Instance } from '../../api/index.ts';

/**
 * The command that enters a machine, to be copied by a person. It is only given when nothing in it
 * could become an option or a word of the shell, whatever the service sent.
 */
export function sshCommand(instance: Instance): string | undefined {
  const { ip_address: address, ssh_username: user, ssh_port: port } = instance;
  if (address == null || !/^[0-9A-Za-z][0-9A-Za-z.:-]*$/.test(address)) {
    return undefined;
  }
  if (user == null || !/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(user)) {
    return undefined;
  }
  const known = Number.isInteger(port) ? port : 22;
  return known === 22 ? `ssh ${user}@${address}` : `ssh -p ${known} ${user}@${address}`;
}
