import { verb } from '../../../command-line/verb.ts';
import type { Context } from '../../../context.ts';
import { usageError } from '../../../errors.ts';
import { instancesBefore } from '../../../instances/match.ts';
import { asUserOfJob } from '../../../jobs/verbs/sign-in-of.ts';
import { gpucloud, shellLine } from '../../../output/shell-line.ts';
import { spanText } from '../../../output/time.ts';
import { parseCopy } from '../../../ssh/copy.ts';
import { reach } from '../../../ssh/reach.ts';
import { runSsh } from '../../../ssh/run-ssh.ts';
import { scpArgv, sshArgv } from '../../../ssh/ssh-argv.ts';
import { howToReach, withSshFlags } from '../../../ssh/ssh-flags.ts';
import { commandView, printCommand } from './printed-command.ts';

export const ssh = verb({
  summary: 'Open a shell, or run a command',
  notes:
    'Runs your ssh with your keys and configuration. Everything after INSTANCE, or after --, ' +
    'runs on the instance. gpucloud exits with the exit code of that command.\n\n' +
    'Stores host keys per instance ID: accepts a reused IP address, but rejects a changed key of ' +
    'the same instance.',
  // Passes on flags after the remote command, even if gpucloud has the same flags.
  ownWords: 1,
  view: commandView(shellLine),
  examples: [
    'gpucloud instances ssh trainer',
    'gpucloud instances ssh trainer -- nvidia-smi',
    'gpucloud instances ssh trainer --wait -- python train.py --epochs 3',
    'gpucloud instances ssh trainer --identity ~/.ssh/work --ssh-arg=-A',
  ],
  completes: { command: 'nothing', '--user': 'nothing' },
  passesOn: 'ssh',
  takes: (command) =>
    withSshFlags(
      command
        .argument('<instance>', 'name or ID')
        .argument('[command...]', 'command to run instead of a shell')
        .option('-t, --tty', 'allocate a terminal, for a command such as top'),
    ),
  run: async (context, instance, command, { tty = false, print, ...flags }) => {
    await refuseSeveral(instance, command, flags.identity, context);
    const how = await howToReach(flags, context);
    const reached = await reach(instance, how, context, { earlier: asUserOfJob(context) });
    const argv = sshArgv(reached.endpoint, reached.ssh, { command, tty });
    if (print) return printCommand(argv, context);
    const { host, user } = reached.endpoint;
    if (command.length === 0 && context.out.terminal)
      context.err.note(`Connecting to ${user}@${host}…`);
    await runSsh(argv, reached, context);
  },
});

/** Refuses `A B -- COMMAND`, which would run `B -- COMMAND` on A alone. */
async function refuseSeveral(
  first: string,
  words: readonly string[],
  identity: string | undefined,
  context: Context,
): Promise<void> {
  if (words.indexOf('--') < 1) return;
  const { instances } = await (await context.journal()).read({ archived: true });
  const others = instancesBefore(words, instances);
  if (others.length === 0) return;
  const names = [first, ...others];
  const key = identity === undefined ? [] : ['--identity', identity];
  const list = gpucloud('instances', 'inventory', ...names, ...key, '--format', 'parallel');
  const command = shellLine(words.slice(others.length + 1));
  throw usageError(
    `ssh takes one instance, and got ${names.length}: ${names.join(', ')}. Nothing ran.`,
    `run it on each with GNU parallel:\n  ${list} > hosts.slf && parallel --sshloginfile hosts.slf --nonall ${command}`,
  );
}

const MINUTE = 60_000;

/** Prints a line per minute, since scp shows its progress only in a terminal. */
async function withMinutes(
  what: string,
  work: () => Promise<void>,
  { clock, err, out }: Context,
): Promise<void> {
  if (out.terminal) return work();
  const over = new AbortController();
  const begun = clock.monotonic();
  const tick = async () => {
    for (;;) {
      await clock.sleep(MINUTE, over.signal);
      err.note(`${what}, ${spanText((clock.monotonic() - begun) / 1000)} so far`);
    }
  };
  // The end of the copy ends the sleep.
  const ticking = tick().catch(() => undefined);
  try {
    await work();
  } finally {
    over.abort();
    await ticking;
  }
}

export const scp = verb({
  summary: 'Copy files to or from an instance',
  notes:
    'Write a path on the instance as INSTANCE:PATH, relative to the home folder unless it ' +
    'starts with a slash. Write a local file with a colon in its name as ./a:b. On the ' +
    'instance, * and ? match file names.',
  view: commandView(shellLine),
  examples: [
    'gpucloud instances scp train.py trainer:',
    'gpucloud instances scp -r trainer:/workspace/results ./results',
    "gpucloud instances scp 'trainer:checkpoints/*.pt' trainer:log.txt .",
  ],
  completes: { path: 'path', '--user': 'nothing' },
  passesOn: 'scp',
  takes: (command) =>
    withSshFlags(
      command
        .argument('<path...>', 'local paths or INSTANCE:PATH; the last is the target')
        .option('-r, --recursive', 'copy folders and their contents')
        .option('-p, --preserve', 'keep modification times and modes'),
    ),
  run: async (context, paths, { recursive = false, preserve = false, print, ...flags }) => {
    const copy = parseCopy(paths, context.host.platform);
    const how = await howToReach(flags, context);
    const reached = await reach(copy.instance, how, context, { earlier: asUserOfJob(context) });
    const argv = scpArgv(reached.endpoint, reached.ssh, { ...copy, recursive, preserve });
    if (print) return printCommand(argv, context);
    const what = `Copying ${copy.sources.join(', ')} ${copy.from === 'here' ? 'to' : 'from'} ${reached.target.name}`;
    await withMinutes(what, () => runSsh(argv, reached, context), context);
  },
});
