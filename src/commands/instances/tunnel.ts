import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { tunnelArgv } from '../../reach/argv.ts';
import { printCommand } from '../../reach/print-command.ts';
import { type ReachInput, reachInput, reachOptions } from '../../reach/reach-flags.ts';
import { pollIntervalOption, waitTimeoutOption } from '../../watch/flags.ts';
import { tunnelView } from './tunnel-view.ts';

export function registerTunnel(verb: AnyCommand, frame: Frame): void {
  const { user, port, identity, sshOption, sshArg } = reachOptions();
  describe(verb, {
    view: tunnelView,
    notes:
      'PORTS is [LOCAL:]REMOTE, where REMOTE is a port of the machine or the name of an endpoint; left\n' +
      'out, it is the main endpoint. LOCAL is the same number where that is free, and another where it\n' +
      'is not; 0 takes any. The tunnel listens on 127.0.0.1 alone, is opened again when the connection\n' +
      'is lost, and ends with Ctrl-C. Tokens in a link are masked; --show-secrets shows them.',
    examples: [
      'gpucloud instances tunnel lab',
      'gpucloud instances tunnel lab jupyter --open',
      'gpucloud instances tunnel trainer 6006',
      'gpucloud instances tunnel trainer 9000:8080 --json',
    ],
    completes: { ports: 'endpoint', '--user': 'nothing' },
    ends: ['deadline'],
  })
    .argument('<instance>', 'id, beginning of an id, or name')
    .argument('[ports]', '[LOCAL:]REMOTE')
    .option('--open', 'open it in the browser, as http where the service gives no link')
    .option('--no-reconnect', 'end when the connection is lost')
    .addOption(identity)
    .addOption(user)
    .addOption(port)
    .addOption(sshOption)
    .addOption(sshArg)
    .option('--wait', 'wait until the machine answers, however new it is')
    .addOption(waitTimeoutOption())
    .addOption(pollIntervalOption())
    .option('--print', 'print the command that would be run, and run nothing')
    .action((instance, ports, flags, place) =>
      tunnel(
        {
          instance,
          ports,
          open: flags.open === true,
          reconnect: flags.reconnect,
          print: flags.print === true,
          ...reachInput(flags),
        },
        frame.context(place),
      ),
    );
}

export interface TunnelInput extends ReachInput {
  readonly instance: string;
  readonly ports: string | undefined;
  readonly open: boolean;
  readonly reconnect: boolean;
  readonly print: boolean;
}

export async function tunnel(input: TunnelInput, context: Context): Promise<void> {
  const { localPort, parsePorts, remoteEnd, tunnelOf } = await import(
    '../../reach/tunnel-ports.ts'
  );
  const wanted = parsePorts(input.ports);
  if (input.open && input.print) {
    throw usageError("--open and --print can't be asked for at once");
  }
  const { reach, refuseDocumentation } = await import('../../reach/reach.ts');
  const reached = await reach(input.instance, input, context);
  const remote = await remoteEnd(wanted.remote, reached, context);
  const local = await localPort(wanted.local, remote, context);
  if (input.print) {
    await printCommand(
      tunnelArgv(reached.way, reached.manner, { local, remote: remote.port }),
      context,
    );
    return;
  }
  refuseDocumentation(reached);
  const { holdTunnel } = await import('../../reach/tunnel-held.ts');
  await holdTunnel(tunnelOf(reached, remote, local), reached, input, context);
}
