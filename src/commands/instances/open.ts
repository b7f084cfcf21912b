import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { View } from '../../output/output.ts';
import { openInBrowser } from '../../reach/browser.ts';
import { type Connection, readConnections } from '../../reach/connections.ts';

export function registerOpen(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes:
      'Without ENDPOINT the main one, or the only one. Off a terminal the link is printed instead,\n' +
      'with its secrets, since that is what was asked for.',
    completes: { endpoint: 'endpoint' },
    examples: ['gpucloud instances open lab', 'gpucloud instances open lab jupyter'],
    ends: ['deadline'],
  })
    .argument('<instance>', 'id, beginning of an id, or name')
    .argument('[endpoint]', 'the name of an endpoint')
    .option('--print', 'print the link even in a terminal')
    .action((instance, endpoint, { print }, command) =>
      open({ instance, endpoint, print: print === true }, frame.context(command)),
    );
}

export interface OpenInput {
  readonly instance: string;
  readonly endpoint: string | undefined;
  readonly print: boolean;
}

export async function open(input: OpenInput, context: Context): Promise<void> {
  const { instance, connections } = await readConnections(input.instance, context);
  const chosen = choose(connections, input);
  if (chosen.url === null) {
    throw new CliError(
      'notFound',
      `${chosen.name}: the service gives no link, only ${chosen.address ?? 'nothing'}.`,
      { resource: instance.id, hint: `gpucloud instances endpoints ${instance.id}` },
    );
  }
  if (context.out.format !== 'table') {
    await context.out.item({ name: chosen.name, url: chosen.url }, linkView);
    return;
  }
  if (input.print || !context.out.terminal) {
    await context.out.value(chosen.url);
    return;
  }
  await openInBrowser(chosen.url, context);
  context.err.note(`Opened ${chosen.name} in the browser. To print the link: --print`);
}

interface Link {
  readonly name: string;
  readonly url: string;
}

const linkView: View<Link> = {
  columns: [
    { id: 'name', header: 'NAME', value: (link) => link.name },
    { id: 'url', header: 'LINK', value: (link) => link.url },
  ],
  id: (link) => link.url,
  empty: 'There is no link.',
};

function choose(connections: readonly Connection[], { instance, endpoint }: OpenInput): Connection {
  const links = connections.filter((connection) => connection.url !== null);
  const chosen =
    endpoint === undefined
      ? (links.find((connection) => connection.is_main) ??
        (links.length === 1 ? links[0] : undefined))
      : connections.find((connection) => connection.name === endpoint);
  if (chosen !== undefined) {
    return chosen;
  }
  const names = connections.map(({ name }) => name).join(', ');
  const hint =
    names === '' ? `gpucloud instances get ${instance}` : `name one of its endpoints: ${names}`;
  throw endpoint === undefined
    ? new CliError('notFound', `${instance} has no endpoint that is the one to open.`, {
        resource: instance,
        hint,
      })
    : new CliError('notFound', `ENDPOINT "${endpoint}": ${instance} has none of that name.`, {
        resource: instance,
        hint,
      });
}
