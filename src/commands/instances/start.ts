import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { OR_STDIN, severalGiven } from '../../cli/several.ts';
import { describe } from '../../cli/verb.ts';
import { tellStart } from '../../instances/before-start.ts';
import {
  pollIntervalOption,
  statusFor,
  waitStartedOption,
  waitTimeoutOption,
} from '../../watch/waiting.ts';
import { changeEach } from './lifecycle.ts';
import { changedView } from './view.ts';

export function registerStart(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: changedView,
    notes:
      'The service reserves the price of the next hour at once; how much that is, is told before.',
    examples: ['gpucloud instances start trainer --wait', 'gpucloud instances start trainer lab'],
  })
    .argument('<instance...>', `ids, beginnings of ids, or names${OR_STDIN}`)
    .addOption(waitStartedOption())
    .addOption(waitTimeoutOption())
    .addOption(pollIntervalOption())
    .action(async (instances, { wait, waitTimeout, pollInterval }, command) => {
      const context = frame.context(command);
      await changeEach(
        await severalGiven('INSTANCE', instances, context),
        {
          before: (targets) => tellStart(targets, context),
          // A start may bill once it has left, so the first Ctrl-C waits for its answer.
          ask: (api, id, options) =>
            api.instances.start(id, { ...options, signal: context.interrupts.second }),
          done: 'started',
          until: statusFor(wait),
          times: { timeout: waitTimeout, interval: pollInterval },
        },
        context,
      );
    });
}
