import type { Instance } from '../../api/index.ts';
import { instant } from '../../output/time.ts';
import { priceIn } from '../../rules/money.ts';

const HOUR = 3_600_000;

/**
 * Returns the price of every started hour, in roubles, as a decimal; null if the price or the time
 * is unknown. This is an upper limit, since the service returns the rest of the last hour (API
 * document: terminate).
 */
export function costAtMost(
  instance: Pick<Instance, 'price_per_hour_snapshot' | 'created_at'> | undefined,
  now: number,
): string | null {
  const price = priceIn(instance?.price_per_hour_snapshot);
  const created = instant(instance?.created_at);
  if (price === undefined || created === undefined) return null;
  const hours = Math.max(1, Math.ceil((now - created) / HOUR));
  return price.times(hours).toFixed(2);
}
