import { describe, expect, test } from 'vitest';
import {
  A100,
  bench,
  HOUR,
  JUPYTERLAB,
  MINUTE,
  NOBODY,
  OUT_OF_STOCK,
  path,
  RETIRED_TEMPLATE,
  RTX_4090,
  row,
  rows,
  SECOND,
  UBUNTU,
  WINDOWS,
} from './support.ts';

const ED25519 =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me@box';
const BASE = { offer_id: RTX_4090, image_id: UBUNTU, instance_name: 'box-1' };

describe('the transitions of an instance', () => {
  test('creation: PROVISIONING in the answer, then ACTIVE with address and a paid hour', async () => {
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

  test('a template is installed before the machine is ACTIVE; its secrets and links are made', async () => {
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

  test('a container of the user gets its links from the ports', async () => {
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

  test('stop, start, terminate and their passing states', async () => {
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
      'CREATING>PROVISIONING',
      'PROVISIONING>ACTIVE',
      'ACTIVE>STOPPING',
      'STOPPING>STOPPED',
      'STOPPED>STARTING',
      'STARTING>ACTIVE',
      'ACTIVE>TERMINATING',
      'TERMINATING>TERMINATED',
    ]);
  });

  test('terminate works from every state that is not the end', async () => {
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

  test('reorder: offer, image and keys of a terminated machine and nothing else', async () => {
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

describe('the documented errors of instances', () => {
  test('400: start of a machine that is not STOPPED, naming the status', async () => {
    const b = await bench();
    const id = await b.createActive('runs');
    const reply = await b.call('POST', `/instances/${id}/start`);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ statusCode: 400, error: 'Bad Request' });
    expect(reply.body.message).toContain('ACTIVE');
  });

  test('400: start without any funds, naming the status; 409: too few for an hour', async () => {
    const b = await bench({ balance: '89.90' });
    const id = await b.createActive('poor');
    await b.call('POST', `/instances/${id}/stop`);
    await b.sandbox.advance(2 * SECOND);
    // A drive eats the funds: 8000 GB cost 96.00 for an hour, which is more than there is.
    await b.call('POST', '/storage/drives', { name: 'eater', size_gb: 8000 });
    await b.sandbox.advance(HOUR);
    const empty = await b.call('POST', `/instances/${id}/start`);
    expect(empty.status).toBe(400);
    expect(empty.body.message).toContain('STOPPED');

    // The debt of 96.00 is paid first, so 93.90 remain.
    await b.sandbox.deposit('100');
    const little = await b.call('POST', `/instances/${id}/start`);
    expect(little.status).toBe(200);
  });

  test('409: start when the balance does not cover the next hour', async () => {
    const b = await bench({ balance: '100' });
    const id = await b.createActive('half');
    await b.sandbox.advance(30 * MINUTE);
    await b.call('POST', `/instances/${id}/stop`);
    await b.sandbox.advance(2 * SECOND);
    const reply = await b.call('POST', `/instances/${id}/start`);
    expect(reply.status).toBe(409);
    expect(reply.body).toMatchObject({ statusCode: 409, error: 'Conflict' });
    expect(await b.statusOf(id)).toBe('STOPPED');
  });

  test('500: the provider fails a start; the funds come back and it is STOPPED', async () => {
    const b = await bench();
    const id = await b.createActive('unlucky');
    await b.call('POST', `/instances/${id}/stop`);
    await b.sandbox.advance(2 * SECOND);
    await b.sandbox.inject('fail-start');
    const before = await b.sandbox.status();
    const reply = await b.call('POST', `/instances/${id}/start`);
    expect(reply.status).toBe(500);
    expect(reply.body).toMatchObject({ statusCode: 500, error: 'Internal Server Error' });
    const after = await b.sandbox.status();
    expect(after).toMatchObject({ available: before.available, reserved: '0.00', faults: [] });
    expect(await b.statusOf(id)).toBe('STOPPED');
    expect(path(await b.events(id)).slice(-2)).toEqual(['STOPPED>STARTING', 'STARTING>STOPPED']);
    expect((await b.call('POST', `/instances/${id}/start`)).status).toBe(200);
  });

  test('400: stop of a machine that is not ACTIVE', async () => {
    const b = await bench();
    const id = await b.create('early');
    expect((await b.call('POST', `/instances/${id}/stop`)).status).toBe(400);
    await b.sandbox.advance(3 * SECOND);
    expect((await b.call('POST', `/instances/${id}/stop`)).status).toBe(200);
    const again = await b.call('POST', `/instances/${id}/stop`);
    expect(again.status).toBe(400);
    expect(again.body.message).toContain('STOPPING');
  });

  test('500: the provider fails a stop; it is ACTIVE again and the books are unchanged', async () => {
    const b = await bench();
    const id = await b.createActive('stubborn');
    await b.sandbox.advance(20 * MINUTE);
    await b.sandbox.inject('fail-stop');
    const books = await b.books();
    const before = await b.sandbox.status();
    const reply = await b.call('POST', `/instances/${id}/stop`);
    expect(reply.status).toBe(500);
    expect(reply.body).toMatchObject({ statusCode: 500, error: 'Internal Server Error' });
    expect(await b.statusOf(id)).toBe('ACTIVE');
    expect(path(await b.events(id)).slice(-2)).toEqual(['ACTIVE>STOPPING', 'STOPPING>ACTIVE']);
    expect(await b.books()).toEqual(books);
    expect(await b.sandbox.status()).toMatchObject({
      available: before.available,
      reserved: before.reserved,
    });
    // The hour goes on as if nothing had been asked.
    await b.sandbox.advance(40 * MINUTE);
    expect((await b.books()).at(-1)).toBe('USAGE_CHARGE 89.90');
  });

  test('400: terminate of a machine that is terminating or terminated', async () => {
    const b = await bench();
    const id = await b.createActive('gone');
    await b.call('POST', `/instances/${id}/terminate`);
    const first = await b.call('POST', `/instances/${id}/terminate`);
    expect([first.status, first.body.message]).toEqual([400, 'Instance is TERMINATING already']);
    await b.sandbox.advance(2 * SECOND);
    const second = await b.call('POST', `/instances/${id}/terminate`);
    expect([second.status, second.body.message]).toEqual([400, 'Instance is TERMINATED already']);
  });

  test('500: the provider fails a terminate; the status before is back and a retry works', async () => {
    const b = await bench();
    const id = await b.create('sticky');
    await b.sandbox.inject('fail-terminate');
    expect((await b.call('POST', `/instances/${id}/terminate`)).status).toBe(500);
    expect(await b.statusOf(id)).toBe('PROVISIONING');
    expect((await b.sandbox.status()).reserved).toBe('89.90');
    await b.sandbox.advance(3 * SECOND);
    expect(await b.statusOf(id)).toBe('ACTIVE');
    await b.sandbox.inject('fail-terminate');
    expect((await b.call('POST', `/instances/${id}/terminate`)).status).toBe(500);
    expect(await b.statusOf(id)).toBe('ACTIVE');
    expect((await b.call('POST', `/instances/${id}/terminate`)).status).toBe(200);
  });

  test('404 in Shape A for every operation on an instance that is not there', async () => {
    const b = await bench();
    for (const [method, end, body] of [
      ['GET', '', undefined],
      ['GET', '/events', undefined],
      ['POST', '/start', undefined],
      ['POST', '/stop', undefined],
      ['POST', '/terminate', undefined],
      ['POST', '/reorder', { new_name: 'new-one' }],
    ] as const) {
      for (const id of [NOBODY, 'not-a-uuid']) {
        const reply = await b.call(method, `/instances/${id}${end}`, body);
        expect(reply.body).toEqual({
          statusCode: 404,
          message: `Instance ${id} not found`,
          error: 'Not Found',
        });
      }
    }
  });
});

describe('what the sandbox refuses where the document is silent', () => {
  test.each([
    ['unknown offer', { offer_id: NOBODY }, 400],
    ['out of stock', { offer_id: OUT_OF_STOCK }, 409],
    ['unknown image', { image_id: NOBODY }, 400],
    ['unknown template', { template_id: NOBODY }, 400],
    ['inactive template', { template_id: RETIRED_TEMPLATE }, 400],
    ['unknown SSH key', { ssh_keys: [NOBODY] }, 400],
    ['unknown drive', { storage_drive_id: NOBODY }, 400],
    ['a container on Windows', { image_id: WINDOWS, docker_config: { image: 'nginx' } }, 400],
  ])('%s', async (_, more, status) => {
    const b = await bench();
    const reply = await b.call('POST', '/instances', { ...BASE, ...more });
    expect(reply.status).toBe(status);
    expect(await b.sandbox.status()).toMatchObject({ reserved: '0.00', instances: [] });
  });

  test('too few funds for an hour: 409 and nothing is made', async () => {
    const b = await bench({ balance: '89.89' });
    expect((await b.call('POST', '/instances', BASE)).status).toBe(409);
    expect((await b.sandbox.status()).instances).toEqual([]);
    await b.sandbox.deposit('0.01');
    expect((await b.call('POST', '/instances', BASE)).status).toBe(201);
  });

  test('a name is taken until its machine is TERMINATED', async () => {
    const b = await bench();
    const id = await b.createActive('box-1');
    expect((await b.call('POST', '/instances', BASE)).status).toBe(409);
    await b.call('POST', `/instances/${id}/terminate`);
    expect((await b.call('POST', '/instances', BASE)).status).toBe(409);
    await b.sandbox.advance(2 * SECOND);
    expect((await b.call('POST', '/instances', BASE)).status).toBe(201);
    const reply = await b.call('POST', `/instances/${id}/reorder`, { new_name: 'box-1' });
    expect(reply.status).toBe(409);
  });

  test('reorder of a machine that is not TERMINATED', async () => {
    const b = await bench();
    const id = await b.createActive('alive');
    const reply = await b.call('POST', `/instances/${id}/reorder`, { new_name: 'copy' });
    expect(reply.status).toBe(400);
    expect(reply.body.message).toContain('ACTIVE');
  });

  test('the default SSH key goes on a machine that names no keys, and only there', async () => {
    const b = await bench();
    const key = await b.call('POST', '/ssh-keys', {
      name: 'main',
      public_key: ED25519,
      is_default: true,
    });
    const keysOf = async (id: string) => rows((await b.instance(id)).ssh_keys);
    const silent = await b.create('silent');
    expect((await keysOf(silent)).map((one) => one.id)).toEqual([key.data.id]);
    const none = await b.create('none', { ssh_keys: [] });
    expect(await keysOf(none)).toEqual([]);
    const twice = await b.create('twice', {
      ssh_keys: [String(key.data.id), String(key.data.id)],
    });
    expect(await keysOf(twice)).toHaveLength(1);
  });

  test('Windows gets a password and its own user', async () => {
    const b = await bench();
    const id = await b.createActive('windows', { image_id: WINDOWS });
    const instance = await b.instance(id);
    expect(instance.ssh_username).toBe('Administrator');
    expect(row(instance.connection_info).secrets).toEqual({
      ADMINISTRATOR_PASSWORD: expect.stringMatching(/^[0-9a-f]{20}$/),
    });
  });
});

describe('faults', () => {
  test('slow provisioning takes ten minutes, once', async () => {
    const b = await bench();
    await b.sandbox.inject('slow-provisioning');
    const slow = await b.create('slow');
    const quick = await b.createActive('quick');
    expect(await b.statusOf(quick)).toBe('ACTIVE');
    await b.sandbox.advance(10 * MINUTE - 3 * SECOND - 1);
    expect(await b.statusOf(slow)).toBe('PROVISIONING');
    await b.sandbox.advance(1);
    expect(await b.statusOf(slow)).toBe('ACTIVE');
  });

  test('failed provisioning ends in ERROR with a reason, all funds back', async () => {
    const b = await bench();
    await b.sandbox.inject('fail-provisioning');
    const drive = await b.call('POST', '/storage/drives', { name: 'disk', size_gb: 10 });
    const id = await b.createActive('never', { storage_drive_id: String(drive.data.id) });
    const instance = await b.instance(id);
    expect(instance).toMatchObject({ status: 'ERROR', ip_address: null });
    expect(instance.failure_reason).toMatch(/hardware/);
    expect(await b.sandbox.status()).toMatchObject({ available: '10500.00', reserved: '0.00' });
    expect((await b.drive(String(drive.data.id))).status).toBe('SYNCING');
  });

  test('a running machine fails at once; what the hour cost is compensated', async () => {
    const b = await bench();
    const id = await b.createActive('breaks');
    await b.sandbox.advance(30 * MINUTE);
    await b.sandbox.inject('fail-running');
    expect(await b.instance(id)).toMatchObject({
      status: 'ERROR',
      failure_reason: 'The machine stopped responding',
    });
    expect((await b.books()).slice(2)).toEqual(['USAGE_CHARGE 44.95', 'REFUND 44.95']);
    expect(await b.sandbox.status()).toMatchObject({
      available: '10500.00',
      reserved: '0.00',
      faults: [],
    });
    await b.sandbox.advance(5 * HOUR);
    expect(await b.books()).toHaveLength(4);
  });

  test('without a running machine the failure waits for the next', async () => {
    const b = await bench();
    await b.sandbox.inject('fail-running');
    expect((await b.sandbox.status()).faults).toEqual(['fail-running']);
    const id = await b.createActive('doomed');
    expect(await b.statusOf(id)).toBe('ACTIVE');
    await b.sandbox.advance(10 * SECOND);
    expect(await b.statusOf(id)).toBe('ERROR');
    expect((await b.books()).slice(2)).toEqual(['USAGE_CHARGE 0.25', 'REFUND 0.25']);
  });

  test.each(['stop', 'terminate'])(
    'a failure that waits does not strike after a %s',
    async (verb) => {
      const b = await bench();
      await b.sandbox.inject('fail-running');
      const id = await b.createActive('lucky');
      await b.sandbox.advance(9 * SECOND);
      await b.call('POST', `/instances/${id}/${verb}`);
      await b.sandbox.advance(MINUTE);
      expect(await b.statusOf(id)).toBe(verb === 'stop' ? 'STOPPED' : 'TERMINATED');
    },
  );

  test('asked for twice strikes twice; cleared does not strike', async () => {
    const b = await bench();
    const id = await b.createActive('target');
    await b.sandbox.inject('fail-stop');
    await b.sandbox.inject('fail-stop');
    await b.sandbox.inject('fail-terminate');
    expect((await b.call('POST', `/instances/${id}/stop`)).status).toBe(500);
    expect((await b.call('POST', `/instances/${id}/stop`)).status).toBe(500);
    await b.sandbox.clearFaults();
    expect((await b.call('POST', `/instances/${id}/stop`)).status).toBe(200);
    expect((await b.call('POST', `/instances/${id}/terminate`)).status).toBe(200);
  });
});

describe('the log', () => {
  test('newest first, with every kind of event; pages with meta', async () => {
    const b = await bench({ balance: '89.90' });
    const id = await b.createActive('talker');
    await b.sandbox.advance(HOUR);
    const first = await b.call('GET', `/instances/${id}/events`);
    expect(first.body.meta).toEqual({ total: 8, page: 1, limit: 10, total_pages: 1 });
    const times = first.list.map((event) => String(event.created_at));
    expect(times).toEqual(times.toSorted().toReversed());
    expect(first.list[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      instance_id: id,
      type: 'STATUS_CHANGE',
      message: 'Status changed from ACTIVE to STOPPING',
      payload: { from: 'ACTIVE', to: 'STOPPING' },
      created_at: '2026-03-01T13:00:03.000Z',
    });
    const types = new Set(first.list.map((event) => event.type));
    expect(types).toEqual(new Set(['INFO', 'BILLING', 'STATUS_CHANGE', 'WARNING']));
    const active = first.list.find((event) => String(event.message).endsWith('ACTIVE'));
    expect(row(active?.payload).ip_address).toBe('203.0.113.1');

    const second = await b.call('GET', `/instances/${id}/events?page=2&limit=3`);
    expect(second.body.meta).toEqual({ total: 8, page: 2, limit: 3, total_pages: 3 });
    expect(second.list).toEqual(first.list.slice(3, 6));
    expect((await b.call('GET', `/instances/${id}/events?limit=1000`)).body.meta).toMatchObject({
      limit: 100,
    });
    expect((await b.call('GET', `/instances/${id}/events?page=99`)).list).toEqual([]);
  });

  test.each(['page=0', 'page=x', 'limit=0', 'limit=-1', 'limit=1.5'])(
    '400 for %s',
    async (query) => {
      const b = await bench();
      const id = await b.create('asked');
      expect((await b.call('GET', `/instances/${id}/events?${query}`)).status).toBe(400);
    },
  );
});
