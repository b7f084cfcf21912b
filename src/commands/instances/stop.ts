import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { OR_STDIN, severalGiven } from '../../cli/several.ts';
import { describe } from '../../cli/verb.ts';
import { pollIntervalOption, waitTimeoutOption } from '../../watch/waiting.ts';
import { changeEach } from './lifecycle.ts';
import { changedView } from './view.ts';

export function registerStop(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: changedView,
    notes:
      'A stopped machine keeps its disk, and the published API does not say what that costs:\n' +
      'to be sure to stop paying, terminate it. One that is stopped already is no error.',
    examples: [
      'gpucloud instances stop trainer',
      'gpucloud instances stop trainer lab --wait',
      'gpucloud instances list -q | gpucloud instances stop -',
    ],
  })
    .argument('<instance...>', `ids, beginnings of ids, or names${OR_STDIN}`)
    .option('--wait', 'wait until the machine is stopped')
    .addOption(waitTimeoutOption())
    .addOption(pollIntervalOption())
    .action(async (instances, { wait, waitTimeout, pollInterval }, command) => {
      const context = frame.context(command);
      await changeEach(
        await severalGiven('INSTANCE', instances, context),
        {
          ask: (api, id, options) => api.instances.stop(id, options),
          done: 'stopped',
          goal: { verb: 'stop', underway: 'STOPPING', final: 'STOPPED' },
          until: wait === true ? 'STOPPED' : undefined,
          times: { timeout: waitTimeout, interval: pollInterval },
        },
        context,
      );
    });
}
