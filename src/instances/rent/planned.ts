import type { CreateInstanceBody, User } from '../../api/index.ts';
import type { CatalogEntry } from '../../catalog/index.ts';
import type { Context } from '../../context.ts';
import { ensureCliError, isInterrupt } from '../../errors.ts';
import type { Plan, Planned } from '../../json-results/instances.ts';
import type { DetailLine } from '../../output/output.ts';
import { spanText } from '../../output/time.ts';
import { inRoubles, type Money, money, priceIn } from '../../rules/money.ts';
import {
  type CheckedEnds,
  type DeadlineFlags,
  laterDeadline,
  plannedDeadline,
  type ToRescue,
  wantedDeadline,
} from '../deadlines/deadline.ts';
import { BRIEFLY } from '../read.ts';
import { ensureCanRent } from '../recover/pending.ts';
import { hoursUntil, LATE, rescueCost } from './purse.ts';

/** Plan if `--if-not-exists` finds the name: sends nothing. */
export const NOTHING_PLANNED: Plan = {
  request: null,
  deadline: null,
  if_idle_seconds: null,
  max_price: null,
  would_send: false,
  from_profile: [],
};

interface Wish {
  /** Names of several instances; defaults to the name in the request. */
  readonly names?: readonly string[];
  readonly ends: DeadlineFlags;
  readonly maxPrice: Money | undefined;
}

/** Throws every error that the same command without `--dry-run` would throw before its request. */
export async function planRental(
  { instance_name: name, offer_id }: CreateInstanceBody,
  { ends, maxPrice, names = [name] }: Wish,
  context: Context,
): Promise<Planned> {
  const planned = plannedDeadline(ends, context);
  const max_price = maxPrice?.toFixed();
  const limit = max_price === undefined ? {} : { max_price };
  const request = { operation: 'create', offer_id, ...planned, ...limit } as const;
  await ensureCanRent(
    names.map((one) => ({ ...request, name: one })),
    context,
  );
  const { deadline, if_idle: idle } = planned;
  return {
    deadline: deadline ?? null,
    if_idle_seconds: idle === undefined ? null : idle / 1000,
    max_price: max_price ?? null,
    would_send: true,
  };
}

/** Returns the fields of the unsent request as lines of details. */
export function requestLines(request: object): DetailLine[] {
  return Object.entries(request).map(([label, value]) => ({
    label,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }));
}

/** What planned instances may cost until their deadline, in roubles, as decimals. */
export interface PlannedCost {
  readonly hours: number;
  /** Whether the cost includes what a failing `--rescue` may cost after the deadline. */
  readonly isRescued: boolean;
  /** null without `--max-price`. */
  readonly cost_at_most: string | null;
  /** At the last known price of the dearest offer; null if a price is unknown. */
  readonly cost_estimate: string | null;
}

interface Priced {
  readonly offers: readonly {
    readonly known: Pick<CatalogEntry, 'price_per_hour'> | undefined;
  }[];
  readonly maxPrice: Money | undefined;
  /** The number of instances. */
  readonly count: number;
  readonly rescue?: Pick<ToRescue, 'budget'> | undefined;
}

/** `deadline` and `now` are milliseconds since 1970. */
export function plannedCost(
  { offers, maxPrice, count, rescue }: Priced,
  deadline: number,
  now: number,
): PlannedCost {
  const hours = hoursUntil(deadline, now);
  const prices = offers.map(({ known }) => priceIn(known?.price_per_hour));
  const dearest = prices.reduce(
    (most, price) =>
      most === undefined || price === undefined ? undefined : price.gt(most) ? price : most,
    prices[0],
  );
  const total = (price: Money | undefined) =>
    price?.times(hours).plus(rescueCost(rescue, price)).times(count).toFixed() ?? null;
  const isRescued = rescue !== undefined;
  return { hours, isRescued, cost_at_most: total(maxPrice), cost_estimate: total(dearest) };
}

/** Formats the cost for `--dry-run`, and why it has more hours than `--terminate-after`. */
export function plannedCostText({
  hours,
  isRescued,
  cost_at_most,
  cost_estimate,
}: PlannedCost): string {
  const rescue = isRescued ? ', and what a failing --rescue may cost' : '';
  const started = `(${hours} started ${hours === 1 ? 'hour' : 'hours'}, up to ${spanText(LATE / 1000)} past the deadline${rescue}; unused time is returned)`;
  const [most, estimate] = [priceIn(cost_at_most), priceIn(cost_estimate)];
  if (most !== undefined) return `at most ${inRoubles(most)} in total ${started}`;
  return estimate === undefined
    ? 'unknown; --max-price sets a limit'
    : `up to ${inRoubles(estimate)} in total at the last known price ${started}; --max-price sets a limit`;
}

/**
 * Formats the later deadline that a passed time of day means, with its cost if that is known.
 * Undefined for other deadlines.
 */
export function laterText(
  ends: CheckedEnds,
  priced: Priced,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): string | undefined {
  const now = serviceClock.now();
  const later = laterDeadline(wantedDeadline(ends), now);
  if (later === undefined) return undefined;
  const cost = plannedCost({ ...priced, rescue: ends.toRescue }, later.time, now);
  const isKnown = (cost.cost_at_most ?? cost.cost_estimate) !== null;
  return isKnown ? `${later.text} Cost: ${plannedCostText(cost)}.` : later.text;
}

/**
 * Warns, before renting, of a deadline that is later than a person may mean, and of a balance that
 * does not cover the time until the deadline. Says nothing of the balance if the price is unknown or
 * the balance can't be read.
 */
export async function warnBeforeRenting(
  ends: CheckedEnds,
  priced: Priced,
  context: Context,
): Promise<void> {
  const isTimeOfDay = typeof ends.terminateAt === 'object';
  if (!isTimeOfDay && neededUntil(ends, priced, context) === undefined) return;
  // The response also shows the service's time, which a time of day follows.
  const user = await readUser(context);
  const later = laterText(ends, priced, context);
  if (later !== undefined) context.err.warn('deadline_later', later);
  const low = lowBalanceText(user?.balance, ends, priced, context);
  if (low !== undefined) context.err.warn('balance_low', low);
}

/** Returns the estimated cost of the hours until the deadline; undefined if it is unknown. */
function neededUntil(
  ends: DeadlineFlags,
  priced: Priced,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): Money | undefined {
  const { deadline } = plannedDeadline(ends, { serviceClock });
  if (deadline === undefined) return undefined;
  // Not until the latest end: an instance that ends in time reserves no further hour.
  const end = Date.parse(deadline) - LATE;
  return priceIn(plannedCost(priced, end, serviceClock.now()).cost_estimate);
}

/** Formats that the balance does not cover the time until the deadline; undefined if it may. */
export function lowBalanceText(
  balance: string | null | undefined,
  ends: DeadlineFlags,
  priced: Priced,
  context: Pick<Context, 'serviceClock'>,
): string | undefined {
  const [needed, have] = [neededUntil(ends, priced, context), money(balance ?? '')];
  if (needed === undefined || !have.ok || have.value.gte(needed)) return undefined;
  return `The balance is ${inRoubles(have.value)}, but the hours until the deadline cost ${inRoubles(needed)} at the last known price. It is not documented what happens to an instance if the balance is empty: results may be lost.`;
}

async function readUser(context: Context): Promise<User | undefined> {
  try {
    return await (await context.api()).users.me(BRIEFLY);
  } catch (error) {
    ensureCliError(error);
    if (isInterrupt(error)) throw error;
    return undefined;
  }
}
