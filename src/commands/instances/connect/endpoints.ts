import { action } from '../../../cli/verb.ts';
import type { View } from '../../../output/output.ts';
import { type Connection, readConnections } from '../../../reach/endpoints.ts';

const connectionView: View<Connection> = {
  columns: [
    { id: 'name', header: 'NAME', value: (c) => c.name },
    { id: 'url', header: 'LINK', value: (c) => c.url },
    { id: 'address', header: 'ADDRESS', value: (c) => c.address },
    { id: 'protocol', header: 'PROTOCOL', value: (c) => c.protocol },
    { id: 'is_main', header: 'MAIN', kind: 'yes', value: (c) => c.is_main },
    { id: 'port', header: 'PORT', value: (c) => c.port, hidden: true },
    { id: 'source', header: 'SOURCE', value: (c) => c.source, hidden: true },
  ],
  id: (c) => c.name,
  empty: 'The service tells no endpoints for this machine.',
  secrets: ['secrets'],
  json: ({ secrets: _secrets, ...endpoint }) => endpoint,
};

export const endpoints = action({
  view: connectionView,
  notes:
    "Links come from the service, or from the link patterns of the machine's template with address,\n" +
    'port and secrets put in. Secrets in links are masked; --show-secrets shows them.',
  examples: [
    'gpucloud instances endpoints lab',
    "gpucloud instances endpoints lab --show-secrets --json | jq -r '.[] | select(.is_main).url'",
  ],
  takes: (command) => command.argument('<instance>', 'id, beginning of an id, or name'),
  run: async (context, instance) => {
    const { connections } = await readConnections(instance, context);
    await context.out.list(connections, connectionView);
  },
});
