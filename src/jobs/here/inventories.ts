import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { type InventoryFormat, inventoryText } from '../../ssh/hosts/inventory.ts';
import { hostEntries } from '../../ssh/hosts/ssh-config.ts';
import { type HowToReach, inventoryHosts } from '../../ssh/reach.ts';
import { signInFinder } from '../../ssh/sign-in.ts';
import { faultOf } from '../../system/error-code.ts';

/** Each format's file name, and the variable with its path. Ansible needs the file extension. */
const FILES: Readonly<Record<InventoryFormat, readonly [variable: string, file: string]>> = {
  ansible: ['GPUCLOUD_ANSIBLE_INVENTORY', 'ansible.yaml'],
  parallel: ['GPUCLOUD_SSHLOGINFILE', 'sshlogins'],
  hostfile: ['GPUCLOUD_HOSTFILE', 'hostfile'],
  'ssh-config': ['GPUCLOUD_SSH_CONFIG', 'ssh_config'],
};

/** The variables that `--here` sets. */
export const HERE_VARIABLES: readonly string[] = Object.values(FILES).map(([variable]) => variable);

/**
 * Writes inventories of the instances, as `instances inventory` prints them, into a private folder.
 * They contain paths of key files, but no secrets. Returns the variables with the paths of the
 * inventories.
 */
export async function writeInventories(
  folder: string,
  instances: readonly Instance[],
  how: HowToReach,
  context: Context,
): Promise<Readonly<Record<string, string>>> {
  const find = signInFinder(how, context);
  const hosts = await inventoryHosts(hostEntries(instances, how.user), find, context);
  const variables: Record<string, string> = {};
  for (const [format, [variable, file]] of Object.entries(FILES)) {
    const path = join(folder, file);
    const text = await inventoryText(format as InventoryFormat, hosts);
    await writeFile(path, text).catch((cause: unknown) => {
      throw new CliError('storage', `Could not write ${path} (${faultOf(cause)}).`, { cause });
    });
    variables[variable] = path;
  }
  return variables;
}
