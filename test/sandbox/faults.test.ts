import { describe, expect, test } from 'vitest';
import { bench, HOUR, MINUTE, SECOND } from './support.ts';

describe('an injected failure', () => {
  test('delays one provisioning to ten minutes', async () => {
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

  test('ends a provisioning in ERROR with a reason, and releases the funds', async () => {
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

  test('moves a running instance to ERROR and refunds its hour', async () => {
    const b = await bench();
    const id = await b.createActive('breaks');
    await b.sandbox.advance(30 * MINUTE);
    await b.sandbox.inject('fail-running');
    expect(await b.instance(id)).toMatchObject({
      status: 'ERROR',
      failure_reason: 'The server stopped responding',
    });
    expect((await b.books()).slice(2)).toEqual(['USAGE_CHARGE 44.95', 'REFUND 44.95']);
    expect(await b.sandbox.status()).toMatchObject({
      available: '10500.00',
      reserved: '0.00',
      faults: [],
    });
    await b.sandbox.advance(5 * HOUR);
    expect(await b.books()).toHaveLength(4);
    const ids = [await b.createActive('one'), await b.createActive('two')];
    await b.sandbox.inject('fail-running');
    expect(await Promise.all(ids.map(b.statusOf))).toEqual(['ACTIVE', 'ERROR']);
  });

  test('applies a failure to the next instance if no instance is running', async () => {
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
    'spares an instance that receives a %s before the failure',
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

  test('fails twice if a failure is injected twice, and never once cleared', async () => {
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
