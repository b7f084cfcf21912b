import type { AnyCommand } from '../cli/command.ts';
import type { Frame } from '../cli/frame.ts';
import { describe } from '../cli/verb.ts';
import { connectionView, readConnections } from './connections.ts';

export function registerEndpoints(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: connectionView,
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
