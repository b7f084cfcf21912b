import type { Instance } from '../../api/index.ts';
import type { CatalogEntry } from '../../catalog/index.ts';
import { hoursUntil } from '../../instances/rent/purse.ts';
import { instant } from '../../output/time.ts';
import { inRoubles, kopecksText, type Money, priceIn, startedHours } from '../../rules/money.ts';

/**
 * Returns the price of every started hour, in roubles, as a decimal; null if the price or the time
 * is unknown.
 */
export function costAtMost(
  instance: Pick<Instance, 'price_per_hour_snapshot' | 'created_at' | 'terminated_at'> | undefined,
  now: number,
): string | null {
  const price = priceIn(instance?.price_per_hour_snapshot);
  const created = instant(instance?.created_at);
  if (price === undefined || created === undefined) return null;
  const end = Math.min(now, instant(instance?.terminated_at) ?? now);
  return kopecksText(price.times(startedHours(end - created)));
}

/** What a planned job may cost until its deadline, in roubles, as decimals. */
export interface PlannedCost {
  readonly hours: number;
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
  readonly names: readonly string[];
}

/** `deadline` and `now` are milliseconds since 1970. */
export function plannedCost(
  { offers, maxPrice, names }: Priced,
  deadline: number,
  now: number,
): PlannedCost {
  const hours = hoursUntil(deadline, now);
  const prices = offers.map(({ known }) => priceIn(known?.price_per_hour));
  const dearest = prices.reduce((most, price) =>
    most === undefined || price === undefined ? undefined : price.gt(most) ? price : most,
  );
  const total = (price: Money | undefined) => price?.times(hours * names.length).toFixed() ?? null;
  return { hours, cost_at_most: total(maxPrice), cost_estimate: total(dearest) };
}

/** Formats the cost for `--dry-run`. */
export function plannedCostText({ hours, cost_at_most, cost_estimate }: PlannedCost): string {
  const until = `until the deadline (${hours} ${hours === 1 ? 'hour' : 'hours'})`;
  const [most, estimate] = [priceIn(cost_at_most), priceIn(cost_estimate)];
  if (most !== undefined) return `at most ${inRoubles(most)} ${until}`;
  return estimate === undefined
    ? 'unknown; --max-price sets a limit'
    : `${inRoubles(estimate)} ${until} at the last known price; --max-price sets a limit`;
}
