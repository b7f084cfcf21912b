import { expect, test } from 'vitest';
import { createWorld } from '../../support/run-cli.ts';

test('never truncates catalog names at 80 columns, since people type them', async () => {
  const world = await createWorld({ handler: () => 'hangUp', signedIn: false });
  const env = { GPUCLOUD_PROFILE: 'sandbox' };
  const { stdout } = await world.cli(['catalog', 'list'], { env, terminal: true, columns: 80 });
  expect(stdout).toContain('  8x H100 80GB SXM5  ');
});
