import { OR_STDIN } from '../../../command-line/input.ts';
import { oneOf } from '../../../command-line/parse.ts';
import { forEach } from '../../../command-line/several.ts';
import { verb } from '../../../command-line/verb.ts';
import type { Context } from '../../../context.ts';
import { type CliError, throwAll, usageError } from '../../../errors.ts';
import { asUserOfJob } from '../../../jobs/verbs/sign-in-of.ts';
import type { InventoryRow } from '../../../json-results/instances.ts';
import type { View } from '../../../output/output.ts';
import { hasSsh } from '../../../rules/statuses.ts';
import {
  gpusOf,
  INVENTORY_FORMATS,
  type InventoryFormat,
  type InventoryHost,
  inventoryText,
} from '../../../ssh/hosts/inventory.ts';
import { type HostEntry, hostEntries, readEntries } from '../../../ssh/hosts/ssh-config.ts';
import { type HowToReach, inventoryHosts, reach } from '../../../ssh/reach.ts';
import { signInFinder } from '../../../ssh/sign-in.ts';
import { howToReach, withSignInFlags } from '../../../ssh/ssh-flags.ts';

const inventoryView: View<InventoryHost> = {
  columns: [
    { id: 'name', header: 'NAME', value: ({ name }) => name },
    { id: 'hostname', header: 'ADDRESS', value: ({ endpoint }) => endpoint.host },
    { id: 'port', header: 'PORT', value: ({ endpoint }) => endpoint.port },
    { id: 'user', header: 'USER', value: ({ endpoint }) => endpoint.user },
    { id: 'gpus', header: 'GPUS', value: gpusOf },
    { id: 'offer', header: 'OFFER', value: ({ instance }) => instance.offer?.name },
    { id: 'host', header: 'HOST', value: ({ hosts }) => hosts[0], hidden: true },
    { id: 'id', header: 'ID', value: ({ endpoint }) => endpoint.id, hidden: true },
  ],
  id: ({ name }) => name,
  empty: 'No known instance is running.',
  json: ({ name, hosts, endpoint, instance }): InventoryRow => ({
    name,
    id: endpoint.id,
    host: hosts[0] ?? '',
    hostname: endpoint.host,
    port: endpoint.port,
    user: endpoint.user,
    gpus: gpusOf({ instance }),
    offer: instance.offer?.name ?? null,
  }),
};

export const inventory = verb({
  summary: 'Print hosts for Ansible, GNU parallel, MPI or ssh',
  tool: { allow: 'read' },
  view: inventoryView,
  notes:
    'Prints instances in the format of another program: Ansible (YAML), GNU parallel ' +
    '(--sshloginfile), MPI (a hostfile) or ssh (a configuration). Uses the sign-in and host keys of ' +
    '"instances ssh". Without INSTANCE, lists every known running instance.\n\n' +
    'The Ansible group "gpucloud" contains one group per offer. GNU parallel and MPI get one slot ' +
    'per GPU. Before using host names with MPI, run "instances ssh-config --install".',
  examples: [
    'gpucloud instances inventory > gpus.yaml',
    'gpucloud instances inventory --format parallel > gpus.slf',
    'gpucloud instances inventory a100-1 a100-2 --format hostfile > hosts',
    'gpucloud instances inventory --format ssh-config --identity ~/.ssh/work',
  ],
  completes: { '--user': 'nothing' },
  takes: (command) =>
    withSignInFlags(
      command
        .argument('[instance...]', `names or IDs${OR_STDIN}`)
        .option(
          '--format <format>',
          `what to write: ${INVENTORY_FORMATS.join(', ')} (default: ansible)`,
          oneOf('--format', INVENTORY_FORMATS),
        ),
    ),
  run: async (context, typed, { format = 'ansible', ...flags }) => {
    const { out } = context;
    const how = await howToReach(flags, context);
    ensureWritable(format, how);
    const { entries, failed } = await entriesOf(typed, format, how, context);
    const find = signInFinder(how, context, asUserOfJob(context));
    const hosts = await inventoryHosts(entries, find, context);
    const isText = out.format === 'table' && context.flags.columns === undefined;
    if (isText && hosts.length > 0) await out.text(await inventoryText(format, hosts));
    else if (hosts.length > 0 || failed.length === 0) await out.list(hosts, inventoryView);
    throwAll(failed);
  },
});

/** Refuses sign-in flags without a field in the format. */
function ensureWritable(format: InventoryFormat, { identity, user, options, words }: HowToReach) {
  const isAny = identity !== undefined || user !== undefined || options.length > 0;
  if (format === 'hostfile' && (isAny || words.length > 0)) {
    throw usageError(
      "--format hostfile contains only host names and can't be used with sign-in flags",
      'use --format ssh-config',
    );
  }
  if (format === 'ssh-config' && words.length > 0) {
    throw usageError("--ssh-arg can't be used with --format ssh-config", 'use --ssh-option');
  }
}

/** Returns the named instances, or all known instances if none is named. */
async function entriesOf(
  typed: readonly string[],
  format: InventoryFormat,
  how: HowToReach,
  context: Context,
): Promise<{ entries: HostEntry[]; failed: readonly CliError[] }> {
  const { user } = how;
  if (typed.length === 0) {
    const entries = await readEntries(context, user);
    // Omits stopped instances, since a program would wait for them. ssh-config includes them for
    // later use.
    const isNow = ({ instance }: HostEntry) => format === 'ssh-config' || hasSsh(instance.status);
    return { entries: entries.filter(isNow), failed: [] };
  }
  const read = async (text: string) => (await reach(text, how, context)).instance;
  const { done, failed } = await forEach('INSTANCE', typed, read, context);
  // Merges a name and an ID of the same instance.
  const each = new Map(done.map((instance) => [instance.id, instance]));
  return { entries: hostEntries([...each.values()], user), failed };
}
