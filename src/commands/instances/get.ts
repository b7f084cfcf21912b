import { action } from '../../cli/verb.ts';
import { findInstance } from '../../instances/resolve.ts';
import { isTerminated } from '../../rules/statuses.ts';
import { intervalOption, watchOption } from '../../watch/flags.ts';
import { instanceView } from './view.ts';

export const get = action({
  view: instanceView,
  examples: [
    'gpucloud instances get trainer',
    'gpucloud instances get trainer --json | jq -r .ip_address',
    'gpucloud instances get trainer --watch',
  ],
  takes: (command) =>
    command
      .argument('<instance>', 'id, beginning of an id, or name')
      .addOption(watchOption())
      .addOption(intervalOption()),
  async run(context, typed, flags) {
    const { id } = await findInstance(typed, context);
    const { instances } = await context.api();
    if (flags.watch !== true) return context.out.item(await instances.get(id), instanceView);
    const { watch } = await import('../../watch/watch.ts');
    await watch(
      {
        read: (options) => instances.get(id, options),
        show: (instance, out) => out.item(instance, instanceView),
        rows: (instance) => [instance],
        view: instanceView,
        one: true,
        // Nothing leaves TERMINATED (API document: Instance status).
        isOver: ({ status }) => isTerminated(status),
      },
      flags.interval,
      context,
    );
  },
});
