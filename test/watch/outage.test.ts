import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { createOutage } from '../../src/watch/transient.ts';
import { manualClock } from '../support/clock.ts';

const down = new CliError('unreachable', 'Could not reach the service.');

function outages() {
  const clock = manualClock();
  const reports: (string | number | undefined)[] = [];
  const outage = createOutage(clock, {
    lost: (_error, retryAfter) => reports.push('lost', retryAfter),
    over: (after) => reports.push('over', after),
  });
  return { clock, outage, reports };
}

describe('an outage', () => {
  test('reports an outage once, and once more with the pause that the service requests', () => {
    const { outage, reports } = outages();
    outage.failed(down);
    outage.failed(down);
    outage.failed(down, 9_000);
    outage.failed(down, 9_000);
    expect(reports).toEqual(['lost', undefined, 'lost', 9_000]);
  });

  test('reports an outage with its requested pause again after a recovery', () => {
    const { outage, reports } = outages();
    for (let round = 0; round < 2; round += 1) {
      outage.failed(down);
      outage.failed(down, 9_000);
      outage.mended();
    }
    const once = ['lost', undefined, 'lost', 9_000, 'over', 0];
    expect(reports).toEqual([...once, ...once]);
  });

  test.each([26, -26])(
    'reports the same duration of an outage if the clock jumps by %i hours',
    (hours) => {
      const { clock, outage, reports } = outages();
      outage.failed(down);
      clock.advance(5_000);
      clock.step(hours * 3_600_000);
      outage.mended();
      expect(reports).toEqual(['lost', undefined, 'over', 5_000]);
    },
  );
});
