import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { follow } from '../../src/watch/follow.ts';
import { record, SOAK } from '../faults/tools.ts';
import { manualClock } from '../support/clock.ts';
import { fc, runs } from '../support/random.ts';
import { anyShuffledStory, anyStory, brokenPromises, type Story } from './following.ts';

const RUNS = SOAK ? 20_000 : runs(400, 200);
const LONG = SOAK ? 1_200_000 : 60_000;

/**
 * Fixed stories: simultaneous events, events out of order, and logs that lose as many events as
 * they gain.
 */
const FOUND: [Story][] = [
  [
    {
      logs: [
        {
          limit: 1,
          before: [{ kind: 'size', limit: 3 }, arrive(2)],
          steps: [
            [],
            [],
            [arrive(2)],
            [arrive(7)],
            [arrive(2), { kind: 'prune', count: 1 }],
            [
              { kind: 'prune', count: 1 },
              { kind: 'late', depth: 1, tie: false },
            ],
            [{ kind: 'prune', count: 1 }],
          ],
        },
        { limit: 1, before: [], steps: [] },
      ],
      restarts: [{ after: 3, killed: false }],
    },
  ],
  [
    {
      logs: [
        {
          limit: 1,
          before: [],
          steps: [[arrive(2)], [arrive(4), { kind: 'prune', count: 4 }], [arrive(1, 1)]],
        },
        { limit: 1, before: [], steps: [] },
      ],
      restarts: [],
    },
  ],
];

function arrive(count: number, later = 0) {
  return { kind: 'arrive', count, later } as const;
}

test.each([new TypeError('a bug'), new CliError('authentication', 'no')])(
  'ends at %s, which no other read would avoid',
  async (fault) => {
    const fail = async () => {
      throw fault;
    };
    const logs = [{ hasStarted: () => true, look: fail, take: fail }];
    const { signal } = new AbortController();
    const options = { logs, signal, interval: 1, clock: manualClock(), report: {} };
    const each = (all: object[], work: (one: object) => Promise<unknown>) =>
      Promise.all(all.map(work));
    await expect(follow({ ...options, each } as never).next()).rejects.toBe(fault);
  },
);

describe('following logs that change while they are read', () => {
  test(`prints each event once, in order of time (${RUNS} stories)`, {
    timeout: LONG,
  }, async (context) => {
    record(context, { what: 'logs that change during a read', played: RUNS });
    await fc.assert(
      fc.asyncProperty(anyStory, async (story) => {
        expect(await brokenPromises(story)).toEqual([]);
      }),
      { numRuns: RUNS, examples: FOUND },
    );
  });

  test(`prints each event once even if simultaneous events change places (${RUNS} stories)`, {
    timeout: LONG,
  }, async (context) => {
    record(context, { what: 'logs in which simultaneous events change order', played: RUNS });
    await fc.assert(
      fc.asyncProperty(anyShuffledStory, async (story) => {
        expect(await brokenPromises(story)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
