import { describe, expect, test } from 'vitest';
import { has, needs } from '../support/needs.ts';
import { PROGRAM } from '../support/program.ts';
import { randomNumbers } from '../support/random.ts';
import { ANY_CALLS, diskKills, FILE_KILLS, NETWORK_KILLS } from './kills.ts';
import { FAULTS, NO_FAULT } from './proxy.ts';
import { type Kill, playAll, type Scenario } from './rig.ts';
import { countOf, record, SOAK, sample } from './tools.ts';

const OPERATIONS = ['create', 'reorder'] as const;
const HOUR = 3_600_000;
const random = randomNumbers();
/** Limits the samples per operation: all disk calls with all faults would be thousands. */
const MOST_DISK_CALLS = 200;

/** Returns the whole matrix in the soak, and `some` combinations otherwise. */
function matrix(
  kills: readonly Kill[],
  some: number,
  operations: readonly Scenario['operation'][] = OPERATIONS,
  most = Number.POSITIVE_INFINITY,
): readonly Scenario[] {
  const all = operations.flatMap((operation) =>
    FAULTS.flatMap((fault) => kills.map((kill): Scenario => ({ operation, fault, kill }))),
  );
  const soaked = Math.min(most, all.length);
  return sample(all, SOAK ? countOf('GPUCLOUD_SOAK_MATRIX', soaked) : some);
}

describe('kill -9', () => {
  test(
    'never loses an instance if killed at any network step, with any fault',
    async (context) => {
      const { violations, killed, played } = await playAll(PROGRAM, matrix(NETWORK_KILLS, 12));
      record(context, { what: 'kills at network points, with each fault', played, killed });
      expect(violations).toEqual([]);
      expect(killed).toBeGreaterThan(0);
    },
    HOUR,
  );

  test(
    'never loses an instance if killed when a journal file appears, with any fault',
    async (context) => {
      const { violations, killed, played } = await playAll(PROGRAM, matrix(FILE_KILLS, 8));
      record(context, {
        what: 'kills when a journal file appears, with each fault',
        played,
        killed,
      });
      expect(violations).toEqual([]);
      expect(killed).toBeGreaterThan(0);
    },
    HOUR,
  );

  test.for(OPERATIONS)(
    'never loses an instance if killed before a disk call: %s',
    { timeout: HOUR, ...needs('strace') },
    async (operation, context) => {
      const first = await diskKills(PROGRAM, operation, 'first');
      // Covers the folders, the request, its outcome, the instance and the removal of the request.
      expect(first.length).toBeGreaterThan(25);
      const bare = first.map((kill): Scenario => ({ operation, fault: NO_FAULT, kill }));
      const chosen = SOAK ? bare : sample(bare, 8);
      const { violations, killed, played } = await playAll(PROGRAM, chosen, { each: 1 });
      record(context, {
        what: `kills before each disk call on a new computer: ${operation}`,
        played,
        killed,
      });
      expect(violations).toEqual([]);
      expect(killed).toBe(played);
    },
  );

  test('never loses an instance if killed before any disk call, with any fault', {
    timeout: HOUR,
    ...needs('strace'),
  }, async (context) => {
    // A later request creates no folders, and the operations make different calls.
    const scenarios: Scenario[] = [];
    for (const operation of OPERATIONS) {
      const later = await diskKills(PROGRAM, operation, 'later');
      scenarios.push(...matrix(later, 6, [operation], MOST_DISK_CALLS));
    }
    const { violations, killed, played } = await playAll(PROGRAM, scenarios);
    record(context, {
      what: 'kills before each disk call, with each fault (sampled)',
      played,
      killed,
    });
    expect(violations).toEqual([]);
    // After a network failure, the later calls never happen.
    expect(killed).toBeGreaterThan(played / 4);
  });

  test(
    'never loses an instance if killed at random moments',
    async (context) => {
      const count = SOAK ? countOf('GPUCLOUD_SOAK_KILLS', 2000) : 10;
      const scenarios = Array.from({ length: count }, (_, at): Scenario => {
        const isCall = has('strace') && at % 2 === 0;
        return {
          operation: pick(OPERATIONS),
          fault: random() < 0.5 ? NO_FAULT : pick(FAULTS),
          kill: isCall
            ? { call: pick(ANY_CALLS), nth: 1 + Math.floor(random() ** 2 * 60) }
            : { afterMs: 80 + random() * 400 },
        };
      });
      const { violations, killed, played } = await playAll(PROGRAM, scenarios);
      record(context, { what: 'kills at random', played, killed });
      expect(violations).toEqual([]);
      expect(played).toBe(count);
    },
    HOUR,
  );
});

function pick<T>(items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}
