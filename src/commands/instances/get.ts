import type { CallOptions } from '../../api/index.ts';
import { OR_STDIN } from '../../command-line/input.ts';
import { onlyTyped, printEach } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import { usageError } from '../../errors.ts';
import { idleTime } from '../../instances/deadlines/idle-time.ts';
import { rescueFields } from '../../instances/deadlines/rescued.ts';
import { warnUnenforced } from '../../instances/deadlines/unenforced.ts';
import { instanceIn, readInstance } from '../../instances/read.ts';
import { instanceFinder } from '../../instances/resolve.ts';
import { exactCosts } from '../../jobs/end/cost.ts';
import { costEstimate } from '../../money/by-instance.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { isTerminated, mayBill } from '../../rules/statuses.ts';
import { noteNowhere } from '../../ssh/sandbox-proxy.ts';
import { intervalOption, watchOption } from '../../watch/flags.ts';
import { watch } from '../../watch/watch.ts';
import { instanceView } from './view.ts';

export const get = verb({
  aliases: ['show'],
  summary: 'Show instances in detail',
  tool: { allow: 'read' },
  view: instanceView,
  examples: [
    'gpucloud instances get trainer',
    'gpucloud instances get trainer --json | jq -r .ip_address',
    'gpucloud instances get trainer --watch',
    'gpucloud instances list -q | gpucloud instances get - --json',
  ],
  takes: (command) =>
    command
      .argument('<instance...>', `names or IDs${OR_STDIN}`)
      .addOption(watchOption())
      .addOption(intervalOption()),
  async run(context, typed, flags) {
    const find = instanceFinder(context);
    const api = await context.api();
    let hasAddress = false;
    let hasDeadline = false;
    const work = async (text: string, options?: CallOptions) => {
      const { id, ends_at, idle, copies, wasStopped = false } = await find(text);
      const instance = instanceIn(await readInstance(id, api, options));
      hasAddress ||= instance.ip_address != null;
      hasDeadline ||= ends_at !== undefined && mayBill(instance.status);
      const now = context.serviceClock.now();
      const ends = { ...idleTime(idle, now), ...rescueFields(copies) };
      const stopped = wasStopped ? { was_stopped: true } : {};
      const shown = { ...instance, ends_at: ends_at ?? null, ...ends, ...stopped };
      const row = { ...shown, name: instance.name ?? id, unread: false };
      const exact = await exactCosts([row], context);
      return { ...shown, ...costEstimate(row, now, exact) };
    };
    if (flags.watch !== true) {
      await printEach('INSTANCE', typed, { work, view: instanceView }, context);
      if (hasAddress) await noteNowhere(context);
      if (hasDeadline && context.out.people) {
        await warnUnenforced(['deadline'], await context.journal(), context);
      }
      return;
    }
    const only = onlyTyped(typed);
    if (only === undefined) {
      throw usageError('--watch shows one instance', gpucloud('instances', 'list', '--watch'));
    }
    const { id } = await find(only);
    await watch(
      {
        read: (options) => work(id, options),
        show: (instance, out) => out.item(instance, instanceView),
        rows: (instance) => [instance],
        view: instanceView,
        one: true,
        // TERMINATED is final (API document: Instance status).
        isOver: ({ status }) => isTerminated(status),
      },
      flags.interval,
      context,
    );
  },
});
