import { describe, expect, test } from 'vitest';
import { money } from '../../src/rules/money.ts';
import { bench, HOUR, MINUTE, row, SECOND } from './support.ts';

function decimal(text: string) {
  const verdict = money(text);
  if (!verdict.ok) {
    throw new Error(text);
  }
  return verdict.value;
}

describe('billing an instance', () => {
  test('charges an instance exactly 24 hourly prices in 24 hours', async () => {
    const b = await bench();
    const id = await b.createActive('day');
    const before = await b.sandbox.status();
    const after = await b.sandbox.advance(24 * HOUR);
    const charges = (await b.books()).filter((entry) => entry.startsWith('USAGE_CHARGE'));
    expect(charges).toEqual(Array.from({ length: 24 }, () => 'USAGE_CHARGE 89.90'));
    expect(decimal(before.balance).minus(decimal(after.balance)).toFixed()).toBe(
      decimal('89.90').times(24).toFixed(),
    );
    expect(after).toMatchObject({ reserved: '89.90', balance: '8342.40' });
    expect(await b.instance(id)).toMatchObject({
      last_billed_at: '2026-03-02T12:00:03.000Z',
      paid_until: '2026-03-02T13:00:03.000Z',
    });
  });

  test('charges exactly at the end of an hour, and just covers the next', async () => {
    const b = await bench({ balance: '179.80' });
    const id = await b.createActive('exact');
    await b.sandbox.advance(HOUR - 1);
    expect(await b.books()).toHaveLength(1);
    await b.sandbox.advance(1);
    expect(await b.books()).toHaveLength(2);
    expect(await b.statusOf(id)).toBe('ACTIVE');
  });

  test.each([
    // Each charge is 89.90 / 3600 × seconds, rounded half up to the kopeck.
    [0, []],
    [999, []],
    [SECOND, ['USAGE_CHARGE 0.02']],
    [MINUTE, ['USAGE_CHARGE 1.50']],
    [20 * MINUTE + 1, ['USAGE_CHARGE 29.97']],
    [HOUR - 1, ['USAGE_CHARGE 89.88']],
  ])(
    'settles a terminate %i ms into the hour with %j and releases the remaining funds',
    async (ms, charges) => {
      const b = await bench();
      const id = await b.createActive('short');
      await b.sandbox.advance(ms);
      await b.call('POST', `/instances/${id}/terminate`);
      expect((await b.books()).slice(2)).toEqual(charges);
      const status = await b.sandbox.status();
      const charged = decimal(charges[0]?.split(' ')[1] ?? '0');
      expect(status.reserved).toBe('0.00');
      expect(decimal(status.available).toFixed(2)).toBe(decimal('10500').minus(charged).toFixed(2));
      const events = await b.events(id);
      const releases = events.filter((event) => row(event.payload ?? {}).action === 'release');
      expect(releases).toMatchObject([{ type: 'BILLING' }]);
      await b.sandbox.advance(3 * HOUR);
      expect((await b.books()).slice(2)).toEqual(charges);
    },
  );

  test('charges the used time at a stop, and nothing while stopped', async () => {
    const b = await bench();
    const id = await b.createActive('rests');
    await b.sandbox.advance(90 * MINUTE);
    await b.call('POST', `/instances/${id}/stop`);
    expect((await b.books()).slice(2)).toEqual(['USAGE_CHARGE 89.90', 'USAGE_CHARGE 44.95']);
    expect((await b.instance(id)).paid_until).toBe('2026-03-01T13:30:03.000Z');
    await b.sandbox.advance(100 * HOUR);
    expect(await b.sandbox.status()).toMatchObject({ balance: '10365.15', reserved: '0.00' });
    // Nothing is held, so the termination releases nothing.
    const before = (await b.events(id)).filter(({ type }) => type === 'BILLING');
    await b.call('POST', `/instances/${id}/terminate`);
    const after = (await b.events(id)).filter(({ type }) => type === 'BILLING');
    expect(after).toEqual(before);
  });

  test("stops the instance with a warning if funds don't cover the next hour", async () => {
    const b = await bench({ balance: '200' });
    const id = await b.createActive('spent');
    await b.sandbox.advance(2 * HOUR);
    expect(await b.statusOf(id)).toBe('STOPPING');
    await b.sandbox.advance(2 * SECOND);
    expect(await b.statusOf(id)).toBe('STOPPED');
    expect(await b.sandbox.status()).toMatchObject({ available: '20.20', reserved: '0.00' });
    const kinds = (await b.events(id)).slice(-4).map((event) => event.type);
    expect(kinds).toEqual(['WARNING', 'BILLING', 'STATUS_CHANGE', 'STATUS_CHANGE']);
  });
});

describe('the account', () => {
  test('shows the total balance in the profile and the available funds after an update', async () => {
    const b = await bench();
    await b.create('holds');
    const me = await b.call('GET', '/users/me');
    expect(me.data.email).toBe(`sandbox-${String(me.data.id).slice(0, 8)}@example.com`);
    expect((await (await bench()).call('GET', '/users/me')).data.email).not.toBe(me.data.email);
    expect(me.body).toMatchObject({ status: 'success', code: 200 });
    expect(me.data).toMatchObject({
      role: 'USER',
      balance: '10500.00',
      has_password: true,
    });
    await b.sandbox.advance(1000);
    const updated = await b.call('PATCH', '/users/me', { name: 'Анна' });
    expect(updated.data).toMatchObject({
      name: 'Анна',
      balance: '10410.10',
      reserved_balance: '89.90',
      total_balance: '10500.00',
    });
    expect((await b.call('GET', '/users/me')).data.name).toBe('Анна');
  });

  test('changes the password only with the current one', async () => {
    const b = await bench();
    const change = (current_password: string, new_password: string) =>
      b.call('POST', '/users/me/update-password', { current_password, new_password });
    await b.sandbox.advance(1000);
    await change('wrong', 'long enough');
    for (const short of ['', 'x'.repeat(7)]) await change('sandbox-password', short);
    const done = await change('sandbox-password', 'long enough');
    expect(done.data).toMatchObject({ name: 'Sandbox User', has_password: true });
    await change('sandbox-password', 'long enough');
    expect((await change('long enough', 'another one')).status).toBe(200);
  });

  test('accepts a promo code once, and rejects expired, exhausted and unknown ones', async () => {
    const b = await bench();
    const use = (code: string) => b.call('POST', '/billing/promo/activate', { code });
    const first = await use('WELCOME500');
    expect(first.body).toEqual({
      status: 'success',
      code: 200,
      data: { added_amount: '500.00', new_balance: '11000.00' },
    });
    for (const code of ['WELCOME500', 'EXPIRED2020', 'LIMITED', 'NOTHING']) await use(code);
    expect((await b.sandbox.status()).balance).toBe('11000.00');
  });

  test('lists transactions newest first, with filters and pages', async () => {
    const b = await bench();
    await b.createActive('payer');
    await b.sandbox.advance(HOUR);
    const all = await b.call('GET', '/billing/transactions');
    expect(all.body.meta).toEqual({ total: 3, page: 1, limit: 20, total_pages: 1 });
    expect(all.list[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'USAGE_CHARGE',
      status: 'COMPLETED',
      amount: '89.90',
      direction: 'OUTGOING',
      description: 'Rent of instance payer',
      created_at: '2026-03-01T13:00:03.000Z',
    });
    expect(all.list.map((entry) => entry.direction)).toEqual(['OUTGOING', 'INCOMING', 'INCOMING']);
    const some = await b.call('GET', '/billing/transactions?type=DEPOSIT,USAGE_CHARGE');
    expect(some.list.map((entry) => entry.type)).toEqual(['USAGE_CHARGE', 'DEPOSIT']);
    const none = await b.call('GET', '/billing/transactions?type=REFUND');
    expect(none.body.meta).toEqual({ total: 0, page: 1, limit: 20, total_pages: 0 });
    const page = await b.call('GET', '/billing/transactions?page=2&limit=2');
    expect(page.list.map((entry) => entry.type)).toEqual(['DEPOSIT']);
    expect((await b.call('GET', '/billing/transactions?limit=101')).body.meta).toMatchObject({
      limit: 100,
    });
    for (const query of ['type=GIFT', 'type=deposit', 'type=', 'type=DEPOSIT,,BONUS', 'limit=x'])
      await b.call('GET', `/billing/transactions?${query}`);
  });

  test('records a deposit as a transaction', async () => {
    const b = await bench();
    expect((await b.sandbox.deposit('0.005')).balance).toBe('10500.005');
    expect((await b.books()).at(-1)).toBe('DEPOSIT 0.005');
  });
});
