import { expect, test } from 'vitest';
import { createHandOver, LAST_TRY } from '../../src/jobs/verbs/hand-over.ts';

let now = 0;

test('leaves a deadline to a job only while the job is in hand', () => {
  const handOver = createHandOver(() => now);
  expect(handOver.leaves('a')).toBe(false);
  handOver.begin({ uid: 'job', id: 'a' });
  expect([handOver.isInHand('job'), handOver.leaves('a'), handOver.leaves('b')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(handOver.end('job')).toBe('a');
  expect([handOver.isInHand('job'), handOver.leaves('a')]).toEqual([false, false]);
});

test('reports no waiting deadline if none has passed', () => {
  const handOver = createHandOver(() => now);
  handOver.begin({ uid: 'job', id: 'a' });
  handOver.leaves('b');
  expect(handOver.end('job')).toBeNull();
});

test('takes an instance back from a job that exceeds its last try', () => {
  const handOver = createHandOver(() => now);
  handOver.begin({ uid: 'job', id: 'a' });
  // A long copy before the deadline does not shorten the last try.
  now += 10 * LAST_TRY;
  expect(handOver.leaves('a')).toBe(true);
  now += LAST_TRY;
  expect(handOver.leaves('a')).toBe(true);
  now += LAST_TRY;
  expect(handOver.leaves('a')).toBe(false);
});

test('waits for each job of an instance', () => {
  const handOver = createHandOver(() => now);
  handOver.begin({ uid: 'old', id: 'a' });
  handOver.begin({ uid: 'new', id: 'a' });
  handOver.begin({ uid: 'unrented', id: null });
  expect(handOver.leaves('a')).toBe(true);
  expect(handOver.end('old')).toBe('a');
  expect(handOver.leaves('a')).toBe(true);
  expect([handOver.end('new'), handOver.end('unrented')]).toEqual(['a', null]);
  expect(handOver.leaves('a')).toBe(false);
});
