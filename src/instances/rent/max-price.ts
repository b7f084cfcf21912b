import type { Api, CallOptions, Instance } from '../../api/index.ts';
import { Option } from '../../command-line/command.ts';
import { ruled } from '../../command-line/parse.ts';
import type { Context } from '../../context.ts';
import { CliError, MAY_BILL } from '../../errors.ts';
import type { RentalRequest } from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { inRoubles, kopecksText, type Money, money, positiveMoney } from '../../rules/money.ts';
import { typedName } from '../../rules/names.ts';
import { endOne } from '../change/ending.ts';
import { instanceIn, readInstance } from '../read.ts';
import { rent } from './rent.ts';

export function maxPriceOption() {
  return new Option(
    '--max-price <rub>',
    'terminate the instance at once if its price per hour is higher',
  ).argParser(ruled('--max-price', positiveMoney));
}

/** An instance cost more than allowed, and has ended. */
export class OverMaxPrice extends CliError {
  readonly instance: Priced & Partial<Instance>;

  constructor(message: string, instance: Priced & Partial<Instance>) {
    const { id, name } = instance;
    super('refused', message, {
      resource: id,
      hint: gpucloud('instances', 'events', typedName(name, id)),
    });
    this.instance = instance;
  }
}

/**
 * Rents an instance and terminates it if its price is above the limit. After an unusable response,
 * reads the price, and also terminates the instance if the read fails.
 */
export async function rentWithin(
  limit: Money | undefined,
  request: Omit<RentalRequest, 'timeout_ms'>,
  context: Context,
  send: (api: Api, options: CallOptions) => Promise<Instance>,
): Promise<Instance> {
  let rented: Instance;
  try {
    const ceiling = limit === undefined ? {} : { max_price: limit.toFixed() };
    rented = await rent({ ...request, ...ceiling }, context, send);
  } catch (error) {
    const id = madeAfterAll(error);
    if (limit !== undefined && id !== undefined) {
      // Reads by ID, since the name may not be on disk.
      await enforceMaxPrice(await readPrice(id, request.name, context), limit, context);
    }
    throw error;
  }
  await enforceMaxPrice(rented, limit, context);
  return rented;
}

/** Returns the instance's ID if the error came after its creation, except after an interrupt. */
function madeAfterAll(error: unknown): string | undefined {
  const isMade =
    error instanceof CliError &&
    error.mayBeBilling &&
    (error.failure === 'notUnderstood' || error.failure === 'storage');
  return isMade ? error.resource : undefined;
}

async function readPrice(id: string, name: string, context: Context): Promise<Priced> {
  try {
    return instanceIn(await readInstance(id, await context.api()));
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { id, name };
  }
}

type Priced = Pick<Instance, 'id' | 'name' | 'price_per_hour_snapshot'>;

/**
 * Explains why an instance costs more per hour than allowed, or returns undefined if it does not.
 * An unreadable price counts as too high.
 */
function tooDear(instance: Priced, limit: Money): string | undefined {
  const price = money(instance.price_per_hour_snapshot ?? '');
  if (price.ok && price.value.lte(limit)) {
    return undefined;
  }
  const what = price.ok
    ? `costs ${inRoubles(price.value)} per hour,`
    : 'has an unreadable price, which counts as';
  return `${instance.name ?? instance.id} (${instance.id}) ${what} over --max-price ${kopecksText(limit)}`;
}

/**
 * Terminates an instance whose hourly price is above the limit, since the API shows the price only
 * after creation. Throws OverMaxPrice if it ended, and CliError('outcomeUnknown') if it may still
 * be billing.
 */
async function enforceMaxPrice(
  instance: Priced,
  limit: Money | undefined,
  context: Context,
): Promise<void> {
  const found = limit && tooDear(instance, limit);
  if (found === undefined) return;
  const { id } = instance;
  const ending = await endOne({ id, name: instance.name ?? id }, context);
  if (ending.kind === 'ended')
    throw new OverMaxPrice(`${found}, and was terminated at once.`, ending.instance ?? instance);
  const { message, ...details } = ending.error;
  throw ending.error.with(`${found}. ${message}`, {
    ...details,
    cause: new CliError('refused', `${found}.`, { cause: ending.error }),
  });
}

/** Returns an error if a recovered instance costs more than its request allowed. */
export function overLimit(instance: Priced, maxPrice: string | undefined): CliError | undefined {
  const limit = positiveMoney(maxPrice ?? '');
  const found = limit.ok ? tooDear(instance, limit.value) : undefined;
  if (found === undefined) return undefined;
  return new CliError('refused', `${found}. ${MAY_BILL}`, {
    hint: gpucloud('instances', 'terminate', typedName(instance.name, instance.id)),
    resource: instance.id,
    mayBeBilling: true,
  });
}
