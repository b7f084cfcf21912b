import { OR_STDIN } from '../../../cli/input.ts';
import { forEach, onlyTyped, showDone } from '../../../cli/several.ts';
import { action } from '../../../cli/verb.ts';
import { instanceFinder } from '../../../instances/resolve.ts';
import { type Column, field, type View } from '../../../output/output.ts';
import { type Connection, connectionsOf } from '../../../reach/endpoints.ts';
import { noteNowhere } from '../../../reach/sandbox-proxy.ts';

const INSTANCE: Column<Connection> = {
  id: 'instance',
  header: 'INSTANCE',
  value: (c) => c.instance_name,
};

const connectionView: View<Connection> = {
  columns: [
    { ...INSTANCE, hidden: true },
    field('name', 'NAME'),
    field('url', 'LINK'),
    field('address', 'ADDRESS'),
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

/** With several instances, each row shows its instance. */
const ofSeveral: View<Connection> = {
  ...connectionView,
  columns: [INSTANCE, ...connectionView.columns.slice(1)],
};

export const endpoints = action({
  view: connectionView,
  notes:
    'Links come from the service, or from the template of the instance. Secrets in links ' +
    'are masked; --show-secrets shows them.',
  examples: [
    'gpucloud instances endpoints lab',
    "gpucloud instances endpoints lab --show-secrets --json | jq -r '.[0].url'",
    'gpucloud instances list -q | gpucloud instances endpoints -',
  ],
  takes: (command) => command.argument('<instance...>', `names or IDs${OR_STDIN}`),
  async run(context, typed) {
    const find = instanceFinder(context);
    const { instances } = await context.api();
    const read = async (text: string) =>
      connectionsOf(await instances.get((await find(text)).id), context);
    const only = onlyTyped(typed);
    if (only === undefined) {
      const { done, failed } = await forEach('INSTANCE', typed, read, context);
      await showDone({ done: done.flat(), failed }, ofSeveral, context);
    } else {
      await context.out.list(await read(only), connectionView);
    }
    await noteNowhere(context);
  },
});
