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

test('list and get show that the estimate also counts the time while it was stopped', async () => {
  const weekly = { price_per_hour_snapshot: '89.90', created_at: '2026-01-15T10:00:01Z' };
  const terminal = { terminal: true, columns: 160 };
  service.rent(ID, 'weekly', { ...weekly, status: 'STOPPED' });
  await world.cli(['instances', 'track', ID]);
  await world.cli(['instances', 'get', ID], terminal);
  const paid_until = '2026-01-15T11:00:01Z';
  service.rent(ID, 'weekly', { ...weekly, status: 'STOPPED', paid_until } as object);
  await world.cli(['instances', 'get', ID], terminal);
  await world.cli(['instances', 'list', '--all'], terminal);
  service.rent(ID, 'weekly', { ...weekly, status: 'ACTIVE' });
  await world.cli(['instances', 'get', ID], terminal);
  await world.cli(['instances', 'list', '--all'], terminal);
  expect((await world.cli(['instances', 'list'], terminal)).stdout).not.toContain('NOTE');
  for (const argv of [['list'], ['get', ID]]) {
    const { stdout } = await world.cli(['instances', ...argv, '--json']);
    expect([JSON.parse(stdout)].flat()).toMatchObject([{ id: ID, was_stopped: true }]);
  }
  const terminated_at = '2026-01-15T11:30:01Z';
  service.rent(ID, 'weekly', { ...weekly, status: 'TERMINATED', terminated_at });
  await world.cli(['instances', 'get', ID], terminal);
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
  await world.cli(['instances', 'list', '--all', '--json']);
  await world.cli(['instances', 'get', ID, '--json']);
  const terminal = { terminal: true, columns: 120 };
  await world.cli(['instances', 'list', '--all'], terminal);
  await world.cli(['instances', 'get', ID], terminal);
});
