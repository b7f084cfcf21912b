import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { checked } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { maxPriceOption, rentWithin } from '../../instances/max-price.ts';
import { beforeSending, nothingCreated, reorderNote } from '../../instances/preflight.ts';
import { findInstance } from '../../instances/resolve.ts';
import { refuseUnsettled } from '../../instances/unsettled.ts';
import type { Money } from '../../rules/money.ts';
import { anyName, instanceName } from '../../rules/names.ts';
import {
  pollIntervalOption,
  statusFor,
  type WaitTimes,
  waitStartedOption,
  waitTimeoutOption,
} from '../../watch/flags.ts';
import { showRented } from './create.ts';
import { instanceView } from './view.ts';

export function registerReorder(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: instanceView,
    completes: { instance: 'terminated-instance', 'new-name': 'nothing', '--name': 'nothing' },
    notes:
      'Offer, image and SSH keys are taken over. The published API says nothing of the template, the\n' +
      'cloud drive and the container: expect the new machine to have none of them.',
    examples: [
      'gpucloud instances reorder trainer trainer-2',
      'gpucloud instances reorder trainer --name trainer-2 --wait',
    ],
  })
    .argument('<instance>', 'the terminated machine: id, beginning of an id, or name')
    .argument('[new-name]', 'the name of the new machine')
    .option('--name <name>', 'the same as NEW-NAME')
    .option('--any-name', 'send a name that breaks the rule for names of machines')
    .addOption(maxPriceOption())
    .addOption(waitStartedOption())
    .addOption(waitTimeoutOption())
    .addOption(pollIntervalOption())
    .action(
      (
        instance,
        newName,
        { name, anyName: free, maxPrice, wait, waitTimeout, pollInterval },
        command,
      ) =>
        reorder(
          {
            instance,
            name: newName ?? name,
            anyName: free === true,
            maxPrice,
            until: statusFor(wait),
            times: { timeout: waitTimeout, interval: pollInterval },
          },
          frame.context(command),
        ),
    );
}

export interface ReorderInput {
  readonly instance: string;
  readonly name: string | undefined;
  /** The document gives `new_name` no rule; that of an instance name is checked unless this is set. */
  readonly anyName: boolean;
  /** Roubles an hour: a machine that came out dearer is terminated at once. */
  readonly maxPrice: Money | undefined;
  /** A status, or `ssh`; undefined without `--wait`. */
  readonly until: string | undefined;
  readonly times: WaitTimes;
}

export async function reorder(input: ReorderInput, context: Context): Promise<void> {
  if (input.name === undefined) {
    throw usageError('instances reorder: missing NEW-NAME (or --name)');
  }
  const new_name = checked('NEW-NAME', input.name, input.anyName ? anyName : instanceName);
  const source = await beforeSending(context, nothingCreated, async () => {
    const found = await findInstance(input.instance, context, { changes: true });
    await refuseUnsettled('machine', new_name, context);
    await reorderNote(found, context);
    return found;
  });
  const rented = await rentWithin(
    input.maxPrice,
    {
      operation: 'reorder',
      name: new_name,
      offer_id: null,
      source_id: source.id,
      body: { new_name },
    },
    context,
    (api, options) => api.instances.reorder(source.id, { new_name }, options),
  );
  await showRented(rented, input, context);
}
