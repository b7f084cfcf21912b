import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bundle, builtBundle } from './bundle.ts';
import { FAULTS } from './proxy.ts';
import { playAll, type Scenario } from './rig.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await builtBundle();
});
afterAll(() => bundle.remove());

describe('no machine is lost', () => {
  test.each(['create', 'reorder'] as const)(
    'through any fault of the network: %s',
    async (operation) => {
      const scenarios = FAULTS.map((fault): Scenario => ({ operation, fault }));
      const { violations, played, machines } = await playAll(bundle.path, scenarios);
      expect(violations).toEqual([]);
      expect(played).toBe(FAULTS.length);
      // Of the faults, most leave the service the time to act.
      expect(machines).toBeGreaterThan(FAULTS.length / 2);
    },
    60_000,
  );
});
