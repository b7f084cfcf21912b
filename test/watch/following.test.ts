import { describe, expect, test } from 'vitest';
import { CliError, type Failure } from '../../src/errors.ts';
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

/** How often a log is read that always fails, how that ends, and what is reported. */
test.each<[Failure, boolean, number, string, string[]]>([
  ['unreachable', true, 9, 'the end', ['lost']],
  ['unreachable', false, 1, 'unreachable', []],
  ['notUnderstood', true, 5, 'notUnderstood', ['lost']],
  ['notUnderstood', false, 1, 'notUnderstood', []],
  ['notFound', true, 2, 'nothing left', ['gone']],
  ['notFound', false, 1, 'nothing left', ['gone']],
  ['authentication', true, 1, 'authentication', []],
  ['authentication', false, 1, 'authentication', []],
])('with the fault %s of a log, read before: %s, ends after %i looks: %s %j', async (...row) => {
  const [failure, wasRead, looks, how, reports] = row;
  let looked = 0;
  const look = async () => {
    looked += 1;
    throw looked === 9 ? new TypeError('the end') : new CliError(failure, failure);
  };
  const logs = [{ hasStarted: () => wasRead, look, take: () => undefined }];
  const reported: string[] = [];
  const told = (what: string) => () => reported.at(-1) === what || reported.push(what);
  const each = (all: object[], work: (one: object) => Promise<unknown>) =>
    Promise.all(all.map(work));
  const end = await follow({
    ...{ logs, each, interval: 1, clock: manualClock(), signal: new AbortController().signal },
    report: { lost: told('lost'), back: told('back'), gone: told('gone'), looked: () => undefined },
    onTaken: async () => undefined,
  } as never)
    .next()
    .then(
      () => 'nothing left',
      (error: Error) => error.message,
    );
  expect({ looked, end, reported }).toEqual({ looked: looks, end: how, reported: reports });
});

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
