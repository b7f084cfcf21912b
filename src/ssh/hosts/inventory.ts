import { loadYaml } from '../../output/formats/yaml.ts';
import { shellLine } from '../../output/shell-line.ts';
import { type SshOptions, shared } from '../ssh-argv.ts';
import { type HostEntry, hostBlock } from './ssh-config.ts';

export const INVENTORY_FORMATS = ['ansible', 'parallel', 'hostfile', 'ssh-config'] as const;
export type InventoryFormat = (typeof INVENTORY_FORMATS)[number];

/** An instance, and how to sign in to it. */
export interface InventoryHost extends HostEntry {
  readonly ssh: SshOptions;
}

/** Formats the hosts for another program. */
export async function inventoryText(
  format: InventoryFormat,
  hosts: readonly InventoryHost[],
): Promise<string> {
  switch (format) {
    case 'ansible':
      return ansible(hosts);
    case 'parallel':
      return hosts.map(sshLogin).join('');
    case 'hostfile':
      return hosts.map((host) => `${mpiName(host)} slots=${gpusOf(host)}\n`).join('');
    case 'ssh-config':
      return hosts.map((host) => hostBlock(host, host.ssh)).join('\n');
  }
}

/** Returns the number of cards in the offer, at least 1. */
export function gpusOf({ instance: { offer } }: Pick<HostEntry, 'instance'>): number {
  const count = Number(offer?.gpu_count);
  return Number.isSafeInteger(count) ? Math.max(1, count) : 1;
}

/**
 * GNU parallel runs everything before the last space as the ssh command. Uses the host name, since
 * an IPv6 address would need brackets. `Host gpucloud-*` in the user's configuration then also
 * applies.
 */
function sshLogin(host: InventoryHost): string {
  const { endpoint, ssh, hosts } = host;
  const { host: address, port, user } = endpoint;
  const words = [...shared(endpoint, ssh), '-o', `HostName=${address}`, '-p', String(port)];
  return `${gpusOf(host)}/${shellLine(['ssh', ...words, '-l', user, hosts[0] ?? endpoint.id])}\n`;
}

/** Returns a host name without dots: Open MPI truncates a host name at its first dot. */
function mpiName({ hosts, endpoint }: HostEntry): string {
  return hosts.find((name) => !name.includes('.')) ?? endpoint.id;
}

/** Group names that Ansible reserves. */
const RESERVED = ['all', 'ungrouped', 'localhost', 'gpucloud'];

/** Puts the hosts of each offer in a group, within the group `gpucloud`. */
async function ansible(hosts: readonly InventoryHost[]): Promise<string> {
  const groups = new Map<string, { offer: string; hosts: Record<string, object> }>();
  const ungrouped: Record<string, object> = {};
  for (const one of hosts) {
    const { name, endpoint, instance } = one;
    const isName = !RESERVED.includes(name) && !name.startsWith('offer_');
    const key = isName ? name : endpoint.id;
    const { offer } = instance;
    if (offer?.id == null) {
      ungrouped[key] = ansibleVars(one);
      continue;
    }
    const short = groupName(offer.name ?? offer.id);
    const isTaken = (groups.get(short)?.offer ?? offer.id) !== offer.id;
    const group = isTaken ? groupName(`${offer.name} ${offer.id}`) : short;
    const found = groups.get(group) ?? { offer: offer.id, hosts: {} };
    found.hosts[key] = ansibleVars(one);
    groups.set(group, found);
  }
  const children = Object.fromEntries(
    [...groups].map(([name, { hosts: members }]) => [name, { hosts: members }]),
  );
  const yaml = await loadYaml();
  return yaml({
    gpucloud: {
      ...(Object.keys(children).length === 0 ? {} : { children }),
      ...(Object.keys(ungrouped).length === 0 ? {} : { hosts: ungrouped }),
    },
  });
}

/**
 * Keeps only letters, digits and "_": Ansible reads any other character as part of an expression.
 */
function groupName(text: string): string {
  const plain = text.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  return `offer_${plain.replace(/^_|_$/g, '')}`;
}

/** Only ssh gets `--ssh-arg`: Ansible also copies files with scp and sftp. */
function ansibleVars({ endpoint, ssh, instance }: InventoryHost): Record<string, unknown> {
  return {
    ansible_host: endpoint.host,
    ansible_port: endpoint.port,
    ansible_user: endpoint.user,
    ansible_ssh_common_args: shellLine(shared(endpoint, { ...ssh, words: [] })),
    ...(ssh.words.length === 0 ? {} : { ansible_ssh_extra_args: shellLine(ssh.words) }),
    gpucloud_id: endpoint.id,
    gpucloud_gpus: gpusOf({ instance }),
  };
}
