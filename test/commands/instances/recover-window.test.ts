import { describe, expect, test } from 'vitest';
import { isOfTheTime, ServiceClock } from '../../../src/instances/recover-window.ts';

const ASKED = '2026-01-15T12:00:00.000Z';
const MINUTE = 60_000;
const at = (minutes: number) => new Date(Date.parse(ASKED) + minutes * MINUTE).toISOString();

/** The service's clock after answers whose Date headers were so many minutes off. */
function heard(...minutes: (number | undefined)[]): ServiceClock {
  const clock = new ServiceClock(() => Date.parse(ASKED));
  for (const off of minutes) {
    clock.hear(off === undefined ? undefined : new Date(Date.parse(at(off))).toUTCString());
  }
  return clock;
}

describe('how far the clock of the service is', () => {
  test.each([
    [[], 0],
    [[undefined], 0],
    [[-20], -20],
    [[20], 20],
    // An answer that was kept on its way tells an earlier time, whenever it is read.
    [[-20, -300], -20],
    [[-300, -20], -20],
    [[-20, undefined], -20],
  ])('Date headers of %j minutes: %j', (minutes, expected) => {
    expect(heard(...minutes).ahead).toBe(expected * MINUTE);
  });

  test('what is no date tells nothing', () => {
    const clock = heard(-20);
    clock.hear('soon');
    expect(clock.ahead).toBe(-20 * MINUTE);
  });
});

test.each([
  [0, -5, 60],
  [-20, -25, 60],
  [20, -5, 80],
])('a clock that is %j minutes off only widens the time: from %j to %j', (off, first, last) => {
  const clock = heard(off);
  const isOf = (minutes: number) => isOfTheTime(at(minutes), ASKED, clock);
  expect([first - 1, first, last, last + 1].map(isOf)).toEqual([false, true, true, false]);
});
