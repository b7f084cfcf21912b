import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { learnAccount } from '../../instances/account.ts';
import { readKnownMachines } from '../../instances/known-machines.ts';
import type { View } from '../../output/output.ts';
import {
  type HostEntry,
  hostBlock,
  hostEntries,
  isInstalled,
  removeHosts,
  type SshFiles,
  writeHosts,
} from '../../reach/host-file.ts';
import { filesOf, hostOwner, seenIn } from '../../reach/hosts.ts';
import {
  addInclude,
  includeLine,
  isIncluded,
  removeInclude,
  userConfig,
} from '../../reach/include.ts';

export function registerSshConfig(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: hostView,
    notes:
      'Every machine with an address gets the names gpucloud-NAME and gpucloud-ID. --install keeps them\n' +
      'in a file of gpucloud, which "instances list" keeps in step. ssh reads it once ~/.ssh/config has\n' +
      'one line more, which --include adds at its top; nothing else of it is ever changed.',
    examples: [
      'gpucloud instances ssh-config --install --include',
      'gpucloud instances ssh-config --print',
      'gpucloud instances ssh-config --uninstall',
    ],
  })
    .option('--install', 'write the file, and keep it from now on')
    .option('--include', 'the same, and add the Include line to ~/.ssh/config')
    .option('--uninstall', 'take both away again')
    .option('--print', 'print the configuration instead of a table')
    .action(({ install, include, uninstall, print }, command) =>
      sshConfig({ task: taskOf({ install, include, uninstall, print }) }, frame.context(command)),
    );
}

type Task = 'show' | 'print' | 'install' | 'include' | 'uninstall';

export interface SshConfigInput {
  readonly task: Task;
}

/** `--install --include` is what people write; other pairs contradict each other. */
function taskOf(flags: Readonly<Partial<Record<Task, true | undefined>>>): Task {
  const given = (['print', 'install', 'include', 'uninstall'] as const).filter(
    (task) => flags[task] === true && !(task === 'install' && flags.include === true),
  );
  const [task, other] = given;
  if (task !== undefined && other !== undefined) {
    throw usageError(`--${task} and --${other} can't be asked for at once`);
  }
  return task ?? 'show';
}

export const hostView: View<HostEntry> = {
  columns: [
    { id: 'host', header: 'HOST', value: ({ hosts }) => hosts[0] },
    { id: 'hostname', header: 'ADDRESS', value: ({ way }) => way.host },
    { id: 'port', header: 'PORT', value: ({ way }) => way.port },
    { id: 'user', header: 'USER', value: ({ way }) => way.user },
    { id: 'id', header: 'ID', value: ({ way }) => way.id, hidden: true },
  ],
  id: ({ hosts }) => hosts[0] ?? null,
  empty: 'No machine has an address.',
  json: ({ hosts, way }) => ({
    host: hosts[0],
    hosts,
    id: way.id,
    hostname: way.host,
    port: way.port,
    user: way.user,
  }),
};

export async function sshConfig({ task }: SshConfigInput, context: Context): Promise<void> {
  const files = await filesOf(context);
  if (task === 'uninstall') {
    await uninstall(files, context);
    return;
  }
  const api = await context.api();
  await learnAccount(api, context);
  const known = await readKnownMachines(
    { all: false, drives: api.drives.list(), now: context.clock.now() },
    api,
    context,
  );
  const [fault] = known.faults;
  if (fault !== undefined && known.faults.length === known.asked) throw fault;
  if (fault !== undefined) {
    context.err.warn(
      `${known.faults.length} of ${known.asked} machines could not be read: ${fault.message}`,
    );
  }
  const seen = seenIn(known.rows);
  const entries = hostEntries(seen);
  if (task === 'print' && context.out.format === 'table') {
    await context.out.text(entries.map((entry) => hostBlock(entry, files.knownHosts)).join('\n'));
    return;
  }
  if (task === 'install' || task === 'include' || isInstalled(files)) {
    await writeHosts(files, await hostOwner(context), seen);
  }
  await context.out.list(entries, hostView);
  await tellState(task, entries, files, context);
}

async function tellState(
  task: Task,
  [first]: readonly HostEntry[],
  files: SshFiles,
  context: Context,
): Promise<void> {
  if (!isInstalled(files)) {
    context.err.note('ssh does not know these names yet: gpucloud instances ssh-config --include');
    return;
  }
  const config = configOf(context);
  if (task === 'include') {
    const added = await addInclude(config, files.hosts);
    context.err.note(
      added
        ? `Added to the top of ${config}: ${includeLine(files.hosts)}`
        : `${config} has the line already.`,
    );
  } else if (!(await isIncluded(config, files.hosts))) {
    context.err.note(
      `Written to ${files.hosts}. For ssh to read it, put this line at the top of ${config}, or let --include do it:`,
    );
    context.err.note(`  ${includeLine(files.hosts)}`);
    return;
  }
  if (first !== undefined) context.err.note(`Enter one: ssh ${first.hosts[0]}`);
}

async function uninstall(files: SshFiles, context: Context): Promise<void> {
  const config = configOf(context);
  const was = isInstalled(files);
  // The line first: without the file it would be harmless, and the file without it is.
  const removed = await removeInclude(config, files.hosts);
  removeHosts(files);
  context.err.note(
    was || removed
      ? `Taken away: ${[...(removed ? [`the line in ${config}`] : []), ...(was ? [files.hosts] : [])].join(' and ')}. Host keys are kept.`
      : 'Nothing was installed.',
  );
  if (context.out.format !== 'table') await context.out.list([], hostView);
}

function configOf({ host }: Context): string {
  if (host.home === undefined) {
    throw new CliError('storage', "There is no home folder, so no place for ssh's configuration.", {
      hint: 'set HOME to an absolute path',
    });
  }
  return userConfig(host.home);
}
