import { action } from '../../../cli/verb.ts';
import { sshArgv } from '../../../reach/ssh-argv.ts';
import { commandView, printCommand } from './printed-command.ts';
import { howToReach, withSshFlags } from './ssh-flags.ts';

export const ssh = action({
  notes:
    "It is the system's own ssh, with the user's keys and configuration. What follows --, or else\n" +
    'everything from the first word after INSTANCE on, goes to the machine, whose shell reads it; its\n' +
    'exit code is passed on. Host keys are kept apart, by the id of the machine: an address that\n' +
    'belonged to another machine before is no alarm, and another key of the same machine is refused.',
  // Flags of the remote command that are called like ours belong to it.
  ownWords: 1,
  view: commandView((words) => words.join(' ')),
  examples: [
    'gpucloud instances ssh trainer',
    'gpucloud instances ssh trainer -- nvidia-smi',
    'gpucloud instances ssh trainer --wait --identity ~/.ssh/work -- python train.py --epochs 3',
    'gpucloud instances ssh trainer --ssh-arg=-A --ssh-option ServerAliveInterval=30',
  ],
  completes: { command: 'nothing', '--user': 'nothing' },
  passesOn: 'ssh',
  takes: (command) =>
    withSshFlags(
      command
        .argument('<instance>', 'id, beginning of an id, or name')
        .argument('[command...]', 'what is run there instead of a shell')
        .option('-t, --tty', 'a terminal for the command too, as for top or a debugger'),
    ),
  run: async (context, instance, command, { tty = false, print, ...flags }) => {
    const { reach } = await import('../../../reach/reach.ts');
    const reached = await reach(instance, await howToReach(flags, context), context);
    const argv = sshArgv(reached.endpoint, reached.ssh, { command, tty });
    if (print) return printCommand(argv, context);
    const { runSsh } = await import('../../../reach/run-ssh.ts');
    await runSsh(argv, reached, context);
  },
});
