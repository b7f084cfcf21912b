import { expect, it } from 'vitest';
import { createSandboxWorld } from '../../support/run-cli.ts';

it('lists a drive as SUSPENDED without funds, and resumes it after a promo code', async () => {
  const world = await createSandboxWorld();
  await world.sandbox.reset({ balance: '10.00' });
  await world.cli(['drives', 'create', 'data', '--size', '500GB']);
  world.clock.advance(3 * 3_600_000);

  await world.cli(['drives', 'list', '--columns', 'name,status']);

  await world.cli(['drives', 'resume', 'data']);

  expect((await world.cli(['billing', 'promo', 'WELCOME500'])).code).toBe(0);
  const resumed = await world.cli(['drives', 'resume', 'data']);
  expect(resumed.stderr).toBe('Drive data is AVAILABLE and billing: 6.00 ₽ per hour.\n');
});
