import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { kopecksText, money, zero } from '../../rules/money.ts';
import type { Target } from './resolve.ts';

/**
 * Says what a start reserves ("funds for the next hour reserved at once", API document: start), from
 * the prices known here: they are fixed at creation, so that nothing need be asked for them.
 */
export async function tellStart(targets: readonly Target[], context: Context): Promise<void> {
  if (targets.length === 0) return;
  const prices = await pricesOf(targets, context);
  const told = prices.filter((price) => price !== undefined);
  const sum = told.reduce((total, price) => total.plus(price), zero());
  const untold = targets.length - told.length;
  const amount =
    told.length === 0
      ? `the price of ${targets.length === 1 ? 'one hour' : 'one hour of each'}, which is not known here`
      : `${kopecksText(sum)} RUB for the next hour${untold === 0 ? '' : `, and the price of ${untold} more that is not known here`}`;
  const names = targets.length === 1 ? targets[0]?.name : `${targets.length} machines`;
  context.err.note(`Starting ${names} reserves ${amount}.`);
}

async function pricesOf(targets: readonly Target[], context: Context) {
  try {
    const { machines } = await (await context.rentals()).read({ archived: false });
    return targets.map(({ id }) => {
      const price = money(machines.find((one) => one.id === id)?.last?.price_per_hour ?? '');
      return price.ok ? price.value : undefined;
    });
  } catch (error) {
    // A journal that can't be read is no reason not to start what is named by its id.
    if (!(error instanceof CliError) || error.failure !== 'storage') throw error;
    return [];
  }
}
