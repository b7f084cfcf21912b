import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { KnownMachine } from '../../rentals/index.ts';
import { kopecksText, money } from '../../rules/money.ts';
import type { AnyCommand } from '../kit/command.ts';
import { confirm } from '../kit/confirm.ts';
import type { Frame } from '../kit/frame.ts';
import { OR_STDIN, severalGiven } from '../kit/several.ts';
import { verb } from '../kit/verb.ts';
import { changeEach } from './lifecycle.ts';
import { pickMachines } from './pick.ts';
import { findMachines, type Target } from './resolve.ts';
import { changedView } from './view.ts';
import { pollIntervalOption, waitTimeoutOption } from './waiting.ts';

export function registerTerminate(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'terminate',
    view: changedView,
    aliases: ['rm'],
    summary: 'End machines for good, with all that is on their disks',
    notes:
      'Billing stops, and what is left of the reserved hour comes back to the balance.\n' +
      'A cloud drive that was attached is kept. In a terminal, without INSTANCE, the machines known here\n' +
      'are offered.',
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
      const targets = await findMachines(named, context);
      await confirm(context, () => question(targets, context));
      await changeEach(
        targets,
        {
          ask: (api, id, options) => api.instances.terminate(id, options),
          done: 'terminated',
          until: wait === true ? 'TERMINATED' : undefined,
          times: { timeout: waitTimeout, interval: pollInterval },
        },
        context,
      );
    });
}

/** Names each machine with the price last seen, from what is known here: nothing is asked for it. */
async function question(targets: readonly Target[], context: Context): Promise<string> {
  if (targets.length === 0) {
    return 'Terminate the machines that stdin names?';
  }
  const machines = await knownMachines(context);
  const described = targets.map(({ id, name }) => {
    const last = machines.find((machine) => machine.id === id)?.last;
    const price = money(last?.price_per_hour ?? '');
    const cost = price.ok ? `, ${kopecksText(price.value)} RUB an hour` : '';
    return name === id ? id : `${name} (${id}${cost})`;
  });
  return `Terminate ${described.join(' and ')} with all data on ${targets.length === 1 ? 'its disk' : 'their disks'}?`;
}

/** Whoever wants to end a machine must not fail for a journal that can't be read. */
async function knownMachines(context: Context): Promise<readonly KnownMachine[]> {
  try {
    return (await (await context.rentals()).read()).machines;
  } catch (error) {
    if (!(error instanceof CliError) || error.failure !== 'storage') throw error;
    return [];
  }
}
