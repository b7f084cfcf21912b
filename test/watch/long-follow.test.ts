import { setFlagsFromString } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { createCursor } from '../../src/watch/cursor.ts';
import { SOAK } from '../faults/tools.ts';
import { runs } from '../support/random.ts';

const EVENTS = SOAK ? 100_000 : runs(25_000, 10_000);
setFlagsFromString('--expose-gc');
describe('a follower of a long log', () => {
  test('holds at most 2,000 IDs in a cursor', () => {
    const cursor = createCursor();
    for (let number = 0; number < EVENTS; number += 1) {
      cursor.learn([{ id: `e${number}`, time: number }]);
    }
    expect(cursor.size).toBeLessThanOrEqual(2_000);
    expect(JSON.stringify(cursor.saved()).length).toBeLessThan(64 * 1024);
  });
});
