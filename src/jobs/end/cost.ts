import type { Instance } from '../../api/index.ts';
import { instant } from '../../output/time.ts';
import { priceIn, startedHours } from '../../rules/money.ts';

/**
 * Returns the price of every started hour, in roubles, as a decimal; null if the price or the time
 * is unknown.
 */
export function costAtMost(
  instance: Pick<Instance, 'price_per_hour_snapshot' | 'created_at'> | undefined,
  now: number,
): string | null {
  const price = priceIn(instance?.price_per_hour_snapshot);
  const created = instant(instance?.created_at);
  if (price === undefined || created === undefined) return null;
  return price.times(startedHours(now - created)).toFixed(2);
}
