import { onCancel } from '../cli/confirm.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import type { KnownInstance } from '../journal/index.ts';
import { instant, relative } from '../output/time.ts';
import { isUuid } from '../rules/ids.ts';
import { kopecksText, money } from '../rules/money.ts';
import { mayBill } from '../rules/statuses.ts';

/** Statuses of machines that are on their way out already. */

/**
 * The ids of the machines that a person picks from those that are not known to be terminated, where
 * none was named. Throws a usage error where nobody can be asked, CliError('notFound') where there is
 * nothing to pick.
 */
export async function pickMachines(question: string, context: Context): Promise<string[]> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(
      'INSTANCE is missing: name the machines by their names or ids',
      'those known here: gpucloud instances list',
    );
  }
  // Whose machines they are is known once there is a key that is.
  await onCancel('Nothing was changed.', () => context.api());
  const { instances: machines } = await (await context.journal()).read();
  const living = machines.filter(({ last }) => mayBill(last?.status));
  if (living.length === 0) {
    throw new CliError(
      'notFound',
      'No machine that is not terminated is known to this computer, so there is none to pick.',
      {
        hint: 'gpucloud instances list --all; a machine from elsewhere: gpucloud instances track ID',
      },
    );
  }
  const choices = living.map((machine) => ({
    name: machine.name,
    about: about(machine, context.clock.now()),
    value: machine.id,
  }));
  return await onCancel('Nothing was changed.', () =>
    prompts.chooseSeveral(question, choices, { least: 1 }),
  );
}

/** What was last seen of it, with the beginning of its id for those of one name. */
function about({ id, last }: KnownInstance, now: number): string[] {
  const seen = instant(last?.seen_at ?? '');
  const price = money(last?.price_per_hour ?? '');
  return [
    last?.status ?? 'never seen',
    price.ok ? `${kopecksText(price.value)} RUB/h` : '',
    seen === undefined ? '' : `seen ${relative(seen, now)}`,
    isUuid(id) ? id.slice(0, 8) : id,
  ];
}
