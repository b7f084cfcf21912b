import { describe, expect, test } from 'vitest';
import { bench, HOUR, row } from './support.ts';

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

  test.each(['page=0', 'page=x', 'limit=0', 'limit=-1', 'limit=1.5'])(
    'responds with 400 to the event query %s',
    async (query) => {
      const b = await bench();
      const id = await b.create('asked');
      expect((await b.call('GET', `/instances/${id}/events?${query}`)).status).toBe(400);
    },
  );
});
