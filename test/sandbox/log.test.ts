import { describe, expect, test } from 'vitest';
import { sshPublicKey } from '../support/ssh-key.ts';
import { bench, HOUR, JUPYTERLAB, MINUTE, row, SECOND } from './support.ts';

const ED25519 = sshPublicKey('ssh-ed25519');

describe('the event log', () => {
  test('lists every kind of event, newest first, in pages with meta', async () => {
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

  test('shows each event of whole lives, with its time and payload', async () => {
    const b = await bench({ balance: '1000' });
    const made = await b.call('POST', '/storage/drives', { name: 'disk', size_gb: 10 });
    const drive = String(made.data.id);
    const post = (id: string, step: string) => b.call('POST', `/instances/${id}/${step}`);
    await b.sandbox.inject('slow-provisioning');
    const key = await b.call('POST', '/ssh-keys', { name: 'own', public_key: ED25519 });
    const worker = await b.create('worker', {
      ...{ template_id: JUPYTERLAB, storage_drive_id: drive },
      ssh_keys: [String(key.data.id)],
    });
    await b.sandbox.advance(11 * MINUTE);
    await b.call('PATCH', `/storage/drives/${drive}`, { name: 'disk', size_gb: 20 });
    await b.sandbox.advance(HOUR);
    for (const [fault, step] of [
      ['fail-stop', 'stop'],
      [undefined, 'stop'],
      ['fail-start', 'start'],
      [undefined, 'start'],
      ['fail-terminate', 'terminate'],
      [undefined, 'terminate'],
    ] as const) {
      if (fault !== undefined) await b.sandbox.inject(fault);
      await post(worker, step);
      await b.sandbox.advance(30 * SECOND);
    }
    await b.sandbox.inject('fail-provisioning');
    const never = await b.createActive('never');
    const broken = await b.createActive('broken');
    await b.sandbox.advance(MINUTE);
    await b.sandbox.inject('fail-running');
    const lines: string[] = [];
    for (const id of [worker, never, broken]) {
      for (const { created_at, type, message, payload } of await b.events(id)) {
        const facts = payload === null ? '' : ` ${JSON.stringify(payload)}`;
        lines.push(`${created_at} ${type} ${message}${facts}`.replaceAll(drive, 'DRIVE'));
      }
      lines.push('');
    }
    await expect(lines.join('\n')).toMatchFileSnapshot('lives.txt');
  });

  test.each(['page=0', 'page=x', 'limit=0', 'limit=-1', 'limit=1.5'])(
    'responds with 400 to the event query %s',
    async (query) => {
      const b = await bench();
      const id = await b.create('asked');
      expect((await b.call('GET', `/instances/${id}/events?${query}`)).status).toBe(400);
    },
  );
});
