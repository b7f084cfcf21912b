import { beforeEach, expect, test } from 'vitest';
import { NEW, RentingService } from '../../support/renting-service.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { no } from '../../support/service.ts';
import { errorOf } from '../../support/stderr-lines.ts';

const OTHER = '3f0c5d9e-1111-4222-8333-444455550000';

let world: World;
let service: RentingService;

beforeEach(async () => {
  service = new RentingService();
  world = await createWorld({ handler: service.handler });
  const { code, stderr } = await world.cli(['instances', 'create', 'box', ...HARDWARE]);
  expect(code, stderr).toBe(0);
});

test('an instance that was not terminated may bill although the service does not find it', async () => {
  service.instances.clear();
  await world.cli(['instances', 'get', 'box']);
});

test.each([
  [['instances', 'get', 'box'], 3],
  [['instances', 'get', 'box', NEW.toUpperCase()], 3],
  [['instances', 'events', 'box'], 3],
  [['instances', 'endpoints', 'box'], 3],
])('%j marks such an instance in JSON', async (argv, _exit) => {
  service.instances.clear();
  service.events = () => no(404, 'Instance not found');
  await world.cli([...argv, '--json']);
});

test('marks an instance that could not be read', async () => {
  service.failing.add(`/instances/${NEW}`);
  const { stderr } = await world.cli(['instances', 'get', 'box', '--json']);
  const { message, may_be_billing } = errorOf(stderr);
  expect(message).not.toContain('billing');
  expect(may_be_billing).toBe(true);
});

test.each(['TERMINATING', 'TERMINATED'])('marks no instance last read as %s', async (status) => {
  const instance = service.instances.get(NEW);
  if (instance) service.instances.set(NEW, { ...instance, status });
  expect((await world.cli(['instances', 'get', 'box'])).code).toBe(0);
  service.instances.clear();
  const { code, stderr } = await world.cli(['instances', 'get', NEW, '--json']);
  expect({ code, bills: errorOf(stderr).may_be_billing }).toEqual({ code: 3, bills: false });
});

test('marks no instance that this computer never read', async () => {
  const { code, stderr } = await world.cli(['instances', 'get', OTHER, '--json']);
  expect({ code, bills: errorOf(stderr).may_be_billing }).toEqual({ code: 3, bills: false });
});

test('hints at the base URL if the service has never shown an account', async () => {
  const env = { GPUCLOUD_API_KEY: 'svc_sk_test_never_used_0001' };
  await world.cli(['instances', 'get', OTHER], { env });
});
