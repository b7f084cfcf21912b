import { expect, test } from 'vitest';
import { plannedCost, plannedCostText } from '../../src/jobs/end/cost.ts';
import { money } from '../../src/rules/money.ts';

const HOUR = 3_600_000;
function cost(
  hours: number,
  limit: string | undefined,
  names: number,
  ...prices: (string | null)[]
) {
  const maxPrice = limit === undefined ? undefined : money(limit);
  const plan = {
    offers: prices.map((price_per_hour) => ({ known: { price_per_hour } })),
    maxPrice: maxPrice?.ok ? maxPrice.value : undefined,
    names: Array.from({ length: names }, (_, at) => `job-${at + 1}`),
  };
  return plannedCostText(plannedCost(plan, hours * HOUR, 0));
}

test.each([
  [cost(4, '90', 1, '89.90'), 'at most 450.00 ₽ until the deadline (5 hours)'],
  [cost(0.5, '90', 1, null), 'at most 90.00 ₽ until the deadline (1 hour)'],
  [cost(0.5, '90', 4, '50'), 'at most 360.00 ₽ until the deadline (1 hour)'],
  [
    cost(4, undefined, 1, '89.90', '120.005', '31'),
    '600.025 ₽ until the deadline (5 hours) at the last known price; --max-price sets a limit',
  ],
  [cost(4, undefined, 1, '89.90', null), 'unknown; --max-price sets a limit'],
])('counts every hour that may be charged until the deadline: %s', (text, expected) => {
  expect(text).toBe(expected);
});
