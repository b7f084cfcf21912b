import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { verb } from '../../../command-line/verb.ts';
import type { Context } from '../../../context.ts';
import { CliError } from '../../../errors.ts';
import { asUserOfJob } from '../../../jobs/verbs/sign-in-of.ts';
import type { SshHost } from '../../../json-results/instances.ts';
import type { View } from '../../../output/output.ts';
import { inventoryText } from '../../../ssh/hosts/inventory.ts';
import {
  addInclude,
  ensureAccepted,
  ensureIncludable,
  type HostEntry,
  hostsFile,
  readEntries,
  withoutTaken,
  writeHosts,
} from '../../../ssh/hosts/ssh-config.ts';
import { inventoryHosts } from '../../../ssh/reach.ts';
import { signInFinder } from '../../../ssh/sign-in.ts';
import { howToReach } from '../../../ssh/ssh-flags.ts';

const hostView: View<HostEntry> = {
  columns: [
    { id: 'host', header: 'HOST', value: ({ hosts }) => hosts[0] },
    { id: 'hostname', header: 'ADDRESS', value: ({ endpoint }) => endpoint.host },
    { id: 'port', header: 'PORT', value: ({ endpoint }) => endpoint.port },
    { id: 'user', header: 'USER', value: ({ endpoint }) => endpoint.user },
    { id: 'id', header: 'ID', value: ({ endpoint }) => endpoint.id, hidden: true },
  ],
  id: ({ hosts }) => hosts[0] ?? null,
  empty: 'No instance has an address.',
  json: ({ hosts, endpoint }): SshHost => ({
    host: hosts[0] ?? '',
    hosts: [...hosts],
    id: endpoint.id,
    hostname: endpoint.host,
    port: endpoint.port,
    user: endpoint.user,
  }),
};

export const sshConfig = verb({
  summary: 'Let ssh, rsync and VS Code use instance names',
  view: hostView,
  notes:
    'Prints an ssh configuration with the hosts gpucloud-NAME and gpucloud-ID. --install ' +
    'writes it to a separate file and adds one Include line to ~/.ssh/config. Run --install ' +
    'again after you rent or terminate instances.',
  examples: [
    'gpucloud instances ssh-config --install',
    'gpucloud instances ssh-config',
    'gpucloud instances ssh-config --json',
  ],
  takes: (command) =>
    command.option('--install', 'write the configuration to a file that ~/.ssh/config includes'),
  run: async (context, { install }) => {
    const { out, err, flags } = context;
    if (install) await ensureIncludable(context);
    const find = signInFinder(await howToReach({}, context), context, asUserOfJob(context));
    const read = await readEntries(context);
    const named = install ? await withoutTaken(read, context) : read;
    const entries = await inventoryHosts(named, find, context);
    const text = await inventoryText('ssh-config', entries);
    const isText = out.format === 'table' && flags.columns === undefined && !install;
    if (install) await installHosts(text, context);
    if (!isText || entries.length === 0) await out.list(entries, hostView);
    else await out.text(text);
    const [first] = entries;
    if (install && first !== undefined) err.note(`Connect: ssh ${first.hosts[0]}`);
  },
});

async function installHosts(text: string, context: Context): Promise<void> {
  const { home } = context.host;
  if (home === undefined) {
    throw new CliError('storage', 'Could not install the ssh configuration: no home folder.', {
      hint: 'set HOME to an absolute path',
    });
  }
  const file = await hostsFile(context);
  // Removes the file of an earlier run, since no host is left.
  if (text === '') return rm(file.path, { force: true });
  await writeHosts(file, text);
  await ensureAccepted(file, context);
  const config = join(home, '.ssh', 'config');
  const isAdded = await addInclude(config, file.include);
  context.err.note(`Wrote ${file.path}.`);
  if (isAdded) context.err.note(`Added to the top of ${config}: ${file.include}`);
}
