import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { verb } from '../kit/verb.ts';
import { connectionView, readConnections } from './connections.ts';

export function registerEndpoints(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'endpoints',
    view: connectionView,
    summary: 'Show the links and ports of a machine',
    notes:
      "Links come from the service, or from the link patterns of the machine's template with address,\n" +
      'port and secrets put in. Secrets in links are masked; --show-secrets shows them.',
    examples: [
      'gpucloud instances endpoints lab',
      "gpucloud instances endpoints lab --show-secrets --json | jq -r '.[] | select(.is_main).url'",
    ],
  })
    .argument('<instance>', 'id, beginning of an id, or name')
    .action(async (instance, _flags, command) => {
      const context = frame.context(command);
      const { connections } = await readConnections(instance, context);
      await context.out.list(connections, connectionView);
    });
}
