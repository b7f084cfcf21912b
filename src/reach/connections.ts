import type { Instance } from '../api/index.ts';
import { type Endpoint, endpointsOf } from '../commands/instances/endpoints.ts';
import type { Context } from '../context.ts';
import { findMachine } from '../instances/resolve.ts';
import { templateOf } from '../instances/template-of.ts';
import type { View } from '../output/output.ts';

/** An endpoint with the secrets that its link may carry, so that they can be masked in it. */
export interface Connection extends Endpoint {
  readonly secrets: unknown;
}

export interface Connections {
  readonly instance: Instance;
  readonly connections: readonly Connection[];
}

export const connectionView: View<Connection> = {
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

/** Reads a machine afresh, and what can be connected to on it. */
export async function readConnections(typed: string, context: Context): Promise<Connections> {
  const { id } = await findMachine(typed, context);
  const instance = await (await context.api()).instances.get(id);
  return { instance, connections: await connectionsOf(instance, context) };
}

/** What can be connected to on a machine that was read; its template is asked for where it must be. */
export async function connectionsOf(
  instance: Instance,
  context: Context,
): Promise<readonly Connection[]> {
  const told = endpointsOf(instance);
  const endpoints =
    told.some(({ source }) => source === 'service') || instance.application_template == null
      ? told
      : endpointsOf(instance, await templateOf(instance, await context.api()));
  const secrets = instance.connection_info?.secrets;
  return endpoints.map((endpoint) => ({ ...endpoint, secrets }));
}
