import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { kopecksText, money, zero } from '../rules/money.ts';
import { readBriefly } from './read-briefly.ts';
import type { Target } from './resolve.ts';

const AT_ONCE = 8;

/**
 * Says what a start reserves ("funds for the next hour reserved at once", API document: start) of the
 * machines that can be started. They are read first: nothing is reserved for one that is not STOPPED,
 * and whether it is started after all is for the service to say. One that can't be read counts, with
 * the price that is known here, since prices are fixed at creation.
 */
export async function tellStart(targets: readonly Target[], context: Context): Promise<void> {
  const read = await eachBounded(targets, AT_ONCE, (target) => readBriefly(target, context));
  const started = targets.flatMap((target, at) => {
    const machine = read[at];
    return machine === undefined || machine.status === 'STOPPED' ? [{ target, machine }] : [];
  });
  const [first] = started;
  if (first === undefined) return;
  const known = started.every(({ machine }) => machine?.price_per_hour_snapshot != null)
    ? new Map<string, string>()
    : await knownPrices(context);
  const prices = started.map(({ target: { id }, machine }) => {
    const price = money(machine?.price_per_hour_snapshot ?? known.get(id) ?? '');
    return price.ok ? price.value : undefined;
  });
  const told = prices.filter((price) => price !== undefined);
  const sum = told.reduce((total, price) => total.plus(price), zero());
  const untold = started.length - told.length;
  const amount =
    told.length === 0
      ? `the price of ${started.length === 1 ? 'one hour' : 'one hour of each'}, which is not known here`
      : `${kopecksText(sum)} RUB for the next hour${untold === 0 ? '' : `, and the price of ${untold} more that is not known here`}`;
  const names = started.length === 1 ? first.target.name : `${started.length} machines`;
  context.err.note(`Starting ${names} reserves ${amount}.`);
}

/** By id. */
async function knownPrices(context: Context): Promise<ReadonlyMap<string, string>> {
  try {
    const { instances: machines } = await (await context.journal()).read({ archived: false });
    return new Map(machines.map(({ id, last }) => [id, last?.price_per_hour ?? '']));
  } catch (error) {
    // A journal that can't be read is no reason not to start what is named by its id.
    if (!(error instanceof CliError) || error.failure !== 'storage') throw error;
    return new Map();
  }
}
