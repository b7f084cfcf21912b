import { confirm } from '../../cli/confirm.ts';
import { OR_STDIN, severalGiven } from '../../cli/several.ts';
import { action } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { type Change, changeEach } from '../../instances/change.ts';
import { pickMachines } from '../../instances/pick.ts';
import { reservationNote, terminateQuestion } from '../../instances/preflight.ts';
import {
  pollIntervalOption,
  statusFor,
  waitStartedOption,
  waitTimeoutOption,
} from '../../watch/flags.ts';
import { changedView } from './view.ts';

const INSTANCES = `ids, beginnings of ids, or names${OR_STDIN}`;

export const start = action({
  view: changedView,
  notes:
    'The service reserves the price of the next hour at once; how much that is, is told before.',
  examples: ['gpucloud instances start trainer --wait', 'gpucloud instances start trainer lab'],
  takes: (command) =>
    command
      .argument('<instance...>', INSTANCES)
      .addOption(waitStartedOption())
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  run: async (context, typed, { wait, ...times }) =>
    change(
      { verb: 'start', done: 'started', before: reservationNote },
      await severalGiven('INSTANCE', typed, context),
      { until: statusFor(wait), ...times },
      context,
    ),
});

export const stop = action({
  view: changedView,
  notes:
    'A stopped machine keeps its disk, and the published API does not say what that costs:\n' +
    'to be sure to stop paying, terminate it. One that is stopped already is no error.',
  examples: [
    'gpucloud instances stop trainer',
    'gpucloud instances stop trainer lab --wait',
    'gpucloud instances list -q | gpucloud instances stop -',
  ],
  takes: (command) =>
    command
      .argument('<instance...>', INSTANCES)
      .option('--wait', 'wait until the machine is stopped')
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  run: async (context, typed, { wait, ...times }) =>
    change(
      { verb: 'stop', done: 'stopped', goal: 'STOPPED' },
      await severalGiven('INSTANCE', typed, context),
      { until: wait === true ? 'STOPPED' : undefined, ...times },
      context,
    ),
});

export const terminate = action({
  view: changedView,
  notes:
    'Billing stops, and what is left of the reserved hour comes back to the balance. Before it asks,\n' +
    'each machine is told with its price, its age and about what comes back. A cloud drive that was\n' +
    'attached is kept. One that is terminated already is no error, so that it can be repeated. In a\n' +
    'terminal, without INSTANCE, the machines known here are offered.',
  examples: [
    'gpucloud instances terminate trainer',
    'gpucloud instances terminate trainer lab --yes --wait',
    'gpucloud instances list -q | gpucloud instances terminate - --yes',
  ],
  takes: (command) =>
    command
      .argument('[instance...]', INSTANCES)
      .option('--wait', 'wait until the machine is terminated')
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  run: async (context, typed, { wait, ...times }) =>
    change(
      {
        verb: 'terminate',
        done: 'terminated',
        goal: 'TERMINATED',
        before: (targets) => confirm(context, () => terminateQuestion(targets, context)),
      },
      typed.length > 0
        ? await severalGiven('INSTANCE', typed, context)
        : await pickMachines('Which machines end?', context),
      { until: wait === true ? 'TERMINATED' : undefined, ...times },
      context,
    ),
});

async function change(
  what: Change,
  instances: readonly string[],
  wait: { until: string | undefined; waitTimeout: number; pollInterval: number },
  context: Context,
): Promise<void> {
  const { until, waitTimeout: timeout, pollInterval: interval } = wait;
  const waiting = { until, times: { timeout, interval } };
  const { changed, failure } = await changeEach(what, instances, waiting, context);
  if (changed.length > 0 || context.out.format !== 'table') {
    await context.out.list(changed, changedView);
  }
  if (failure !== undefined) throw failure;
}
