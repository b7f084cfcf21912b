import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SOAK } from '../faults/tools.ts';
import { anyShuffledStory, anyStory, brokenPromises } from './following.ts';
import { WRONG_FOLLOWERS } from './wrong-followers.ts';

const RUNS = SOAK ? 20_000 : 400;
const LONG = SOAK ? 1_200_000 : 60_000;

describe('a follower of logs that change while they are read', () => {
  test(`loses nothing, doubles nothing and keeps the order of time (${RUNS} stories)`, {
    timeout: LONG,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyStory, async (story) => {
        expect(await brokenPromises(story)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test(`loses and doubles nothing where events of one moment change places (${RUNS} stories)`, {
    timeout: LONG,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyShuffledStory, async (story) => {
        expect(await brokenPromises(story)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('the same property sees a follower that', () => {
  test.each(WRONG_FOLLOWERS)('%s', { timeout: LONG }, async (_name, make, complaint) => {
    const found = await fc.check(
      fc.asyncProperty(anyStory, async (story) => {
        expect(await brokenPromises(story, make)).toEqual([]);
      }),
      { numRuns: 400, endOnFailure: true },
    );
    expect(found.failed).toBe(true);
    // And for the fault that it has.
    const complaints: string[] = [];
    for (const story of fc.sample(anyStory, 200)) {
      complaints.push(...(await brokenPromises(story, make)));
    }
    expect(complaints.join('\n')).toMatch(complaint);
  });
});
