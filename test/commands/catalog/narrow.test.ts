import { expect, test } from 'vitest';
import { createWorld } from '../../support/run-cli.ts';

test.each([
  [{ CI: '', GPUCLOUD_NO_INPUT: '0' }, 0],
  [{ CI: 'false', GPUCLOUD_NO_INPUT: 'false' }, 0],
  [{ GPUCLOUD_NO_INPUT: '1' }, 2],
  [{ CI: 'true' }, 2],
])('asks for a name in a terminal with %j, and exits with %i', async (env, exit) => {
  const world = await createWorld({ handler: () => 'hangUp' });
  const person = { terminal: true, stdin: 'mine\r', env };
  expect((await world.cli(['catalog', 'add', 'image', 'x'], person)).code).toBe(exit);
});

test('never truncates catalog names at 80 columns, since people type them', async () => {
  const world = await createWorld({ handler: () => 'hangUp', signedIn: false });
  const env = { GPUCLOUD_PROFILE: 'sandbox' };
  const { stdout } = await world.cli(['catalog', 'list'], { env, terminal: true, columns: 80 });
  expect(stdout).toContain('  8x H100 80GB SXM5  ');
});
