import { beforeEach, expect, test } from 'vitest';
import { RentingService } from '../../support/renting-service.ts';
import { createWorld, type World } from '../../support/run-cli.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455550001';

let world: World;
let service: RentingService;
beforeEach(async () => {
  service = new RentingService();
  world = await createWorld({ handler: service.handler });
});

test('list and get estimate what an instance cost', async () => {
  const old = {
    status: 'TERMINATED',
    price_per_hour_snapshot: '89.90',
    created_at: '2026-01-10T00:00:00Z',
    terminated_at: '2026-01-10T02:00:00Z',
  };
  service.rent(ID, 'old', old);
  await world.cli(['instances', 'track', ID]);
  const list = await world.cli(['instances', 'list', '--all', '--json']);
  expect(JSON.parse(list.stdout)).toMatchObject([{ id: ID, cost_estimate: '179.80' }]);
  const get = await world.cli(['instances', 'get', ID, '--json']);
  expect(JSON.parse(get.stdout)).toMatchObject({ cost_estimate: '179.80' });
  const terminal = { terminal: true, columns: 120 };
  const shown = await world.cli(['instances', 'list', '--all'], terminal);
  expect(shown.stdout).toMatch(/COST ESTIMATE.*\n.*179\.80 ₽/);
  expect((await world.cli(['instances', 'get', ID], terminal)).stdout).toMatch(
    /Cost estimate: +179\.80 ₽/,
  );
});
