import { expect, test } from 'vitest';
import { createServiceClock } from '../../src/context/service-clock.ts';
import { laterText, plannedCost, plannedCostText } from '../../src/instances/rent/planned.ts';
import { minuteText } from '../../src/output/time.ts';
import { money } from '../../src/rules/money.ts';
import { moment } from '../../src/rules/times.ts';

const HOUR = 3_600_000;
function cost(
  hours: number,
  limit: string | undefined,
  names: number,
  ...prices: (string | null)[]
) {
  return rescuedCost(undefined, hours, limit, names, ...prices);
}
function rescuedCost(
  rescue: { readonly budget: string | null } | undefined,
  hours: number,
  limit: string | undefined,
  names: number,
  ...prices: (string | null)[]
) {
  const maxPrice = limit === undefined ? undefined : money(limit);
  const plan = {
    rescue,
    offers: prices.map((price_per_hour) => ({ known: { price_per_hour } })),
    maxPrice: maxPrice?.ok ? maxPrice.value : undefined,
    count: names,
  };
  return plannedCostText(plannedCost(plan, hours * HOUR, 0));
}

test.each([
  [
    cost(4, '90', 1, '89.90'),
    'at most 450.00 ₽ in total (5 started hours, up to 10 min past the deadline; unused time is returned)',
  ],
  [
    cost(0.5, '90', 1, null),
    'at most 90.00 ₽ in total (1 started hour, up to 10 min past the deadline; unused time is returned)',
  ],
  [
    cost(0.5, '90', 4, '50'),
    'at most 360.00 ₽ in total (1 started hour, up to 10 min past the deadline; unused time is returned)',
  ],
  [
    cost(4, undefined, 1, '89.90', '120.005', '31'),
    'up to 600.025 ₽ in total at the last known price (5 started hours, up to 10 min past the deadline; unused time is returned); --max-price sets a limit',
  ],
  [cost(4, undefined, 1, '89.90', null), 'unknown; --max-price sets a limit'],
  // A budget may end in the middle of an hour, which is charged in full.
  [
    rescuedCost({ budget: '5000' }, 2, '100', 2, '89.90'),
    'at most 10,800.00 ₽ in total (3 started hours, up to 10 min past the deadline, and what a failing --rescue may cost; unused time is returned)',
  ],
  [
    rescuedCost({ budget: null }, 2, undefined, 1, '89.90'),
    'up to 359.60 ₽ in total at the last known price (3 started hours, up to 10 min past the deadline, and what a failing --rescue may cost; unused time is returned); --max-price sets a limit',
  ],
  [
    rescuedCost({ budget: '0' }, 2, '100', 1, '89.90'),
    'at most 300.00 ₽ in total (3 started hours, up to 10 min past the deadline, and what a failing --rescue may cost; unused time is returned)',
  ],
])('counts every hour that may be charged until the deadline: %s', (text, expected) => {
  expect(text).toBe(expected);
});

/** A Friday at 19:30. */
const FRIDAY = new Date(2026, 0, 16, 19, 30).getTime();
const day = (date: number) => minuteText(new Date(2026, 0, date, 18).getTime());

function later(typed: string, limit?: string, ...prices: (string | null)[]) {
  const [at, maxPrice] = [moment(typed), limit === undefined ? undefined : money(limit)];
  return laterText(
    { terminateAt: at.ok ? at.value : undefined },
    {
      offers: prices.map((price_per_hour) => ({ known: { price_per_hour } })),
      maxPrice: maxPrice?.ok ? maxPrice.value : undefined,
      count: 1,
    },
    { serviceClock: createServiceClock({ now: () => FRIDAY, monotonic: () => 0 }) },
  );
}

test.each([
  [
    later('fri 18:00', '90', '80'),
    `fri 18:00 has passed today, so the deadline is in a week: ${day(23)}. Cost: at most 15,030.00 ₽ in total (167 started hours, up to 10 min past the deadline; unused time is returned).`,
  ],
  [
    later('18:00', undefined, '80', '100'),
    `18:00 has passed today, so the deadline is tomorrow: ${day(17)}. Cost: up to 2,300.00 ₽ in total at the last known price (23 started hours, up to 10 min past the deadline; unused time is returned); --max-price sets a limit.`,
  ],
  [
    later('18:00', undefined, null),
    `18:00 has passed today, so the deadline is tomorrow: ${day(17)}.`,
  ],
  [later('18:00'), `18:00 has passed today, so the deadline is tomorrow: ${day(17)}.`],
  [later('fri 20:00', '90'), undefined],
  [later('20:00', '90'), undefined],
  [later('sat 18:00', '90'), undefined],
  [later('2026-01-23T18:00', '90'), undefined],
])('notes a time of day that has passed today: %s', (text, expected) => {
  expect(text).toBe(expected);
});
