import { expect, test } from 'vitest';
import { createHandOver, LAST_TRY } from '../../src/run-job/jobs/hand-over.ts';

let now = 0;

test('leaves a deadline to a job only while the job is in hand', () => {
  const handOver = createHandOver(() => now);
  expect(handOver.leaves('a')).toBe(false);
  handOver.begin('a');
  expect([handOver.isInHand('a'), handOver.leaves('a'), handOver.leaves('b')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(handOver.end('a')).toBe(true);
  expect([handOver.isInHand('a'), handOver.leaves('a')]).toEqual([false, false]);
});

test('reports no waiting deadline if none has passed', () => {
  const handOver = createHandOver(() => now);
  handOver.begin('a');
  handOver.leaves('b');
  expect(handOver.end('a')).toBe(false);
});

test('takes an instance back from a job that exceeds its last try', () => {
  const handOver = createHandOver(() => now);
  handOver.begin('a');
  // A long copy before the deadline does not shorten the last try.
  now += 10 * LAST_TRY;
  expect(handOver.leaves('a')).toBe(true);
  now += LAST_TRY;
  expect(handOver.leaves('a')).toBe(true);
  now += LAST_TRY;
  expect(handOver.leaves('a')).toBe(false);
});
