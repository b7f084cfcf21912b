import { expect, test } from 'vitest';
import { createWorld } from '../../support/run-cli.ts';

test('suggests instances ssh for a sandbox instance', async () => {
  const world = await createWorld({ handler: () => 'hangUp', signedIn: false });
  const env = { GPUCLOUD_PROFILE: 'sandbox' };
  const create = ['instances', 'create', 'box', '--offer', 'rtx-4090', '--image', 'ubuntu-22-04'];
  await world.cli([...create, '--wait', '--poll-interval', '500ms'], { env });
  const { stdout } = await world.cli(['status', '--json'], { env });
  const { instances, next } = JSON.parse(stdout);
  expect(instances).toMatchObject([{ status: 'ACTIVE' }]);
  expect(next.map(({ purpose }: { purpose: string }) => purpose)).toEqual([
    'connect',
    'stop paying',
    'costs',
  ]);
});
