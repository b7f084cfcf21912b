import type { Api, CallOptions, Instance } from '../../api/index.ts';
import { Option } from '../../command-line/command.ts';
import { ruled } from '../../command-line/parse.ts';
import type { Context } from '../../context.ts';
import { CliError, ensureCliError, FAILURES, MAY_BILL } from '../../errors.ts';
import type { RentalRequest } from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import {
  inRoubles,
  isOver,
  kopecksText,
  type Money,
  positiveMoney,
  priceIn,
} from '../../rules/money.ts';
import { typedName } from '../../rules/names.ts';
import { endOne } from '../change/ending.ts';
import { instanceIn, readInstance } from '../read.ts';
import { type Exceeded, exceededBy, isBurnLimited, limitOf } from './guards.ts';
import { titled } from './preflight.ts';
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
  asked: Money | undefined,
  request: Omit<RentalRequest, 'timeout_ms'>,
  context: Context,
  send: (api: Api, options: CallOptions) => Promise<Instance>,
): Promise<Instance> {
  const limit = await limitOf(asked, request, context);
  const { pending } = context.priceChecks;
  const { name } = request;
  pending.add(name);
  try {
    let rented: Instance;
    try {
      const ceiling = limit === undefined ? {} : { max_price: limit.toFixed() };
      rented = await rent({ ...request, ...ceiling }, context, send);
    } catch (error) {
      const id = madeAfterAll(error);
      if (id !== undefined && (limit !== undefined || (await isBurnLimited(context)))) {
        // Reads by ID, since the name may not be on disk.
        const instance = await readPrice(id, name, context);
        await enforceMaxPrice(instance, limit, context);
        await enforceMaxBurn(instance, name, context);
      }
      throw error;
    }
    await enforceMaxPrice(rented, limit, context);
    await enforceMaxBurn(rented, name, context);
    return rented;
  } finally {
    pending.delete(name);
  }
}

/**
 * Warns if a new instance breaks the profile's `--max-burn`, and sets the exit code of a command
 * that has none of its own. Terminates the instance only if the profile says so.
 */
async function enforceMaxBurn(instance: Priced, name: string, context: Context): Promise<void> {
  const { inTurn, pending } = context.priceChecks;
  await inTurn(async () => {
    pending.delete(name);
    const found = await warnOfMaxBurn(instance, context);
    if (found?.isEnforced === true) {
      await endTooDear(instance, titledText(instance, found), context);
    }
  });
}

/** Warns if an instance that was just rented or recovered breaks the profile's `--max-burn`. */
export async function warnOfMaxBurn(
  instance: Priced,
  context: Context,
): Promise<Exceeded | undefined> {
  try {
    const found = await exceededBy(instance, context);
    if (found === undefined) return undefined;
    context.endWith(EXCEEDED);
    const typed = typedName(instance.name, instance.id);
    const next = found.isEnforced
      ? ''
      : ` It is billing. To terminate it: ${gpucloud('instances', 'terminate', typed)}`;
    context.err.warn('guard_exceeded', `${titledText(instance, found)}.${next}`);
    return found;
  } catch (error) {
    ensureCliError(error);
    // The instance exists, so its command goes on.
    context.err.warn('local_storage', `Could not check --max-burn again: ${error.message}`);
    return undefined;
  }
}

/** The exit code for an instance over a limit. */
const EXCEEDED = FAILURES.refused.exit;

function titledText({ id, name }: Priced, { message }: Pick<Exceeded, 'message'>): string {
  return `${titled({ id, name: name ?? id })} ${message}`;
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
    ensureCliError(error);
    return { id, name };
  }
}

type Priced = Pick<Instance, 'id' | 'name' | 'price_per_hour_snapshot'>;

/**
 * Explains why an instance costs more per hour than allowed, or returns undefined if it does not.
 * An unreadable price counts as too high.
 */
function tooDear(instance: Priced, limit: Money): string | undefined {
  if (!isOver(instance.price_per_hour_snapshot, limit)) return undefined;
  const price = priceIn(instance.price_per_hour_snapshot);
  const what =
    price === undefined
      ? 'has an unreadable price, which counts as'
      : `costs ${inRoubles(price)} per hour,`;
  const message = `${what} over --max-price ${kopecksText(limit)}`;
  return titledText(instance, { message });
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
  if (found !== undefined) await endTooDear(instance, found, context);
}

/** Terminates an instance over a limit, as `found` describes it. Always throws. */
async function endTooDear(instance: Priced, found: string, context: Context): Promise<never> {
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
