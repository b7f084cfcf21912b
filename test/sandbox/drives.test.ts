import { describe, expect, test } from 'vitest';
import { type Bench, bench, DAY, HOUR, JUPYTERLAB, NOBODY, row, SECOND } from './support.ts';

async function drive(b: Bench, size_gb: number, name = 'disk'): Promise<string> {
  const reply = await b.call('POST', '/storage/drives', { name, size_gb });
  expect(reply.status).toBe(201);
  return String(reply.data.id);
}

describe('a drive', () => {
  test('creates an AVAILABLE drive at a price that depends on its size', async () => {
    const b = await bench();
    const reply = await b.call('POST', '/storage/drives', { name: 'data', size_gb: 50 });
    expect(reply.body).toEqual({
      status: 'success',
      code: 201,
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'data',
        size_gb: 50,
        s3_path: `sandbox/drives/${reply.data.id}/`,
        status: 'AVAILABLE',
        used_bytes: '0',
        price_per_hour: '0.60',
        last_billed_at: '2026-03-01T12:00:00.000Z',
        paid_until: null,
        current_instance_id: null,
        created_at: '2026-03-01T12:00:00.000Z',
        updated_at: '2026-03-01T12:00:00.000Z',
      },
    });
    const second = await drive(b, 1, 'data');
    const list = (await b.call('GET', '/storage/drives')).list;
    expect(list.map((one) => one.id)).toEqual([second, reply.data.id]);
  });

  test("charges a drive's exact hourly price at the end of each hour", async () => {
    const b = await bench();
    const id = await drive(b, 7);
    await b.sandbox.advance(HOUR - 1);
    expect(await b.books()).toHaveLength(2);
    await b.sandbox.advance(1 + 2 * HOUR);
    expect((await b.books()).slice(2)).toEqual(
      Array.from({ length: 3 }, () => 'USAGE_CHARGE 0.084'),
    );
    expect((await b.sandbox.status()).balance).toBe('10499.748');
    expect(await b.drive(id)).toMatchObject({
      paid_until: '2026-03-01T15:00:00.000Z',
      last_billed_at: '2026-03-01T15:00:00.000Z',
    });
  });

  test("changes a drive's name, size and price only if the update contains both fields", async () => {
    const b = await bench();
    const id = await drive(b, 10);
    const reply = await b.call('PATCH', `/storage/drives/${id}`, { name: 'big', size_gb: 1000 });
    expect(reply.status).toBe(200);
    expect(reply.data).toMatchObject({
      name: 'big',
      size_gb: 1000,
      price_per_hour: '12.00',
      status: 'AVAILABLE',
    });
    await b.call('PATCH', `/storage/drives/${id}`, { name: 'x' });
    await b.call('PATCH', `/storage/drives/${id}`, { size_gb: 1 });
  });

  test('accepts only whole sizes from 1 to 10000', async () => {
    const b = await bench();
    for (const size_gb of [0, -1, 1.5, 1, 10_000, 10_001, '10', null])
      await b.call('POST', '/storage/drives', { name: 'd', size_gb });
    const { list } = await b.call('GET', '/storage/drives');
    expect(list.map((one) => one.size_gb)).toEqual([10_000, 1]);
  });

  test('responds with 404 to an unknown drive', async () => {
    const b = await bench();
    const path = `/storage/drives/${NOBODY}`;
    await b.call('GET', path);
    await b.call('PATCH', path, { name: 'a', size_gb: 1 });
    expect((await b.call('POST', `${path}/resume`, {})).body).toEqual({
      ...{ statusCode: 404, message: `Drive ${NOBODY} not found`, error: 'Not Found' },
    });
  });
});

describe('a drive on an instance', () => {
  test('changes a drive from IN_USE to SYNCING to AVAILABLE', async () => {
    const b = await bench();
    const id = await drive(b, 10);
    const box = await b.createActive('box', { storage_drive_id: id });
    expect(await b.drive(id)).toMatchObject({
      status: 'IN_USE',
      current_instance_id: box,
      updated_at: '2026-03-01T12:00:00.000Z',
    });
    expect(row((await b.instance(box)).storage_drive).id).toBe(id);
    await b.create('other', { storage_drive_id: id }).catch(() => undefined);

    await b.call('POST', `/instances/${box}/stop`);
    await b.sandbox.advance(2 * SECOND);
    expect((await b.drive(id)).status).toBe('IN_USE');
    await b.call('POST', `/instances/${box}/terminate`);
    await b.sandbox.advance(2 * SECOND);
    expect(await b.drive(id)).toMatchObject({
      status: 'SYNCING',
      current_instance_id: box,
      updated_at: '2026-03-01T12:00:07.000Z',
    });
    await b.call('PATCH', `/storage/drives/${id}`, { name: 'x', size_gb: 20 });
    await b.sandbox.advance(2 * SECOND);
    expect(await b.drive(id)).toMatchObject({
      status: 'AVAILABLE',
      current_instance_id: null,
      updated_at: '2026-03-01T12:00:09.000Z',
    });
    expect((await b.instance(box)).storage_drive).toBeNull();
  });

  test('sets a drive to SYNCING, then AVAILABLE after its instance fails', async () => {
    const b = await bench();
    const id = await drive(b, 10);
    const box = await b.createActive('box', { storage_drive_id: id });
    await b.sandbox.inject('fail-running');
    expect((await b.drive(id)).status).toBe('SYNCING');
    // Its end comes in the middle of the synchronisation, and does not prolong it.
    await b.call('POST', `/instances/${box}/terminate`);
    await b.sandbox.advance(2 * SECOND);
    expect((await b.drive(id)).status).toBe('AVAILABLE');
  });

  test('fills a drive by 1 GiB per hour, and enlarges a full drive', async () => {
    const b = await bench();
    const id = await drive(b, 2);
    const box = await b.createActive('writer', { storage_drive_id: id, template_id: JUPYTERLAB });
    await b.sandbox.advance(2 * HOUR);
    expect(await b.drive(id)).toMatchObject({ used_bytes: String(2 * 2 ** 30), size_gb: 2 });
    for (const size_gb of [1, 2])
      await b.call('PATCH', `/storage/drives/${id}`, { name: 'x', size_gb });
    await b.sandbox.advance(HOUR);
    expect(await b.drive(id)).toMatchObject({
      used_bytes: String(3 * 2 ** 30),
      size_gb: 3,
      price_per_hour: '0.036',
    });
    const grown = (await b.events(box)).find((event) => String(event.message).includes('3 GB'));
    expect(grown?.type).toBe('INFO');
    // The drive's hours end 3 seconds before the instance's, so the drive grows after its third
    // charge.
    expect((await b.books()).filter((entry) => entry.startsWith('USAGE_CHARGE 0.'))).toEqual([
      'USAGE_CHARGE 0.024',
      'USAGE_CHARGE 0.024',
      'USAGE_CHARGE 0.024',
    ]);
  });
});

describe('a drive without funds', () => {
  test('suspends a drive without funds with growing debt, until a deposit and resume', async () => {
    const b = await bench({ balance: '1.20' });
    const id = await drive(b, 100);
    await b.sandbox.advance(HOUR);
    expect((await b.drive(id)).status).toBe('AVAILABLE');
    await b.sandbox.advance(HOUR);
    expect(await b.drive(id)).toMatchObject({
      status: 'SUSPENDED',
      updated_at: '2026-03-01T14:00:00.000Z',
    });
    expect(await b.sandbox.status()).toMatchObject({ available: '0.00', debt: '1.20' });
    await b.sandbox.advance(9 * HOUR);
    expect((await b.sandbox.status()).debt).toBe('12.00');

    await b.call('POST', `/storage/drives/${id}/resume`, {});
    const part = await b.sandbox.deposit('5');
    expect(part).toMatchObject({ available: '0.00', debt: '7.00' });
    expect((await b.books()).slice(-2)).toEqual(['DEPOSIT 5.00', 'USAGE_CHARGE 5.00']);
    const promo = await b.call('POST', '/billing/promo/activate', { code: 'WELCOME500' });
    expect(promo.data).toEqual({ added_amount: '500.00', new_balance: '493.00' });
    expect(await b.sandbox.status()).toMatchObject({ available: '493.00', debt: '0.00' });
    expect((await b.drive(id)).status).toBe('SUSPENDED');

    const resumed = await b.call('POST', `/storage/drives/${id}/resume`, {});
    expect(resumed.status).toBe(200);
    expect(resumed.data).toMatchObject({
      status: 'AVAILABLE',
      updated_at: '2026-03-01T23:00:00.000Z',
    });
    await b.call('POST', `/storage/drives/${id}/resume`, {});
    await b.sandbox.advance(8 * DAY);
    expect((await b.drive(id)).status).toBe('AVAILABLE');
  });

  test('resumes a drive if the balance just covers its debt and an hour', async () => {
    const b = await bench({ balance: '0' });
    const id = await drive(b, 40);
    await b.sandbox.advance(HOUR);
    await b.sandbox.deposit('0.95');
    expect((await b.call('POST', `/storage/drives/${id}/resume`, {})).status).toBe(409);
    await b.sandbox.deposit('0.01');
    expect((await b.call('POST', `/storage/drives/${id}/resume`, {})).status).toBe(200);
  });

  test("charges a drive's debt since the deposit at a resume", async () => {
    const b = await bench({ balance: '0' });
    const id = await drive(b, 100);
    await b.sandbox.advance(HOUR);
    await b.sandbox.deposit('100');
    await b.sandbox.advance(2 * HOUR);
    expect(await b.sandbox.status()).toMatchObject({ available: '98.80', debt: '2.40' });
    expect((await b.call('POST', `/storage/drives/${id}/resume`, {})).status).toBe(200);
    expect(await b.sandbox.status()).toMatchObject({ available: '96.40', debt: '0.00' });
  });

  test('rejects changes and attachment of a SUSPENDED drive', async () => {
    const b = await bench({ balance: '1000' });
    const eater = await drive(b, 10_000, 'eater');
    const id = await drive(b, 8000);
    // At 120.00 and 96.00 per hour, the balance does not cover the second drive's fifth hour.
    await b.sandbox.advance(5 * HOUR);
    expect((await b.drive(eater)).status).toBe('AVAILABLE');
    expect((await b.drive(id)).status).toBe('SUSPENDED');
    await b.call('PATCH', `/storage/drives/${id}`, { name: 'x', size_gb: 1 });
    await b.sandbox.deposit('1000');
    await b.create('box', { storage_drive_id: id }).catch(() => undefined);
  });

  test('deletes a drive without funds after exactly 7 days, and keeps its debt', async () => {
    const b = await bench({ balance: '0' });
    const id = await drive(b, 100);
    await b.sandbox.advance(HOUR);
    expect((await b.drive(id)).status).toBe('SUSPENDED');
    await b.sandbox.advance(7 * DAY - 1);
    expect((await b.drive(id)).status).toBe('SUSPENDED');
    await b.sandbox.advance(1);
    await b.call('GET', `/storage/drives/${id}`);
    await b.call('POST', `/storage/drives/${id}/resume`, {});
    expect((await b.call('GET', '/storage/drives')).list).toEqual([]);
    // The debt covers the first hour and 168 suspended hours.
    const status = await b.sandbox.status();
    expect(status).toMatchObject({ debt: '202.80', counts: { drives: { DELETED: 1 } } });
    await b.sandbox.advance(DAY);
    expect((await b.sandbox.status()).debt).toBe('202.80');
    expect((await b.sandbox.deposit('300')).available).toBe('97.20');
  });

  test('suspends a drive without funds only after its instance releases it', async () => {
    const b = await bench({ balance: '89.95' });
    const id = await drive(b, 50);
    const box = await b.createActive('box', { storage_drive_id: id });
    await b.sandbox.advance(HOUR);
    expect(await b.drive(id)).toMatchObject({ status: 'IN_USE' });
    expect((await b.sandbox.status()).debt).toBe('0.60');
    await b.call('POST', `/instances/${box}/terminate`);
    await b.sandbox.advance(4 * SECOND);
    expect(await b.drive(id)).toMatchObject({ status: 'SUSPENDED', current_instance_id: null });
  });
});
