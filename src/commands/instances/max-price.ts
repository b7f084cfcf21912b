import type { Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { kopecksText, type Money, money } from '../../rules/money.ts';
import { keepSighting } from '../kit/sighting.ts';

/**
 * Ends a machine that was rented at a higher hourly price than was allowed, since the published API
 * tells the price only then. A price that can't be read counts as too high.
 * Throws CliError('refused') when it was ended, and when that failed, with the machine still billing.
 */
export async function enforceMaxPrice(
  instance: Instance,
  limit: Money | undefined,
  context: Context,
): Promise<void> {
  if (limit === undefined) {
    return;
  }
  const price = money(instance.price_per_hour_snapshot ?? '');
  if (price.ok && price.value.lte(limit)) {
    return;
  }
  const came = price.ok
    ? `${kopecksText(price.value)} RUB an hour`
    : 'a price that could not be read';
  const found = `${instance.name ?? instance.id} (${instance.id}) came out at ${came}, over --max-price ${kopecksText(limit)}`;
  const api = await context.api();
  try {
    const { status } = await api.instances.terminate(instance.id, {
      signal: context.interrupts.second,
    });
    await keepSighting({ id: instance.id, status }, context);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const unknown = error instanceof CliError && error.failure === 'outcomeUnknown';
    throw new CliError(
      unknown ? 'outcomeUnknown' : 'refused',
      unknown
        ? `${found}. Whether it was terminated is unknown, and it may be billing: ${reason}`
        : `${found}. It could NOT be terminated and is billing: ${reason}`,
      {
        hint: `gpucloud instances terminate ${instance.id}`,
        resource: instance.id,
        mayBeBilling: true,
        cause: error,
      },
    );
  }
  throw new CliError('refused', `${found}, and was terminated at once.`, {
    resource: instance.id,
    hint: `gpucloud instances events ${instance.id}`,
  });
}
