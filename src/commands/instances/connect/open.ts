import { action } from '../../../cli/verb.ts';
import type { Context } from '../../../context.ts';
import { CliError } from '../../../errors.ts';
import { findInstance } from '../../../instances/resolve.ts';
import { field, type View } from '../../../output/output.ts';
import { openInBrowser } from '../../../reach/browser.ts';
import { type Connection, connectionsOf, mainOf } from '../../../reach/endpoints.ts';
import { noteNowhere, sandboxPage } from '../../../reach/sandbox-proxy.ts';

interface Link {
  readonly name: string;
  readonly url: string;
}

const linkView: View<Link> = {
  columns: [field('name', 'NAME'), field('url', 'LINK')],
  id: (link) => link.url,
  empty: 'No link.',
};

export const open = action({
  notes:
    'Opens the main endpoint unless ENDPOINT is given. Off a terminal, prints the link with ' +
    'its secrets instead.',
  completes: { endpoint: 'nothing' },
  examples: ['gpucloud instances open lab', 'gpucloud instances open lab jupyter'],
  takes: (command) =>
    command
      .argument('<instance>', 'name or ID')
      .argument('[endpoint]', 'endpoint name')
      .option('--print', 'print the link instead of opening it'),
  run: async (context, typed, endpoint, { print }) => {
    const { id } = await findInstance(typed, context);
    const instance = await (await context.api()).instances.get(id);
    const connections = await connectionsOf(instance, context);
    const { name, url, address, port } = choose(connections, typed, endpoint);
    if (url === null) {
      throw new CliError(
        'notFound',
        `${name}: the service returned no link, only ${address ?? 'nothing'}.`,
        { resource: instance.id, hint: `gpucloud instances endpoints ${typed}` },
      );
    }
    if (context.out.format !== 'table') return context.out.item({ name, url }, linkView);
    if (print || !context.out.terminal) return printLink(url, typed, context);
    const page = await sandboxPage(id, port, context);
    const problem = await openInBrowser(url, context, page);
    if (problem === undefined) return context.err.note(`Opened ${name} in the browser.`);
    context.err.note(`${problem} ${page === undefined ? 'Open this link' : 'The link'}:`);
    return printLink(url, typed, context);
  },
});

async function printLink(url: string, instance: string, context: Context): Promise<void> {
  await context.out.text(`${url}\n`);
  await noteNowhere(context, `To see the page: gpucloud instances tunnel ${instance}`);
}

function choose(
  connections: readonly Connection[],
  instance: string,
  endpoint: string | undefined,
): Connection {
  const chosen =
    endpoint === undefined
      ? mainOf(connections.filter(({ url }) => url !== null))
      : connections.find(({ name }) => name === endpoint);
  if (chosen !== undefined) return chosen;
  const names = connections.map(({ name }) => name).join(', ');
  throw new CliError(
    'notFound',
    endpoint === undefined
      ? `${instance} has no main endpoint.`
      : `ENDPOINT "${endpoint}": ${instance} has no endpoint with that name.`,
    {
      resource: instance,
      hint:
        names === '' ? `gpucloud instances get ${instance}` : `use one of its endpoints: ${names}`,
    },
  );
}
