import { describe, expect, test } from 'vitest';
import { A100, bench, JUPYTERLAB, path, RTX_4090, row, rows, SECOND, UBUNTU } from './support.ts';

const ED25519 =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me@box';
const BASE = { offer_id: RTX_4090, image_id: UBUNTU, instance_name: 'box-1' };

describe('a sandbox instance', () => {
  test('changes an instance from PROVISIONING to ACTIVE with an address and a paid hour', async () => {
    const b = await bench();
    const created = await b.call('POST', '/instances', BASE);
    expect(created.status).toBe(201);
    expect(created.data).toMatchObject({
      status: 'PROVISIONING',
      price_per_hour_snapshot: '89.90',
      ip_address: null,
      external_id: null,
      connection_info: null,
      started_at: null,
      paid_until: null,
      storage_drive: null,
      application_template: null,
    });
    expect(await b.sandbox.status()).toMatchObject({
      available: '10410.10',
      reserved: '89.90',
      balance: '10500.00',
    });

    await b.sandbox.advance(3 * SECOND - 1);
    expect(await b.statusOf(String(created.data.id))).toBe('PROVISIONING');
    await b.sandbox.advance(1);
    expect(await b.instance(String(created.data.id))).toMatchObject({
      status: 'ACTIVE',
      ip_address: '203.0.113.1',
      external_id: 'sandbox-000001',
      started_at: '2026-03-01T12:00:03.000Z',
      paid_until: '2026-03-01T13:00:03.000Z',
      connection_info: { type: 'os_only', secrets: {}, endpoints: [] },
    });
  });

  test('installs a template before ACTIVE and creates its secrets and links', async () => {
    const b = await bench();
    const id = await b.create('notebook', { template_id: JUPYTERLAB });
    await b.sandbox.advance(3 * SECOND);
    expect(await b.statusOf(id)).toBe('INSTALLING');
    await b.sandbox.advance(3 * SECOND);
    const instance = await b.instance(id);
    expect(instance.status).toBe('ACTIVE');
    expect(row(instance.application_template).slug).toBe('jupyterlab');
    const connection = row(instance.connection_info);
    expect(connection.type).toBe('template');
    const token = row(connection.secrets).JUPYTER_TOKEN;
    expect(token).toMatch(/^[0-9a-f]{48}$/);
    expect(rows(connection.endpoints)[0]).toMatchObject({
      name: 'JupyterLab',
      is_main: true,
      url: `http://203.0.113.1:8888/lab?token=${token}`,
    });
    expect(path(await b.events(id))).toEqual([
      'CREATING>PROVISIONING',
      'PROVISIONING>INSTALLING',
      'INSTALLING>ACTIVE',
    ]);
  });

  test("shows a container's links for its ports", async () => {
    const b = await bench();
    const docker_config = {
      image: 'nginx',
      shm_size_gb: 0.1,
      ports: [
        { internal_port: 80, external_port: 8080, name: 'web', is_main: true },
        { internal_port: 53, protocol: 'UDP' },
      ],
      env: [{ key: 'A_1', value: '' }],
      volumes: [{ host_path: '/a', container_path: '/b' }],
    };
    const id = await b.createActive('container', { docker_config });
    const instance = await b.instance(id);
    await b.createActive('outer', {
      docker_config: { image: 'a', ports: [{ external_port: 80 }] },
    });
    expect(instance.docker_config).toEqual(docker_config);
    expect(instance.connection_info).toEqual({
      type: 'custom_docker',
      secrets: {},
      endpoints: [
        {
          name: 'web',
          internal_port: 80,
          external_port: 8080,
          protocol: 'TCP',
          is_main: true,
          url: 'http://203.0.113.1:8080',
        },
        {
          name: null,
          internal_port: 53,
          external_port: 53,
          protocol: 'UDP',
          is_main: false,
          url: 'udp://203.0.113.1:53',
        },
      ],
    });
  });

  test('sets each intermediate status in stop, start and terminate', async () => {
    const b = await bench();
    const id = await b.createActive('cycle');
    const stopped = await b.call('POST', `/instances/${id}/stop`);
    expect(stopped.body).toEqual({ status: 'success', code: 200, data: { status: 'STOPPING' } });
    await b.sandbox.advance(2 * SECOND);
    expect(await b.statusOf(id)).toBe('STOPPED');

    const started = await b.call('POST', `/instances/${id}/start`);
    expect(started.body).toEqual({
      status: 'success',
      code: 200,
      data: { status: 'STARTING', paid_until: '2026-03-01T13:00:05.000Z' },
    });
    expect((await b.sandbox.status()).reserved).toBe('89.90');
    await b.sandbox.advance(2 * SECOND);
    expect(await b.statusOf(id)).toBe('ACTIVE');

    const terminated = await b.call('POST', `/instances/${id}/terminate`);
    expect(terminated.body).toEqual({
      status: 'success',
      code: 200,
      data: { status: 'TERMINATING' },
    });
    await b.sandbox.advance(2 * SECOND);
    expect(await b.instance(id)).toMatchObject({
      status: 'TERMINATED',
      terminated_at: '2026-03-01T12:00:09.000Z',
      ip_address: null,
      connection_info: null,
    });
    expect(path(await b.events(id))).toEqual([
      ...['CREATING>PROVISIONING', 'PROVISIONING>ACTIVE', 'ACTIVE>STOPPING', 'STOPPING>STOPPED'],
      ...['STOPPED>STARTING', 'STARTING>ACTIVE', 'ACTIVE>TERMINATING', 'TERMINATING>TERMINATED'],
    ]);
  });

  test("accepts a terminate while an instance's status is changing and in ERROR", async () => {
    const b = await bench();
    const provisioning = await b.create('in-provisioning');
    expect((await b.call('POST', `/instances/${provisioning}/terminate`)).status).toBe(200);
    expect(await b.books()).toEqual(['DEPOSIT 10000.00', 'BONUS 500.00']);
    expect((await b.sandbox.status()).available).toBe('10500.00');

    const stopping = await b.createActive('in-stopping');
    await b.call('POST', `/instances/${stopping}/stop`);
    expect((await b.call('POST', `/instances/${stopping}/terminate`)).status).toBe(200);

    const starting = await b.createActive('in-starting');
    await b.call('POST', `/instances/${starting}/stop`);
    await b.sandbox.advance(2 * SECOND);
    await b.call('POST', `/instances/${starting}/start`);
    expect((await b.call('POST', `/instances/${starting}/terminate`)).status).toBe(200);

    const installing = await b.create('in-installing', { template_id: JUPYTERLAB });
    await b.sandbox.advance(3 * SECOND);
    expect((await b.call('POST', `/instances/${installing}/terminate`)).status).toBe(200);

    await b.sandbox.inject('fail-provisioning');
    const error = await b.createActive('in-error');
    expect(await b.statusOf(error)).toBe('ERROR');
    expect((await b.call('POST', `/instances/${error}/terminate`)).status).toBe(200);

    await b.sandbox.advance(2 * SECOND);
    for (const id of [provisioning, stopping, starting, installing, error]) {
      expect(await b.statusOf(id)).toBe('TERMINATED');
    }
    expect((await b.sandbox.status()).reserved).toBe('0.00');
  });

  test('copies only the offer, image and SSH keys in a reorder', async () => {
    const b = await bench();
    const key = await b.call('POST', '/ssh-keys', { name: 'kept', public_key: ED25519 });
    const drive = await b.call('POST', '/storage/drives', { name: 'disk', size_gb: 10 });
    const source = await b.createActive('source', {
      offer_id: A100,
      ssh_keys: [String(key.data.id)],
      template_id: JUPYTERLAB,
      storage_drive_id: String(drive.data.id),
    });
    await b.call('POST', `/instances/${source}/terminate`);
    await b.sandbox.advance(2 * SECOND);

    const reply = await b.call('POST', `/instances/${source}/reorder`, { new_name: 'again' });
    expect(reply.status).toBe(201);
    expect(reply.data).toMatchObject({
      name: 'again',
      status: 'PROVISIONING',
      application_template: null,
      docker_config: null,
      offer: { id: A100 },
      base_image: { id: UBUNTU },
      ssh_keys: [{ name: 'kept' }],
    });
    expect(reply.data).not.toHaveProperty('storage_drive');
    expect(reply.data.id).not.toBe(source);

    await b.call('DELETE', `/ssh-keys/${key.data.id}`);
    const later = await b.call('POST', `/instances/${source}/reorder`, { new_name: 'without-key' });
    expect(later.data.ssh_keys).toEqual([]);
    expect(rows((await b.instance(source)).ssh_keys)[0]?.name).toBe('kept');
  });
});
