import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { sshArgv } from '../../reach/argv.ts';
import { commandView, printCommand } from '../../reach/print-command.ts';
import { type ReachInput, reachInput, reachOptions } from '../../reach/reach-flags.ts';
import { pollIntervalOption, waitTimeoutOption } from '../../watch/flags.ts';

export function registerSsh(verb: AnyCommand, frame: Frame): void {
  const { user, port, identity, sshOption, sshArg } = reachOptions();
  describe(verb, {
    notes:
      "It is the system's own ssh, with the user's keys and configuration. What follows --, or else\n" +
      'everything from the first word after INSTANCE on, goes to the machine, whose shell reads it; its\n' +
      'exit code is passed on. Host keys are kept apart, by the id of the machine: an address that\n' +
      'belonged to another machine before is no alarm, and another key of the same machine is refused.',
    // The words of the remote command are its own, flags that are called like ours included.
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
  })
    .argument('<instance>', 'id, beginning of an id, or name')
    .argument('[command...]', 'what is run there instead of a shell')
    .option('-t, --tty', 'a terminal for the command too, as for top or a debugger')
    .addOption(identity)
    .addOption(user)
    .addOption(port)
    .addOption(sshOption)
    .addOption(sshArg)
    .option('--wait', 'wait until the machine answers, however new it is')
    .addOption(waitTimeoutOption())
    .addOption(pollIntervalOption())
    .option('--print', 'print the command that would be run, and run nothing')
    .action((instance, command, flags, place) =>
      ssh(
        {
          instance,
          command,
          tty: flags.tty === true,
          print: flags.print === true,
          ...reachInput(flags),
        },
        frame.context(place),
      ),
    );
}

export interface SshInput extends ReachInput {
  readonly instance: string;
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly print: boolean;
}

export async function ssh(input: SshInput, context: Context): Promise<void> {
  const [{ reach }, { runProgram }] = await Promise.all([
    import('../../reach/reach.ts'),
    import('../../reach/program.ts'),
  ]);
  const reached = await reach(input.instance, input, context);
  const argv = sshArgv(reached.way, reached.manner, input);
  await (input.print ? printCommand(argv, context) : runProgram(argv, reached, context));
}
