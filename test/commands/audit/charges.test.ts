import { beforeEach, describe, expect, test } from 'vitest';
import type { AccountService } from '../../support/account-service.ts';
import type { World } from '../../support/run-cli.ts';
import { no } from '../../support/service.ts';
import { type AuditWorld, createAuditWorld, HOUR, MINUTE } from './audit-world.ts';

let at: AuditWorld;
let world: World;
let service: AccountService;
beforeEach(async () => {
  at = await createAuditWorld();
  ({ world, service } = at);
});

describe('the check of terminated instances', () => {
  async function ended(terminated_at: string | null = service.ago(2 * HOUR)) {
    const created_at = service.ago(48 * HOUR);
    const id = at.running({ status: 'TERMINATED', created_at, terminated_at });
    await at.track(id);
    return service.instances.get(id) ?? {};
  }
  const check = () => at.resultOf('ended_but_charged');

  test('passes a terminated instance with a charge for the last hour', async () => {
    const instance = await ended();
    instance.last_billed_at = service.ago(HOUR);
    expect(await check()).toMatchObject({
      code: 0,
      result: 'ok',
      message: 'No terminated instance was charged later (checked 1).',
    });
  });

  test('passes a charge up to a day after the termination', async () => {
    const instance = await ended(service.ago(25 * HOUR));
    instance.last_billed_at = service.ago(HOUR);
    const times =
      'was terminated at 2026-01-14T11:00:00.000Z and charged at 2026-01-15T11:00:00.000Z';
    expect(await check()).toMatchObject({
      code: 0,
      result: 'ok',
      message:
        'No terminated instance was charged later (checked 1). Charged within a day after termination: box-1.',
      evidence: [`box-1 (${instance.id}) ${times}`],
    });
  });

  test('reports a charge more than a day after the termination', async () => {
    const instance = await ended(service.ago(26 * HOUR));
    instance.last_billed_at = service.ago(2 * HOUR - MINUTE);
    expect(await check()).toMatchObject({
      code: 5,
      result: 'finding',
      per_hour: '89.90',
      evidence: [
        expect.stringContaining(
          'was terminated at 2026-01-14T10:00:00.000Z and charged at 2026-01-15T10:01:00.000Z',
        ),
      ],
    });
  });

  test('counts from the time an instance was first seen terminated if the service gives none', async () => {
    const instance = await ended(null);
    world.clock.advance(30 * HOUR);
    instance.last_billed_at = service.ago(-26 * HOUR);
    expect(await check()).toMatchObject({
      result: 'finding',
      evidence: [
        expect.stringContaining(
          'was terminated at 2026-01-15T12:00:00.000Z and charged at 2026-01-16T14:00:00.000Z',
        ),
      ],
    });
  });

  test('passes a terminated instance that the service no longer finds', async () => {
    const { id } = await ended();
    service.instances.delete(String(id));
    expect(await check()).toMatchObject({
      code: 0,
      result: 'ok',
      message: 'No terminated instance was charged later (checked 0).',
    });
  });

  test('reports a terminated instance that runs again', async () => {
    const instance = await ended();
    instance.status = 'ACTIVE';
    expect(await check()).toMatchObject({ code: 5, result: 'finding', per_hour: '89.90' });
  });

  test("returns unknown if a terminated instance can't be read", async () => {
    const { id } = await ended();
    service.broken.set(`/instances/${id}`, no(500, 'No'));
    expect(await check()).toMatchObject({ code: 10, result: 'unknown' });
  });

  test('does not explain charges between the termination and the next read', async () => {
    await ended(service.ago(20 * HOUR));
    service.transaction('USAGE_CHARGE', '1000.00', HOUR);
    // The limit is five hours: four in the window, plus one.
    expect(await at.resultOf('unexplained_charges')).toMatchObject({
      result: 'finding',
      message: expect.stringContaining('known instances and drives cost at most 449.50 ₽'),
      evidence: ['1 charge of 1,000.00 ₽: no description'],
    });
  });

  test('does not explain charges after the termination, even if the instance is read again', async () => {
    await ended(null);
    world.clock.advance(20 * HOUR);
    await at.audit();
    service.transaction('USAGE_CHARGE', '1000.00', -19 * HOUR);
    expect(await at.resultOf('unexplained_charges')).toMatchObject({
      result: 'finding',
      message: expect.stringContaining('known instances and drives cost at most 449.50 ₽'),
    });
  });
});

describe('the charges check', () => {
  const check = () => at.resultOf('unexplained_charges');
  const hourly = (hours: number) => {
    for (let hour = 0; hour < hours; hour += 1) {
      service.transaction('USAGE_CHARGE', '89.90', hour * HOUR + MINUTE - 48 * HOUR);
    }
  };

  /** Adds an instance that gpucloud read as ACTIVE two days ago. */
  async function seenOnce(): Promise<string> {
    const id = at.running({ created_at: service.ago(48 * HOUR) });
    await at.track(id);
    return id;
  }

  test('explains charges by an untracked instance only while it runs', async () => {
    const id = await seenOnce();
    await world.cli(['instances', 'untrack', id, '--yes']);
    world.clock.advance(48 * HOUR);
    hourly(24);
    expect(await check()).toMatchObject({ result: 'ok' });
    service.broken.set(`/instances/${id}`, no(500, 'No'));
    expect(await check()).toMatchObject({ code: 10, result: 'unknown' });
    service.broken.clear();
    const instance = service.instances.get(id);
    Object.assign(instance ?? {}, { status: 'TERMINATED', terminated_at: service.ago(0) });
    expect(await check()).toMatchObject({ code: 5, result: 'finding' });
  });

  test('counts an ended instance once that a drive still names', async () => {
    const id = await seenOnce();
    const end = { status: 'TERMINATED', terminated_at: service.ago(0) };
    Object.assign(service.instances.get(id) ?? {}, end);
    await world.cli(['instances', 'list']);
    service.instances.delete(id);
    service.drive('data', { status: 'IN_USE', current_instance_id: id, price_per_hour: '0' });
    for (let n = 0; n < 48; n += 1)
      service.transaction('USAGE_CHARGE', '89.90', (n % 24) * HOUR + MINUTE);
    expect(await check()).toMatchObject({ code: 10, result: 'unknown' });
  });

  test('explains charges by a terminated instance that is unreadable now', async () => {
    const id = await seenOnce();
    const end = { status: 'TERMINATED', terminated_at: service.ago(HOUR) };
    Object.assign(service.instances.get(id) ?? {}, end);
    await world.cli(['instances', 'list']);
    service.broken.set(`/instances/${id}`, no(500, 'No'));
    service.transaction('USAGE_CHARGE', '89.90', 2 * HOUR);
    expect(await check()).toMatchObject({ result: 'ok' });
  });

  test.each(['untracked', 'tracked'])(
    'does not explain charges by a %s instance that the service no longer finds',
    async (how) => {
      const id = await seenOnce();
      if (how === 'untracked') await world.cli(['instances', 'untrack', id, '--yes']);
      world.clock.advance(48 * HOUR);
      hourly(24);
      service.instances.delete(id);
      expect(await check()).toMatchObject({
        code: 5,
        result: 'finding',
        evidence: ['24 charges of 89.90 ₽: no description'],
      });
    },
  );

  test('returns unknown for outgoing payments of an undocumented type', async () => {
    service.transaction('GIFT', '70.00', HOUR);
    expect(await check()).toMatchObject({ code: 0, result: 'ok' });
    service.transaction('FEE', '50.00', HOUR, { direction: 'OUTGOING', description: 'storage' });
    service.transaction('LEVY', '5.00', HOUR, { direction: null });
    expect(await check()).toMatchObject({
      code: 10,
      result: 'unknown',
      message:
        'Could not check the charges for unknown instances: 2 payments have an undocumented type.',
      evidence: ['1 charge of 50.00 ₽: "FEE"', '1 charge of 5.00 ₽: "LEVY"'],
    });
    await world.cli(['status', '--json']);
    const runway = await world.cli(['billing', 'runway', '--fail-below', '1h', '--json']);
    expect(JSON.parse(runway.stdout).below).toBe(null);
  });

  test('reports unexplained charges even with payments of an undocumented type', async () => {
    service.transaction('FEE', '50.00', HOUR, { direction: 'OUTGOING' });
    service.transaction('USAGE_CHARGE', '100.00', HOUR);
    expect(await check()).toMatchObject({ code: 5, result: 'finding' });
  });

  test('subtracts refunds from charges', async () => {
    await at.track(at.running());
    for (const type of ['USAGE_CHARGE', 'REFUND']) service.transaction(type, '1000.00', HOUR);
    service.transaction('USAGE_CHARGE', '179.80', HOUR);
    expect(await check()).toMatchObject({
      code: 0,
      result: 'ok',
      message:
        '179.80 ₽ was charged in the last 24 h after refunds of 1,000.00 ₽. Known instances and drives explain up to 179.80 ₽.',
    });
    service.transaction('USAGE_CHARGE', '0.01', HOUR);
    expect(await check()).toMatchObject({ code: 5, result: 'finding' });
  });

  test.each([
    [30, 7, '24 h'],
    [23, 1, '3 h'],
  ])('accepts late billing: end %i h ago, charge %i h ago', async (end, charge, span) => {
    const id = at.running({ created_at: service.ago((end + 10) * HOUR) });
    Object.assign(service.instances.get(id) ?? {}, {
      status: 'TERMINATED',
      terminated_at: service.ago(end * HOUR),
    });
    await at.track(id);
    service.transaction('USAGE_CHARGE', '89.90', charge * HOUR);
    expect(await check()).toMatchObject({
      code: 0,
      result: 'ok',
      message: `89.90 ₽ was charged in the last ${span}. Known instances and drives explain up to 89.90 ₽. This includes 89.90 ₽ charged within a day after a termination.`,
    });
    service.transaction('USAGE_CHARGE', '89.90', charge * HOUR);
    expect(await check()).toMatchObject({ code: 5, result: 'finding' });
  });

  test('explains charges up to last_billed_at of a terminated instance', async () => {
    const id = at.running({ created_at: service.ago(72 * HOUR) });
    await at.track(id);
    const end = { status: 'TERMINATED', terminated_at: service.ago(5 * HOUR) };
    Object.assign(service.instances.get(id) ?? {}, end, { last_billed_at: service.ago(HOUR) });
    await world.cli(['instances', 'list']);
    for (let hour = 1; hour < 25; hour += 1) {
      service.transaction('USAGE_CHARGE', '89.90', hour * HOUR - MINUTE);
    }
    expect(await check()).toMatchObject({
      code: 0,
      result: 'ok',
      message: expect.stringContaining('includes 359.60 ₽ charged'),
    });
    service.transaction('USAGE_CHARGE', '89.90', 2 * HOUR);
    expect(await check()).toMatchObject({ code: 5, result: 'finding' });
  });
});
