import { calledBy } from '../../../command-line/hints.ts';
import { checked, oneName } from '../../../command-line/parse.ts';
import { verb } from '../../../command-line/verb.ts';
import { asCliError, usageError } from '../../../errors.ts';
import {
  checkDeadline,
  deadlineField,
  ifIdleOption,
  rescueBudgetOption,
  rescueOption,
  terminateAfterOption,
  terminateAtOption,
  unenforcedOption,
  wantedDeadline,
} from '../../../instances/deadlines/deadline.ts';
import { instanceIn, readInstance } from '../../../instances/read.ts';
import { ensureNoPending } from '../../../instances/recover/pending.ts';
import { noteAccount } from '../../../instances/rent/account.ts';
import { maxPriceOption, rentWithin } from '../../../instances/rent/max-price.ts';
import { warnBeforeRenting } from '../../../instances/rent/planned.ts';
import { nothingCreated, reorderNote, runPreflight } from '../../../instances/rent/preflight.ts';
import { findInstance } from '../../../instances/resolve.ts';
import { ensureRescueSignIn, withRescue } from '../../../jobs/rescue/wanted.ts';
import { anyNewInstanceName, newInstanceName, typedName } from '../../../rules/names.ts';
import {
  pollIntervalOption,
  statusFor,
  waitStartedOption,
  waitTimeoutOption,
} from '../../../watch/flags.ts';
import { instanceView } from '../view.ts';
import { showRented } from './rented.ts';

export const reorder = verb({
  summary: 'Rent a terminated instance again',
  tool: { allow: 'all' },
  view: instanceView,
  completes: { instance: 'terminated', 'new-name': 'nothing', '--name': 'nothing' },
  notes:
    'Uses the same offer, image and SSH keys. The API does not document whether it copies the ' +
    'template, cloud drive and container: expect the new instance to start without them.',
  examples: [
    'gpucloud instances reorder trainer trainer-2',
    'gpucloud instances reorder trainer --name trainer-2 --wait',
  ],
  takes: (command) =>
    command
      .argument('<instance>', 'name or ID of the terminated instance')
      .argument('[new-name]', 'name of the new instance')
      .option('--name <name>', 'same as NEW-NAME')
      .option('--any-name', 'accept a name that breaks the naming rule')
      .addOption(maxPriceOption())
      .addOption(terminateAfterOption())
      .addOption(terminateAtOption())
      .addOption(ifIdleOption())
      .addOption(rescueOption())
      .addOption(rescueBudgetOption())
      .addOption(unenforcedOption())
      .addOption(waitStartedOption())
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  async run(context, instance, newName, flags) {
    const name = oneName('NEW-NAME', newName, flags.name);
    if (name === undefined) throw usageError('instances reorder: missing NEW-NAME');
    const rule = flags.anyName === true ? anyNewInstanceName : newInstanceName;
    checked('NEW-NAME', name, rule);
    const until = statusFor(flags.wait);
    const { source, ends } = await runPreflight(context, nothingCreated, async () => {
      await noteAccount(context);
      const ends = await withRescue(flags, [name], context);
      await checkDeadline(flags, context);
      const found = await findInstance(instance, context, { changes: true });
      await ensureNoPending(name, context);
      if (ends.toRescue !== undefined) {
        const instance = instanceIn(await readInstance(found.id, await context.api()));
        await ensureRescueSignIn(instance, context);
      }
      const price_per_hour = await reorderNote(found, wantedDeadline(ends) !== undefined, context);
      const priced = {
        offers: [{ known: { price_per_hour } }],
        maxPrice: flags.maxPrice,
        count: 1,
      };
      await warnBeforeRenting(ends, priced, context);
      return { source: found, ends };
    });
    const deadline = await runPreflight(context, nothingCreated, () =>
      deadlineField(ends, name, context),
    );
    const rented = await rentWithin(
      flags.maxPrice,
      {
        operation: 'reorder',
        name,
        offer_id: null,
        source_id: source.id,
        body: { new_name: name },
        ...deadline,
      },
      context,
      (api, options) => api.instances.reorder(source.id, { new_name: name }, options),
    ).catch((error: unknown) => {
      const typed = typedName(source.name, source.id);
      throw calledBy(typed, asCliError(error));
    });
    const times = { timeout: flags.waitTimeout, interval: flags.pollInterval };
    await showRented(rented, { until, times, ...deadline }, context);
  },
});
