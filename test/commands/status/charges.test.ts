import { beforeEach, describe, expect, test } from 'vitest';
import { type AccountWorld, createAccountWorld, DAY, HOUR } from '../../support/account-service.ts';

let { world, service, known, status } = {} as AccountWorld;
beforeEach(async () => {
  ({ world, service, known, status } = await createAccountWorld());
});

const codes = (doc: { attention: { code: string }[] }) => doc.attention.map(({ code }) => code);

describe('unexplained charges', () => {
  const hourly = (price: string, hours: number) => {
    for (let hour = 0; hour < hours; hour += 1) {
      service.transaction('USAGE_CHARGE', price, hour * HOUR + 60_000);
    }
  };

  test('gives no verdict for a day after a drive changed', async () => {
    const drive = service.drive('data', {
      price_per_hour: '6.00',
      created_at: service.ago(9 * DAY),
      updated_at: service.ago(2 * HOUR),
    });
    hourly('60.00', 24);
    const { doc } = await status();
    expect(doc.charges).toBeNull();
    expect(codes(doc)).toContain('charges_unchecked');
    expect(codes(doc)).not.toContain('unexplained_charges');
    const audit = await world.cli(['audit', '--json']);
    const check = JSON.parse(audit.stdout).find(
      (row: { check: string }) => row.check === 'unexplained_charges',
    );
    expect(check).toMatchObject({
      result: 'unknown',
      message:
        'Could not check the charges for unknown instances: 1,440.00 ₽ was charged in the last 24 h, known instances and drives cost at most 150.00 ₽, and a drive changed in the last 24 h (the service does not show its earlier price).',
      evidence: ['24 charges of 60.00 ₽: no description'],
    });
    const changed = service.drives.find(({ id }) => id === drive);
    Object.assign(changed ?? {}, { updated_at: service.ago(26 * HOUR) });
    expect((await status()).doc.charges.unexplained).toBe('1290.00');
  });

  test('shows unexplained charges with their largest group', async () => {
    await known(service.instance('trainer', { created_at: service.ago(3 * DAY) }));
    hourly('89.90', 30);
    expect((await status()).doc.charges.unexplained).toBe('0.00');
    hourly('50.00', 30);
    const { doc } = await status();
    // Known resources explain 25 × 89.90; 24 × 139.90 was charged.
    expect(doc.charges).toMatchObject({
      charged: '3357.60',
      explained_at_most: '2247.50',
      unexplained: '1110.10',
    });
    expect(codes(doc)).toContain('unexplained_charges');
    const { stdout } = await world.cli(['status']);
    expect(stdout).toContain('Unknown    1,110.10 ₽ in unexplained charges\n');
  });

  test('ignores an unexplained kopeck from rounding', async () => {
    await known(service.instance('trainer', { created_at: service.ago(HOUR / 3) }));
    // Charges an hour and a third.
    service.transaction('USAGE_CHARGE', '119.87', 60_000);
    expect((await status()).doc.charges).toMatchObject({
      explained_at_most: '119.87',
      unexplained: '0.00',
    });
  });

  test('reports charges within three hours even on an expensive day', async () => {
    await known(
      service.instance('trainer', {
        created_at: service.ago(3 * DAY),
        price_per_hour_snapshot: '100',
      }),
    );
    // The day's total stays within the explained cost, but the last three hours do not.
    for (let hour = 0; hour < 24; hour += 1) {
      service.transaction('USAGE_CHARGE', hour < 3 ? '133.50' : '10', hour * HOUR + 60_000);
    }
    const { doc } = await status();
    expect(doc.charges).toMatchObject({ charged: '400.50', unexplained: '0.50' });
  });

  test('explains charges for an instance that was terminated today', async () => {
    const id = service.instance('gone', { created_at: service.ago(20 * HOUR) });
    await known(id);
    hourly('89.90', 20);
    service.instances.set(id, {
      ...service.instances.get(id),
      status: 'TERMINATED',
      terminated_at: service.ago(0),
    });
    expect((await status()).doc.charges.unexplained).toBe('0.00');
    // The instance is archived and not read again.
    const again = await status();
    expect(again.doc.instances).toEqual([]);
    expect(again.doc.charges.unexplained).toBe('0.00');
  });

  test('finds charges in a history of 10,000 transactions with few requests', async () => {
    await known(service.instance('trainer', { created_at: service.ago(400 * DAY) }));
    hourly('100.00', 10_000);
    const { doc, requests } = await status();
    expect(doc.charges).toMatchObject({ charged: '2400.00', unexplained: '152.50' });
    expect(requests.filter(({ path }) => path.startsWith('/billing')).length).toBeLessThan(4);
  });

  test.each(['none', 'oldest first'] as const)(
    'skips the check of charges if a long history has the order: %s',
    async (order) => {
      service.order = order;
      await known(service.instance('trainer'));
      hourly('100.00', 2000);
      const { doc, requests } = await status();
      expect(doc.charges).toBeNull();
      expect(codes(doc)).toContain('charges_unchecked');
      expect(requests.filter(({ path }) => path.startsWith('/billing'))).toHaveLength(1);
    },
  );

  test('reads at most six pages, and skips the check of charges in longer histories', async () => {
    service.limit = 5;
    await known(service.instance('trainer', { created_at: service.ago(40 * DAY) }));
    hourly('100.00', 500);
    const few = await status();
    expect(few.doc.charges).toMatchObject({ charged: '2400.00', unexplained: '152.50' });
    for (let minute = 0; minute < 300; minute += 1) {
      service.transaction('USAGE_CHARGE', '0.01', minute * 60_000);
    }
    const many = await status();
    expect(many.doc.charges).toBeNull();
    expect(codes(many.doc)).toContain('charges_unchecked');
    expect(many.requests.filter(({ path }) => path.startsWith('/billing'))).toHaveLength(6);
  });

  test('reads a whole unordered history if it is short', async () => {
    service.order = 'none';
    await known(service.instance('trainer', { created_at: service.ago(40 * DAY) }));
    hourly('89.90', 300);
    expect((await status()).doc.charges).toMatchObject({ charged: '2157.60', unexplained: '0.00' });
  });
});

describe('a deposit', () => {
  test("omits the warning if a deposit pays a suspended drive's debt of a week", async () => {
    const created_at = service.ago(40 * DAY);
    service.drive('data', { created_at, updated_at: created_at });
    service.transaction('DEPOSIT', '5000.00', HOUR);
    // Charges 160 hours at 6.00 at once.
    service.transaction('USAGE_CHARGE', '960.00', HOUR);
    expect((await status()).doc.charges.unexplained).toBe('0.00');
    service.history[0] = { ...service.history[0], status: 'PENDING' };
    expect((await status()).doc.charges.unexplained).toBe('810.00');
  });
});
