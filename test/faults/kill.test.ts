import { describe, expect, test } from 'vitest';
import { PROGRAM } from '../support/program.ts';
import { FILE_KILLS, NETWORK_KILLS } from './kills.ts';
import { NO_FAULT } from './proxy.ts';
import { playAll, type Scenario } from './rig.ts';

/**
 * Tests kills without a fault. kill-matrix.test.ts adds network faults and kills before disk calls.
 */
describe('kill -9', () => {
  test('never loses an instance if killed at each network step', async () => {
    const bare = NETWORK_KILLS.map((kill, at): Scenario => {
      return { operation: at % 2 === 0 ? 'create' : 'reorder', fault: NO_FAULT, kill };
    });
    const { violations, killed } = await playAll(PROGRAM, bare);
    expect(violations).toEqual([]);
    // Without a fault, the program reaches every point.
    expect(killed).toBe(bare.length);
  }, 180_000);

  test('never loses an instance if killed when a journal file appears', async () => {
    const kills = FILE_KILLS.map(
      (kill): Scenario => ({ operation: 'create', fault: NO_FAULT, kill }),
    );
    const { violations, killed } = await playAll(PROGRAM, kills);
    expect(violations).toEqual([]);
    expect(killed).toBeGreaterThan(0);
  }, 180_000);
});
