import { expect, test } from 'vitest';
import { createServiceClock } from '../../src/context/service-clock.ts';
import { manualClock } from '../support/clock.ts';

const NOON = Date.parse('2026-01-15T12:00:00.000Z');

test("uses the computer's clock until a response shows another time", () => {
  const clock = manualClock();
  const service = createServiceClock(clock);
  expect(service.now()).toBe(NOON);
  service.learn('Thu, 15 Jan 2026 14:00:00 GMT');
  clock.advance(1_000);
  expect(service.now()).toBe(NOON + 2 * 3_600_000 + 1_000);
});

test('keeps the time when the header is missing or is not a date', () => {
  const service = createServiceClock(manualClock());
  service.learn(undefined);
  service.learn('soon');
  expect(service.now()).toBe(NOON);
});

test('ignores a difference below two seconds, the resolution of the header', () => {
  const service = createServiceClock(manualClock('2026-01-15T12:00:01.900Z'));
  service.learn('Thu, 15 Jan 2026 12:00:00 GMT');
  expect(service.now()).toBe(NOON + 1_900);
});

test('prefers a time that was set exactly over any header', () => {
  const service = createServiceClock(manualClock());
  service.set(NOON + 86_400_000);
  service.learn('Thu, 15 Jan 2026 12:00:00 GMT');
  expect(service.now()).toBe(NOON + 86_400_000);
});
