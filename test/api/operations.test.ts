import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type DescribedService, describedService } from '../openapi/described-service.ts';
import { type Checker, createChecker } from '../openapi/description.ts';
import { INSTANCE_ID as ID, SSH_KEY_ID, samples } from '../openapi/samples.ts';
import { type RecordedRequest, type Service, startService } from '../support/service.ts';
import { apiFor, KEY } from './harness.ts';

let checker: Checker;
beforeAll(async () => {
  checker = await createChecker();
});

/** Starts a service that checks requests against the OpenAPI description. */
async function described(): Promise<Service & Pick<DescribedService, 'complaints'>> {
  const { handler, complaints } = describedService(checker, samples());
  const service = await startService(handler);
  onTestFinished(() => service.close());
  return { ...service, complaints };
}

function partsOf({ method, path, body }: RecordedRequest) {
  const { pathname, searchParams } = new URL(path, 'http://service');
  return [method, pathname, Object.fromEntries(searchParams), body] as const;
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

test('sends all 23 operations exactly as documented', async () => {
  const sample = samples();
  const server = await described();
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
  const stopped = await api.instances.stop(ID);
  const started = await api.instances.start(ID);
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
  await api.sshKeys.delete(SSH_KEY_ID);
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
  expect(server.requests.map(partsOf)).toEqual([
    ['POST', '/api-keys', {}, { name: 'ci' }],
    ['GET', '/api-keys', {}, undefined],
    ['POST', '/instances', {}, full],
    ['POST', `/instances/${ID}/reorder`, {}, { new_name: 'box-2' }],
    ['GET', `/instances/${ID}`, {}, undefined],
    ['POST', `/instances/${ID}/stop`, {}, undefined],
    ['POST', `/instances/${ID}/start`, {}, undefined],
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
    ['DELETE', `/ssh-keys/${SSH_KEY_ID}`, {}, undefined],
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
  for (const { headers, body } of server.requests) {
    const { connection: _connection, 'content-length': _length, ...rest } = headers;
    expect(rest).toEqual({
      accept: 'application/json',
      'accept-encoding': 'identity',
      host: new URL(server.url).host,
      'user-agent': 'gpucloud/test',
      'x-api-key': KEY,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    });
  }
  expect(key.secret_key).toBe(sample.createdApiKey.secret_key);
  expect(created.status).toBe('PROVISIONING');
  expect(started).toEqual({ status: 'STARTING', paid_until: expect.any(String) });
  expect([stopped, terminated]).toEqual([{ status: 'STOPPING' }, { status: 'TERMINATING' }]);
  expect(events.meta).toEqual({ total: 1, isCounted: true, page: 2, limit: 5, total_pages: 1 });
  expect(renamed).toMatchObject({ name: 'datasets-sample', size_gb: 4401 });
  expect(bonus).toEqual(sample.bonus);
  expect(transactions.data[0]?.amount).toBe('250.55');
});

test('sends only the given query parameters', async () => {
  const server = await described();
  const api = apiFor(server.url);
  await api.instances.events(ID);
  await api.billing.transactions();
  await api.billing.transactions({ type: [] });
  await api.billing.transactions({ type: ['BONUS'] });
  expect(server.complaints).toEqual([]);
  expect(server.requests.map(partsOf).map(([, , query]) => query)).toEqual([
    {},
    {},
    {},
    { type: 'BONUS' },
  ]);
});

test('keeps the path of the base URL', async () => {
  const server = await described();
  await apiFor(`${server.url}/api/v1`)
    .users.me()
    .catch(() => undefined);
  expect(server.requests[0]?.path).toBe('/api/v1/users/me');
});
