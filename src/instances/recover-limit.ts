import type { UnknownRequest } from '../journal/index.ts';
import { type Money, positiveMoney } from '../rules/money.ts';

/**
 * The most that an hour may cost, roubles (`--max-price`): the lowest limit of requests that one
 * machine may be of, since a create that is repeated without the flag does not take it back.
 * undefined where none of them has a limit.
 */
export function lowestLimit(requests: readonly UnknownRequest[]): Money | undefined {
  let lowest: Money | undefined;
  for (const { max_price } of requests) {
    const limit = positiveMoney(max_price ?? '');
    if (limit.ok && (lowest === undefined || limit.value.lt(lowest))) lowest = limit.value;
  }
  return lowest;
}
