import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { faultOf } from '../../files/error-code.ts';
import { inThrowawayFolder } from '../../files/throwaway-folder.ts';
import { type InventoryFormat, inventoryText } from '../../reach/hosts/inventory.ts';
import { hostEntries } from '../../reach/hosts/ssh-config.ts';
import { type HowToReach, inventoryHosts } from '../../reach/reach.ts';

/** The file of each format, and the variable that names it. Ansible reads the ending. */
const FILES: Readonly<Record<InventoryFormat, readonly [variable: string, file: string]>> = {
  ansible: ['GPUCLOUD_ANSIBLE_INVENTORY', 'ansible.yaml'],
  parallel: ['GPUCLOUD_SSHLOGINFILE', 'sshlogins'],
  hostfile: ['GPUCLOUD_HOSTFILE', 'hostfile'],
  'ssh-config': ['GPUCLOUD_SSH_CONFIG', 'ssh_config'],
};

export const INVENTORY_VARIABLES = Object.values(FILES).map(([variable]) => variable);

/**
 * Does work with inventories of the instances, as `instances inventory` prints them, in a private folder
 * that ends with it. They name key files, and have no secrets. `work` gets the variables that name them.
 */
export function withInventories<T>(
  instances: readonly Instance[],
  how: HowToReach,
  context: Context,
  work: (variables: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  return inThrowawayFolder('gpucloud-here', async (folder) => {
    const hosts = await inventoryHosts(hostEntries(instances, how.user), how, context);
    const variables: Record<string, string> = {};
    for (const [format, [variable, file]] of Object.entries(FILES)) {
      const path = join(folder, file);
      const text = await inventoryText(format as InventoryFormat, hosts);
      await writeFile(path, text, { mode: 0o600 }).catch((cause: unknown) => {
        throw new CliError('storage', `Could not write ${path} (${faultOf(cause)}).`, { cause });
      });
      variables[variable] = path;
    }
    return work(variables);
  });
}
