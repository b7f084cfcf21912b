import type { AnyCommand } from '../../cli/command.ts';
import { confirm } from '../../cli/confirm.ts';
import type { Frame } from '../../cli/frame.ts';
import { OR_STDIN, severalGiven } from '../../cli/several.ts';
import { describe } from '../../cli/verb.ts';
import { terminateQuestion } from '../../instances/before-terminate.ts';
import { pickMachines } from '../../instances/pick.ts';
import { pollIntervalOption, waitTimeoutOption } from '../../watch/waiting.ts';
import { changeEach } from './lifecycle.ts';
import { changedView } from './view.ts';

export function registerTerminate(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
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
  })
    .argument('[instance...]', `ids, beginnings of ids, or names${OR_STDIN}`)
    .option('--wait', 'wait until the machine is terminated')
    .addOption(waitTimeoutOption())
    .addOption(pollIntervalOption())
    .action(async (instances, { wait, waitTimeout, pollInterval }, command) => {
      const context = frame.context(command);
      const named =
        instances.length > 0
          ? await severalGiven('INSTANCE', instances, context)
          : await pickMachines('Which machines end?', context);
      await changeEach(
        named,
        {
          before: (targets) => confirm(context, () => terminateQuestion(targets, context)),
          ask: (api, id, options) => api.instances.terminate(id, options),
          done: 'terminated',
          goal: { verb: 'terminate', underway: 'TERMINATING', final: 'TERMINATED' },
          until: wait === true ? 'TERMINATED' : undefined,
          times: { timeout: waitTimeout, interval: pollInterval },
        },
        context,
      );
    });
}
