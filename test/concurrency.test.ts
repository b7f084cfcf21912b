import { expect, test } from 'vitest';
import { createGate } from '../src/concurrency.ts';

test('runs three jobs at a time, in order, even if some fail', async () => {
  const gate = createGate(3);
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, at) =>
      gate(async () => {
        begun.push(at);
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        if (at % 4 === 0) throw new Error('no');
        return at;
      }),
    ),
  );
  expect(most).toBe(3);
  expect(begun).toEqual(Array.from({ length: 20 }, (_, at) => at));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(5);
});
