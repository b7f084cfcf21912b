import { expect, test } from 'vitest';
import { createServiceClock } from '../../src/context/service-clock.ts';
import { manualClock } from '../support/clock.ts';

const HOUR = 3_600_000;
const NOON = Date.parse('2026-01-15T12:00:00.000Z');

test("uses the computer's clock until a response shows another time", () => {
  const clock = manualClock();
  const service = createServiceClock(clock);
  expect(service.now()).toBe(NOON);
  service.learn('Thu, 15 Jan 2026 14:00:00 GMT');
  clock.advance(1_000);
  expect(service.now()).toBe(NOON + 2 * 3_600_000 + 1_000);
  service.learn('Thu, 15 Jan 2026 14:05:01 GMT');
  expect(service.now()).toBe(NOON + 2 * 3_600_000 + 301_000);
});

test("keeps the service's time if the Date header is missing or invalid", () => {
  const service = createServiceClock(manualClock());
  service.learn(undefined);
  service.learn('soon');
  expect(service.now()).toBe(NOON);
});

test.each([
  ['01.999', NOON + 1_999],
  ['02.000', NOON],
])('ignores a difference below two seconds, the resolution of the Date header: %s', (at, now) => {
  const service = createServiceClock(manualClock(`2026-01-15T12:00:${at}Z`));
  service.learn('Thu, 15 Jan 2026 12:00:00 GMT');
  expect(service.now()).toBe(now);
});

test.each([
  [1_999, true],
  [2_000, false],
])('knows the time after a clock change of %d ms: %s', (by, isKnown) => {
  const clock = manualClock();
  const service = createServiceClock(clock);
  service.learn('Thu, 15 Jan 2026 12:00:00 GMT');
  clock.step(by);
  expect(service.isKnown()).toBe(isKnown);
});

test.each([
  [2, 0],
  [3, 3_000],
])("follows the sandbox's clock if it is %d s ahead by %d ms", (seconds, by) => {
  const service = createServiceClock(manualClock());
  service.set(NOON);
  service.learn(`Thu, 15 Jan 2026 12:00:0${seconds} GMT`);
  expect(service.now()).toBe(NOON + by);
});

test('prefers an exact time to a Date header that agrees with it', () => {
  const service = createServiceClock(manualClock());
  service.set(NOON + 1_900);
  service.learn('Thu, 15 Jan 2026 12:00:00 GMT');
  expect(service.now()).toBe(NOON + 1_900);
});

test("follows the sandbox's clock at once when another process advances it", () => {
  const service = createServiceClock(manualClock());
  service.set(NOON);
  service.learn('Thu, 15 Jan 2026 14:00:00 GMT');
  expect({ now: service.now(), isExact: service.isExact() }).toEqual({
    now: NOON + 2 * HOUR,
    isExact: true,
  });
});

test.each([26, -26])(
  'ignores one response that is %i hours off, and accepts the time of two in a row',
  (hours) => {
    const at = (hoursLater: number) => new Date(NOON + hoursLater * HOUR).toUTCString();
    const service = createServiceClock(manualClock());
    service.learn(at(0));
    service.learn(at(hours));
    expect(service.now()).toBe(NOON);
    service.learn(at(0));
    expect(service.now()).toBe(NOON);
    service.learn(at(hours));
    service.learn(at(hours));
    expect(service.now()).toBe(NOON + hours * HOUR);
    expect(service.last()?.service).toBe(NOON + hours * HOUR);
  },
);

test("continues after a clock change, but reports the service's time as unknown", () => {
  const clock = manualClock();
  const service = createServiceClock(clock);
  service.learn('Thu, 15 Jan 2026 12:00:00 GMT');
  clock.advance(HOUR);
  expect({ now: service.now(), isKnown: service.isKnown() }).toEqual({
    now: NOON + HOUR,
    isKnown: true,
  });
  clock.step(26 * HOUR);
  expect({ now: service.now(), isKnown: service.isKnown() }).toEqual({
    now: NOON + HOUR,
    isKnown: false,
  });
  service.learn('Fri, 16 Jan 2026 15:00:00 GMT');
  expect({ now: service.now(), isKnown: service.isKnown() }).toEqual({
    now: NOON + 27 * HOUR,
    isKnown: true,
  });
});

test.each([
  '1',
  '2026-01-15',
  '15 Jan 2026 14:00:00 +0300',
  'Thu, 15 Jan 2026 14:00:00',
  'x Thu, 15 Jan 2026 14:00:00 GMT',
  'Thu, 15 Jan 2026 14:00:00 GMT (x)',
])('ignores the Date header %j, which is not an HTTP date', (text) => {
  const service = createServiceClock(manualClock());
  service.learn(text);
  expect(service.isKnown()).toBe(false);
});
