import { action } from '../../../cli/verb.ts';
import { parseCopy } from '../../../reach/copy.ts';
import { scpArgv } from '../../../reach/ssh-argv.ts';
import { commandView, printCommand } from './printed-command.ts';
import { howToReach, withSshFlags } from './ssh-flags.ts';

export const scp = action({
  notes:
    "A path on the machine is written INSTANCE:PATH, from the user's home there unless it begins\n" +
    'with a slash. The last path is where the others go. A file here whose name has a colon is\n' +
    'written with a slash before it: ./a:b. On the machine * and ? stand for names, as in a shell.',
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
        .argument('<path...>', 'paths here, or INSTANCE:PATH; the last is the target')
        .option('-r, --recursive', 'folders with all that is in them')
        .option('-p, --preserve', 'keep times and modes'),
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
