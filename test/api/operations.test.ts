import { expect, onTestFinished, test } from 'vitest';
import { type StrictServer, startStrictServer } from '../support/strict-server.ts';
import { apiFor, ID, KEY } from './harness.ts';

async function strict(): Promise<StrictServer> {
  const server = await startStrictServer({ key: KEY });
  onTestFinished(() => server.close());
  return server;
}

const DOCKER = {
  image: 'nginx:1',
  run_command: 'nginx',
  shm_size_gb: 0.1,
  ports: [
    {
      internal_port: 80,
      external_port: 8080,
      protocol: 'TCP' as const,
      name: 'web',
      is_main: true,
    },
  ],
  env: [{ key: 'MODE', value: 'fast=yes' }],
  volumes: [{ container_path: '/work', host_path: '/data' }],
};

test('all 23 operations are sent exactly as documented', async () => {
  const server = await strict();
  const api = apiFor(server.url);
  const full = {
    offer_id: 'offer-1',
    image_id: 'image-1',
    instance_name: 'box-1',
    ssh_keys: ['key-1'],
    template_id: 'template-1',
    storage_drive_id: 'drive-1',
    docker_config: DOCKER,
  };

  const key = await api.apiKeys.create({ name: 'ci' });
  await api.apiKeys.list();
  const created = await api.instances.create(full);
  await api.instances.reorder(ID, { new_name: 'box-2' });
  await api.instances.get(ID);
  const started = await api.instances.start(ID);
  const stopped = await api.instances.stop(ID);
  const terminated = await api.instances.terminate(ID);
  const events = await api.instances.events(ID, { page: 2, limit: 5 });
  await api.templates.list();
  await api.drives.create({ name: 'data', size_gb: 100 });
  await api.drives.list();
  await api.drives.get('drive-1');
  const renamed = await api.drives.update('drive-1', { name: 'new', size_gb: 200 });
  await api.drives.resume('drive-1');
  await api.sshKeys.add({ name: 'laptop', public_key: 'ssh-ed25519 AAAA', is_default: true });
  await api.sshKeys.list();
  await api.sshKeys.delete('key-1');
  await api.users.me();
  await api.users.update({ name: 'Анна' });
  await api.users.setPassword({ current_password: 'old-one', new_password: 'new-one' });
  const bonus = await api.billing.activatePromo({ code: 'SPRING' });
  const transactions = await api.billing.transactions({
    page: 1,
    limit: 100,
    type: ['DEPOSIT', 'USAGE_CHARGE'],
  });

  expect(server.complaints).toEqual([]);
  expect(
    server.requests.map(({ method, path, query, body }) => [method, path, query, body]),
  ).toEqual([
    ['POST', '/api-keys', {}, { name: 'ci' }],
    ['GET', '/api-keys', {}, undefined],
    ['POST', '/instances', {}, full],
    ['POST', `/instances/${ID}/reorder`, {}, { new_name: 'box-2' }],
    ['GET', `/instances/${ID}`, {}, undefined],
    ['POST', `/instances/${ID}/start`, {}, undefined],
    ['POST', `/instances/${ID}/stop`, {}, undefined],
    ['POST', `/instances/${ID}/terminate`, {}, undefined],
    ['GET', `/instances/${ID}/events`, { page: '2', limit: '5' }, undefined],
    ['GET', '/templates', {}, undefined],
    ['POST', '/storage/drives', {}, { name: 'data', size_gb: 100 }],
    ['GET', '/storage/drives', {}, undefined],
    ['GET', '/storage/drives/drive-1', {}, undefined],
    ['PATCH', '/storage/drives/drive-1', {}, { name: 'new', size_gb: 200 }],
    ['POST', '/storage/drives/drive-1/resume', {}, {}],
    ['POST', '/ssh-keys', {}, { name: 'laptop', public_key: 'ssh-ed25519 AAAA', is_default: true }],
    ['GET', '/ssh-keys', {}, undefined],
    ['DELETE', '/ssh-keys/key-1', {}, undefined],
    ['GET', '/users/me', {}, undefined],
    ['PATCH', '/users/me', {}, { name: 'Анна' }],
    [
      'POST',
      '/users/me/update-password',
      {},
      { current_password: 'old-one', new_password: 'new-one' },
    ],
    ['POST', '/billing/promo/activate', {}, { code: 'SPRING' }],
    [
      'GET',
      '/billing/transactions',
      { page: '1', limit: '100', type: 'DEPOSIT,USAGE_CHARGE' },
      undefined,
    ],
  ]);
  for (const { headers } of server.requests) {
    expect(headers['user-agent']).toBe('gpucloud/test');
    expect(headers['accept-encoding']).toBe('identity');
  }
  expect(key.secret_key).toBe('svc_sk_live_abcdef');
  expect(created.status).toBe('PROVISIONING');
  expect(started).toEqual({ status: 'STARTING', paid_until: expect.any(String) });
  expect([stopped, terminated]).toEqual([{ status: 'STOPPING' }, { status: 'TERMINATING' }]);
  expect(events.meta).toEqual({ total: 1, page: 2, limit: 5, total_pages: 1 });
  expect(renamed).toMatchObject({ name: 'new', size_gb: 200 });
  expect(bonus).toEqual({ added_amount: '500.00', new_balance: '2000.00' });
  expect(transactions.data[0]?.amount).toBe('1500.00');
});

test('a query holds only what was given', async () => {
  const server = await strict();
  const api = apiFor(server.url);
  await api.instances.events(ID);
  await api.billing.transactions();
  await api.billing.transactions({ type: [] });
  await api.billing.transactions({ type: ['BONUS'] });
  expect(server.complaints).toEqual([]);
  expect(server.requests.map(({ query }) => query)).toEqual([{}, {}, {}, { type: 'BONUS' }]);
});

test('a base URL with a path keeps it', async () => {
  const server = await strict();
  await apiFor(`${server.url}/api/v1`)
    .users.me()
    .catch(() => undefined);
  expect(server.requests[0]?.path).toBe('/api/v1/users/me');
});

test.each([
  ['an unknown operation', 'GET', '/instances', {}, undefined, 'no such operation'],
  ['reboot', 'POST', `/instances/${ID}/reboot`, {}, undefined, 'no such operation'],
  ['an id that is no UUID', 'GET', '/instances/box', {}, undefined, 'no such operation'],
  ['another key', 'GET', '/users/me', { 'x-api-key': 'other' }, undefined, 'X-API-KEY'],
  ['another Accept', 'GET', '/users/me', { accept: '*/*' }, undefined, 'Accept'],
  ['a body for start', 'POST', `/instances/${ID}/start`, {}, '{}', 'there is a body'],
  ['no body for resume', 'POST', '/storage/drives/d/resume', {}, undefined, 'there is no body'],
  ['a field too many', 'POST', '/api-keys', {}, '{"name":"a","x":1}', 'x is not documented'],
  ['a field too few', 'PATCH', '/storage/drives/d', {}, '{"name":"a"}', 'size_gb is missing'],
  ['a wrong type', 'POST', '/api-keys', {}, '{"name":1}', 'name is wrong'],
  ['an undocumented query', 'GET', '/templates?page=1', {}, undefined, 'the query has page'],
  ['page 0', 'GET', '/billing/transactions?page=0', {}, undefined, 'page=0'],
])('the strict server complains about %s', async (_what, method, path, headers, body, words) => {
  const server = await strict();
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: {
      'x-api-key': KEY,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  expect(response.status).toBe(400);
  expect(server.complaints).toHaveLength(1);
  expect(server.complaints[0]).toContain(words);
});
