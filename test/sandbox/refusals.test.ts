import { describe, expect, test } from 'vitest';
import {
  bench,
  HOUR,
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
const OTHER = ED25519.replace('MEBQYHCAkK', 'MEBQYHCAkL');
const BASE = { offer_id: RTX_4090, image_id: UBUNTU, instance_name: 'box-1' };

describe('documented errors of instances', () => {
  test('responds with 400 and the status to a start of an ACTIVE instance', async () => {
    const b = await bench();
    const id = await b.createActive('runs');
    expect((await b.call('POST', `/instances/${id}/start`)).body).toEqual({
      statusCode: 400,
      message: 'Instance is ACTIVE; only a STOPPED instance can be started',
      error: 'Bad Request',
    });
  });

  test('responds with 400 to a start in debt, and with 200 after a deposit', async () => {
    const b = await bench({ balance: '89.90' });
    const id = await b.createActive('poor');
    await b.call('POST', `/instances/${id}/stop`);
    await b.sandbox.advance(2 * SECOND);
    // A drive of 8000 GB costs 96.00 per hour, more than the balance, so the account is in debt.
    await b.call('POST', '/storage/drives', { name: 'eater', size_gb: 8000 });
    await b.sandbox.advance(HOUR);
    await b.call('POST', `/instances/${id}/start`);
    // The debt of 96.00 is paid first, so 93.90 remain.
    await b.sandbox.deposit('100');
    expect((await b.call('POST', `/instances/${id}/start`)).status).toBe(200);
  });

  test('responds with 409 to a start if the balance does not cover the next hour', async () => {
    const b = await bench({ balance: '100' });
    const id = await b.createActive('half');
    await b.sandbox.advance(30 * MINUTE);
    await b.call('POST', `/instances/${id}/stop`);
    await b.sandbox.advance(2 * SECOND);
    const { body } = await b.call('POST', `/instances/${id}/start`);
    expect(body).toMatchObject({ statusCode: 409, error: 'Conflict' });
    expect(await b.statusOf(id)).toBe('STOPPED');
  });

  test('responds with 500 to a failed start and returns the reserved funds', async () => {
    const b = await bench();
    const id = await b.createActive('unlucky');
    await b.call('POST', `/instances/${id}/stop`);
    await b.sandbox.advance(2 * SECOND);
    await b.sandbox.inject('fail-start');
    const before = await b.sandbox.status();
    const { body } = await b.call('POST', `/instances/${id}/start`);
    expect(body).toMatchObject({ statusCode: 500, error: 'Internal Server Error' });
    const after = await b.sandbox.status();
    expect(after).toMatchObject({ available: before.available, reserved: '0.00', faults: [] });
    expect(await b.statusOf(id)).toBe('STOPPED');
    expect(path(await b.events(id)).slice(-2)).toEqual(['STOPPED>STARTING', 'STARTING>STOPPED']);
    expect((await b.call('POST', `/instances/${id}/start`)).status).toBe(200);
  });

  test('responds with 400 to a stop of an instance that is not ACTIVE', async () => {
    const b = await bench();
    const id = await b.create('early');
    await b.call('POST', `/instances/${id}/stop`);
    await b.sandbox.advance(3 * SECOND);
    expect((await b.call('POST', `/instances/${id}/stop`)).status).toBe(200);
    await b.call('POST', `/instances/${id}/stop`);
  });

  test('responds with 500 to a failed stop and leaves the instance ACTIVE', async () => {
    const b = await bench();
    const id = await b.createActive('stubborn');
    await b.sandbox.advance(20 * MINUTE);
    await b.sandbox.inject('fail-stop');
    const books = await b.books();
    const before = await b.sandbox.status();
    await b.call('POST', `/instances/${id}/stop`);
    expect(await b.statusOf(id)).toBe('ACTIVE');
    expect(path(await b.events(id)).slice(-2)).toEqual(['ACTIVE>STOPPING', 'STOPPING>ACTIVE']);
    expect(await b.books()).toEqual(books);
    expect(await b.sandbox.status()).toMatchObject({
      available: before.available,
      reserved: before.reserved,
    });
    // The hour continues as if there had been no request.
    await b.sandbox.advance(40 * MINUTE);
    expect((await b.books()).at(-1)).toBe('USAGE_CHARGE 89.90');
  });

  test('responds with 400 to a terminate of a TERMINATING or TERMINATED instance', async () => {
    const b = await bench();
    const id = await b.createActive('gone');
    for (const pause of [0, 0, 2 * SECOND]) {
      await b.sandbox.advance(pause);
      await b.call('POST', `/instances/${id}/terminate`);
    }
    expect(await b.statusOf(id)).toBe('TERMINATED');
  });

  test('responds with 500 to a failed terminate and accepts a retry', async () => {
    const b = await bench();
    const id = await b.create('sticky');
    await b.sandbox.inject('fail-terminate');
    await b.call('POST', `/instances/${id}/terminate`);
    expect(await b.statusOf(id)).toBe('PROVISIONING');
    expect((await b.sandbox.status()).reserved).toBe('89.90');
    await b.sandbox.advance(3 * SECOND);
    expect(await b.statusOf(id)).toBe('ACTIVE');
    await b.sandbox.inject('fail-terminate');
    await b.call('POST', `/instances/${id}/terminate`);
    expect(await b.statusOf(id)).toBe('ACTIVE');
    expect((await b.call('POST', `/instances/${id}/terminate`)).status).toBe(200);
  });

  test('responds with 404 in Shape A to every operation on an unknown instance', async () => {
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

describe('undocumented errors and defaults of the sandbox', () => {
  test.each([
    ['unknown offer', { offer_id: NOBODY }],
    ['out of stock', { offer_id: OUT_OF_STOCK }],
    ['unknown image', { image_id: NOBODY }],
    ['unknown template', { template_id: NOBODY }],
    ['inactive template', { template_id: RETIRED_TEMPLATE }],
    ['unknown SSH key', { ssh_keys: [NOBODY] }],
    ['unknown drive', { storage_drive_id: NOBODY }],
    ['a container on Windows', { image_id: WINDOWS, docker_config: { image: 'nginx' } }],
  ])('rejects a sandbox create: %s', async (_, more) => {
    const b = await bench();
    await b.call('POST', '/instances', { ...BASE, ...more });
    expect(await b.sandbox.status()).toMatchObject({ reserved: '0.00', instances: [] });
  });

  test("responds with 409 and creates nothing if funds don't cover an hour", async () => {
    const b = await bench({ balance: '89.89' });
    await b.call('POST', '/instances', BASE);
    expect((await b.sandbox.status()).instances).toEqual([]);
    await b.sandbox.deposit('0.01');
    expect((await b.call('POST', '/instances', BASE)).status).toBe(201);
  });

  test('reserves a name until its instance is TERMINATED', async () => {
    const b = await bench();
    const id = await b.createActive('box-1');
    await b.call('POST', '/instances', BASE);
    await b.call('POST', `/instances/${id}/terminate`);
    await b.call('POST', '/instances', BASE);
    await b.sandbox.advance(2 * SECOND);
    expect((await b.call('POST', '/instances', BASE)).status).toBe(201);
    await b.call('POST', `/instances/${id}/reorder`, { new_name: 'box-1' });
  });

  test('rejects a reorder of an instance that is not TERMINATED', async () => {
    const b = await bench();
    await b.call('POST', `/instances/${await b.createActive('alive')}/reorder`, {
      new_name: 'copy',
    });
    expect((await b.sandbox.status()).instances).toHaveLength(1);
  });

  test('adds the default SSH key only if a create omits ssh_keys', async () => {
    const b = await bench();
    const key = await b.call('POST', '/ssh-keys', {
      name: 'main',
      public_key: ED25519,
      is_default: true,
    });
    await b.call('POST', '/ssh-keys', { name: 'other', public_key: OTHER });
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

  test('creates a Windows instance with the user Administrator and a password', async () => {
    const b = await bench();
    const id = await b.createActive('windows', { image_id: WINDOWS });
    const instance = await b.instance(id);
    expect(instance.ssh_username).toBe('Administrator');
    expect(row(instance.connection_info).secrets).toEqual({
      ADMINISTRATOR_PASSWORD: expect.stringMatching(/^[0-9a-f]{20}$/),
    });
  });
});
