import { expect, test } from 'vitest';
import { createPace } from '../../src/watch/follow.ts';

const pauses = (random: number, turns: readonly boolean[]) =>
  turns.map(createPace(2_000, { random: () => random }));

test('increases the pause fivefold without events, and resets it after one', () => {
  const turns = [true, false, false, false, false, false, true];
  expect(pauses(0.5, turns)).toEqual([2_000, 3_000, 4_500, 6_750, 10_000, 10_000, 2_000]);
});

test('varies the pause between polls by a fifth', () => {
  expect(pauses(0, [true, false])).toEqual([1_600, 2_400]);
  expect(pauses(0.999_999, [true, false])).toEqual([2_400, 3_600]);
});
