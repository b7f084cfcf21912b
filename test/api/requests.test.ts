import { expect, test } from 'vitest';
import type { Api, CreateInstanceBody } from '../../src/api/index.ts';
import { apiFor, CREATE, closedPort, failureOf, ID } from './harness.ts';

// No server listens on this port, so a request that is sent fails as `unreachable`.
const api = async () => apiFor(await closedPort());

test.each(['', '..', '.', 'a/b', 'a?b', 'a#b', 'a b', '%2e%2e', '../users', 'a\r\nx: y', 'я'])(
  'rejects the ID %j before building a path',
  async (id) => {
    const { instances, drives, sshKeys } = await api();
    const calls = [
      instances.get(id),
      instances.start(id),
      instances.stop(id),
      instances.terminate(id),
      instances.reorder(id, { new_name: 'box' }),
      instances.events(id),
      drives.get(id),
      drives.update(id, { name: 'a', size_gb: 1 }),
      drives.resume(id),
      sshKeys.delete(id),
    ];
    for (const call of calls) {
      expect((await failureOf(call)).failure).toBe('usage');
    }
  },
);

const PORT = { internal_port: 80, external_port: 8080 };
const docker = (config: object) => ({ ...CREATE, docker_config: { image: 'a', ...config } });

test.each([
  ['offer_id is missing', { image_id: 'i', instance_name: 'box' }],
  ['instance_name breaks the rule: must be 3 to 50', { ...CREATE, instance_name: 'ab' }],
  ['price is not documented', { ...CREATE, price: 1 }],
  ['ssh_keys.0 is not of type string', { ...CREATE, ssh_keys: [1] }],
  ['docker_config.image is missing', { ...CREATE, docker_config: {} }],
  ['docker_config.shm_size_gb is less than 0.1', docker({ shm_size_gb: 0.09 })],
  ['docker_config.ports.0.internal_port is less than 1', docker({ ports: [{ internal_port: 0 }] })],
  ['docker_config.ports.0.internal_port is missing', docker({ ports: [{}] })],
  ['docker_config.ports.0.external_port', docker({ ports: [{ ...PORT, external_port: 1.5 }] })],
  [
    'docker_config.ports.0.protocol is not one of TCP, UDP',
    docker({ ports: [{ ...PORT, protocol: 'tcp' }] }),
  ],
  ['docker_config.env.0.key breaks', docker({ env: [{ key: 'A=B', value: '' }] })],
  ['docker_config.env.0.value is missing', docker({ env: [{ key: 'A' }] })],
])('reports an invalid body as a usage error: %s', async (words, body) => {
  const { instances } = await api();
  const error = await failureOf(instances.create(body as CreateInstanceBody));
  expect(error.failure).toBe('usage');
  expect(error.message).toContain(words);
});

test.each([
  ['drives.create', (a: Api) => a.drives.create({ name: 'd', size_gb: 0 })],
  ['drives.update', (a: Api) => a.drives.update('d', { name: ' ', size_gb: 1 })],
  ['apiKeys.create', (a: Api) => a.apiKeys.create({ name: 'x'.repeat(51) })],
  ['sshKeys.add', (a: Api) => a.sshKeys.add({ name: 'k', public_key: '' })],
  ['users.update', (a: Api) => a.users.update({ name: '' })],
  ['promo', (a: Api) => a.billing.activatePromo({ code: '' })],
  ['reorder', (a: Api) => a.instances.reorder(ID, { new_name: '' })],
  ['events', (a: Api) => a.instances.events(ID, { page: 0 })],
  ['transactions', (a: Api) => a.billing.transactions({ type: ['A,B'] })],
])('rejects undocumented fields and values in %s', async (_name, send) => {
  expect((await failureOf(send(await api()))).failure).toBe('usage');
});

test('omits the rejected password from the error', async () => {
  const { users } = await api();
  const body = { current_password: 'hunter2hunter2', new_password: '' };
  const error = await failureOf(users.setPassword(body));
  expect(error.failure).toBe('usage');
  expect(error.message).toBe('new_password breaks the rule: must not be empty.');
});
