import { OR_STDIN } from '../../../command-line/input.ts';
import { forEach, onlyTyped, showDone } from '../../../command-line/several.ts';
import { verb } from '../../../command-line/verb.ts';
import type { Context } from '../../../context.ts';
import { CliError } from '../../../errors.ts';
import { instanceIn, readInstance } from '../../../instances/read.ts';
import { findInstance, instanceFinder } from '../../../instances/resolve.ts';
import type { Link } from '../../../json-results/instances.ts';
import { mask } from '../../../output/index.ts';
import { type Column, field, type View } from '../../../output/output.ts';
import { gpucloud } from '../../../output/shell-line.ts';
import { openInBrowser } from '../../../ssh/browser.ts';
import { type Connection, connectionsOf, mainOf, namedEndpoint } from '../../../ssh/endpoints.ts';
import { noteNowhere, sandboxPage } from '../../../ssh/sandbox-proxy.ts';

const INSTANCE: Column<Connection> = {
  id: 'instance',
  header: 'INSTANCE',
  value: (c) => c.instance_name,
};

const connectionView: View<Connection> = {
  columns: [
    { ...INSTANCE, hidden: true },
    field('name', 'NAME'),
    field('url', 'LINK', { whole: true }),
    field('address', 'ADDRESS', { whole: true }),
    field('protocol', 'PROTOCOL'),
    field('is_main', 'MAIN', { kind: 'yes' }),
    field('port', 'PORT', { hidden: true }),
    field('source', 'SOURCE', { hidden: true }),
    field('instance_id', 'INSTANCE ID', { hidden: true }),
  ],
  id: (c) => c.name,
  empty: 'The service returned no endpoints for this instance.',
  secrets: ['secrets'],
  json: ({ secrets: _secrets, instance_name: _name, ...endpoint }) => endpoint,
};

const ofSeveral: View<Connection> = {
  ...connectionView,
  columns: [INSTANCE, ...connectionView.columns.slice(1)],
};

export const endpoints = verb({
  summary: 'List URLs and ports',
  tool: { allow: 'read' },
  view: connectionView,
  notes:
    'Links come from the service, or from the instance template. Masks secrets in links unless ' +
    '--show-secrets is given.',
  examples: [
    'gpucloud instances endpoints lab',
    "gpucloud instances endpoints lab --show-secrets --json | jq -r '.[0].url'",
    'gpucloud instances list -q | gpucloud instances endpoints -',
  ],
  takes: (command) => command.argument('<instance...>', `names or IDs${OR_STDIN}`),
  async run(context, typed) {
    const find = instanceFinder(context);
    const api = await context.api();
    let hasAddress = false;
    let isMasked = false;
    const read = async (text: string) => {
      const instance = instanceIn(await readInstance((await find(text)).id, api));
      hasAddress ||= instance.ip_address != null;
      const connections = await connectionsOf(instance, context);
      isMasked ||=
        context.flags.showSecrets !== true &&
        connections.some((one) => mask(one, ['secrets'], false).url !== one.url);
      return connections;
    };
    const only = onlyTyped(typed);
    if (only === undefined) {
      const { done, failed } = await forEach('INSTANCE', typed, read, context);
      await showDone({ done: done.flat(), failed }, ofSeveral, context);
    } else {
      await context.out.list(await read(only), connectionView);
    }
    if (isMasked && context.out.people) {
      context.err.note(
        `Secrets in links are masked: --show-secrets shows them, ${gpucloud('instances', 'open')} opens a link.`,
      );
    }
    if (hasAddress) await noteNowhere(context);
  },
});

const linkView: View<Link> = {
  columns: [field('name', 'NAME'), field('url', 'LINK', { whole: true })],
  id: (link) => link.url,
  empty: 'No link.',
};

export const open = verb({
  summary: 'Open an application in the browser',
  notes:
    'Opens the main endpoint unless ENDPOINT is given. If stdout is not a terminal, prints the ' +
    'link with its secrets instead.',
  completes: { endpoint: 'nothing' },
  examples: ['gpucloud instances open lab', 'gpucloud instances open lab JupyterLab'],
  takes: (command) =>
    command
      .argument('<instance>', 'name or ID')
      .argument('[endpoint]', 'endpoint name')
      .option('--print', 'print the link instead of opening it'),
  run: async (context, typed, endpoint, { print }) => {
    const { id } = await findInstance(typed, context);
    const instance = instanceIn(await readInstance(id, await context.api()));
    const connections = await connectionsOf(instance, context);
    const { name, url, address, port } = choose(connections, typed, endpoint);
    if (url === null) {
      const what = address === null ? 'neither a link nor an address' : `no link, only ${address}`;
      throw new CliError('notFound', `${name}: the service returned ${what}.`, {
        resource: instance.id,
        hint: gpucloud('instances', 'endpoints', typed),
      });
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
  await noteNowhere(context, `To see the page: ${gpucloud('instances', 'tunnel', instance)}`);
}

function choose(
  connections: readonly Connection[],
  instance: string,
  endpoint: string | undefined,
): Connection {
  const chosen =
    endpoint === undefined
      ? mainOf(connections.filter(({ url }) => url !== null))
      : namedEndpoint(endpoint, connections);
  if (chosen !== undefined) return chosen;
  const names = connections.map(({ name }) => name).join(', ');
  const toPort = gpucloud('instances', 'tunnel', instance, 'PORT');
  throw new CliError(
    'notFound',
    endpoint === undefined
      ? `${instance} has no main endpoint.`
      : `ENDPOINT "${endpoint}": ${instance} has no endpoint with that name.`,
    {
      resource: instance,
      hint:
        names === ''
          ? `reach a port that its programs listen on: ${toPort}`
          : `use an endpoint of the instance: ${names}`,
    },
  );
}
