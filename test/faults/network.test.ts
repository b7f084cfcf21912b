import { describe, expect, test } from 'vitest';
import { PROGRAM } from '../support/program.ts';
import { some } from '../support/random.ts';
import { FAULTS } from './proxy.ts';
import { playAll, type Scenario } from './rig.ts';
import { SOAK } from './tools.ts';

describe('every rental', () => {
  test('never loses an instance after any network fault', async () => {
    const scenarios = some(
      FAULTS.flatMap((fault, at): Scenario[] => {
        const both = (['create', 'reorder'] as const).map((operation) => ({ operation, fault }));
        return SOAK ? both : both.slice(at % 2, (at % 2) + 1);
      }),
    );
    const { violations, played, instances } = await playAll(PROGRAM, scenarios);
    expect(violations).toEqual([]);
    expect(played).toBe(scenarios.length);
    // Some faults stop the request before the service, so fewer instances exist.
    expect(instances).toBeGreaterThan(played / 3);
  }, 300_000);
});
