import { action } from '../../../cli/verb.ts';
import { parseCopy } from '../../../reach/copy.ts';
import { scpArgv } from '../../../reach/ssh-argv.ts';
import { howToReach, withSshFlags } from '../../../reach/ssh-flags.ts';
import { commandView, printCommand } from './printed-command.ts';

export const scp = action({
  notes:
    'Write a path on the instance as INSTANCE:PATH, relative to the home folder unless it ' +
    'starts with a slash. Write a local file with a colon in its name as ./a:b. On the ' +
    'instance, * and ? match file names.',
  view: commandView((words) => words.join(' ')),
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
    const { reach } = await import('../../../reach/reach.ts');
    const reached = await reach(copy.instance, await howToReach(flags, context), context);
    const argv = scpArgv(reached.endpoint, reached.ssh, { ...copy, recursive, preserve });
    if (print) return printCommand(argv, context);
    const { runSsh } = await import('../../../reach/run-ssh.ts');
    await runSsh(argv, reached, context);
  },
});
