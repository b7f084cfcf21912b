import type { Api, CallOptions, Instance } from '../../api/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { findMachine } from '../../instances/resolve.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { intervalOption, watchOption } from '../../watch/flags.ts';
import { watch } from '../../watch/watch.ts';
import { instanceView } from './view.ts';

export function registerGet(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: instanceView,
    examples: [
      'gpucloud instances get trainer',
      'gpucloud instances get trainer --json | jq -r .ip_address',
      'gpucloud instances get trainer --watch',
    ],
  })
    .argument('<instance>', 'id, beginning of an id, or name')
    .addOption(watchOption())
    .addOption(intervalOption())
    .action((instance, flags, command) => {
      const context = frame.context(command);
      return flags.watch === true
        ? watchOne(instance, flags.interval, context)
        : get(instance, context);
    });
}

export async function get(typed: string, context: Context): Promise<void> {
  const { id } = await findMachine(typed, context);
  await context.out.item(await read(id, await context.api(), context), instanceView);
}

/** Ends by itself with the machine: nothing leaves TERMINATED (API document: Instance status). */
async function watchOne(typed: string, interval: number, context: Context): Promise<void> {
  const { id } = await findMachine(typed, context);
  const api = await context.api();
  await watch(
    {
      read: (options) => read(id, api, context, options),
      show: (instance, out) => out.item(instance, instanceView),
      rows: (instance) => [instance],
      view: instanceView,
      one: true,
      isOver: ({ status }) => isTerminated(status),
    },
    interval,
    context,
  );
}

async function read(
  id: string,
  api: Api,
  context: Context,
  options: CallOptions = {},
): Promise<Instance> {
  return api.instances.get(id, options);
}
