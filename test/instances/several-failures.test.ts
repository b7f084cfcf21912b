import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nameIn } from '../support/renting-service.ts';
import { no, ok, type RecordedRequest } from '../support/service.ts';
import {
  CREATE,
  GONE,
  interruptible,
  namesOf,
  OFFERS,
  type SeveralWorld,
  severalWorld,
} from './several-world.ts';

let rig: SeveralWorld;
beforeEach(async () => {
  rig = await severalWorld();
});
afterEach(() => rig.world.close());

describe('create --count with a failure', () => {
  test('does not terminate other instances without --min-count', async () => {
    rig.answer({ 'gpu-2': 'refused' });
    await rig.create(['--count', '3']);
  });

  test('prints a table and a command that terminates the other instances', async () => {
    rig.answer({ 'gpu-2': 'refused' });
    await rig.world.cli([...CREATE, '--count', '3']);
  });

  test('prints an empty array and one error per name if all fail', async () => {
    rig.answer({ 'gpu-1': 'refused', 'gpu-2': 'refused' });
    await rig.create(['--count', '2']);
  });

  test('exits with 7 and lists the name as UNKNOWN if an outcome is unknown', async () => {
    rig.answer({ 'gpu-1': 'refused', 'gpu-2': 'lost' });
    await rig.create(['--count', '3']);
    await rig.world.cli(['instances', 'list', '--json']);
  });

  test('exits with 12 and keeps the instance if it reaches ERROR', async () => {
    rig.become({ 'gpu-1': 'ERROR' });
    await rig.create(['--count', '2', '--wait']);
  });
});

describe('create --min-count', () => {
  test('keeps the instances if --min-count of them succeed, and exits with 5', async () => {
    rig.answer({ 'gpu-2': 'refused' });
    await rig.create(['--count', '3', '--min-count', '2']);
    expect(rig.statuses()).toEqual({ 'gpu-1': 'PROVISIONING', 'gpu-3': 'PROVISIONING' });
  });

  test('terminates all instances if fewer than --min-count succeed, and reads each again', async () => {
    rig.answer({ 'gpu-2': 'refused' });
    const { shown, errors, warnings, requests } = await rig.create([
      ...['--count', '3', '--min-count', '3'],
    ]);
    expect(errors).toMatchObject([{ code: 'conflict', may_be_billing: false }]);
    expect(warnings).toContainEqual({
      code: 'min_count',
      message:
        'Only 2 of 3 instances are ready, fewer than --min-count 3. Terminating gpu-1, gpu-3.',
    });
    for (const { id } of shown) {
      const [ended, readBack] = ['POST', 'GET'].map((wanted) =>
        requests.findLastIndex(
          ({ method, path }) => method === wanted && path.startsWith(`/instances/${id}`),
        ),
      );
      expect(ended).toBeGreaterThan(-1);
      expect(readBack).toBeGreaterThan(ended ?? 0);
    }
  });

  test('counts only instances that reached the status of --wait', async () => {
    rig.become({ 'gpu-1': 'ERROR' });
    await rig.create(['--count', '2', '--min-count', '2', '--wait']);
    expect(rig.statuses()).toEqual({ 'gpu-1': 'TERMINATING', 'gpu-2': 'TERMINATING' });
  });

  test.each([
    ['over --max-price', ['--max-price', '60']],
    ['in ERROR', ['--wait', ...OFFERS.flatMap((offer) => ['--offer', offer])]],
  ])('does not try again to terminate an instance %s', async (_what, flags) => {
    rig.service.shows = () => ({ price_per_hour_snapshot: '100.00' });
    rig.become({ 'gpu-1': 'ERROR' });
    const rolledBack = () => ok({ status: 'TERMINATING' });
    rig.service.terminations = Array.from({ length: 9 }, () => rolledBack);
    const offers = flags.includes('--offer') ? CREATE.toSpliced(3, 2) : CREATE;
    const argv = [...offers, '--count', '1', '--min-count', '1', ...flags, '--json'];
    expect((await rig.world.cli(argv)).code).toBe(7);
  });

  test('never counts an unknown outcome, and never terminates by name', async () => {
    rig.answer({ 'gpu-2': 'lost' });
    const { errors } = await rig.create(['--count', '2', '--min-count', '2']);
    expect(rig.statuses()).toEqual({ 'gpu-1': 'TERMINATING', 'gpu-2': 'PROVISIONING' });
    expect(errors).toMatchObject([{ resource: 'gpu-2', may_be_billing: true }]);
  });

  test('lists the instances that may still run after the third Ctrl-C', async () => {
    rig.answer({ 'gpu-2': 'refused' });
    const { interrupts, press } = interruptible();
    let leave = () => {};
    let release = () => {};
    const released = new Promise<void>((go) => {
      release = go;
    });
    let arrived = 0;
    rig.service.terminations = Array.from({ length: 2 }, () => async (id: string) => {
      arrived += 1;
      if (arrived === 2) {
        press('first');
        press('second');
        leave();
      }
      await released;
      return rig.service.terminate(id);
    });
    const { shown, errors } = await rig.create(['--count', '3', '--min-count', '3'], {
      interrupts,
      onThirdInterrupt: (third) => {
        leave = third;
        return () => undefined;
      },
    });
    release();
    expect(namesOf(shown)).toEqual(['gpu-1', 'gpu-3']);
    expect(errors.filter((one) => one.may_be_billing)).toMatchObject(
      shown.map(({ id }: { id: string }) => ({ code: 'outcome_unknown', resource: id })),
    );
  });

  test('exits with 7 if a terminated instance still runs', async () => {
    rig.answer({ 'gpu-2': 'refused' });
    rig.service.terminations = Array.from({ length: 4 }, () => () => ok({ status: 'TERMINATING' }));
    const { errors } = await rig.create(['--count', '2', '--min-count', '2']);
    expect(errors[0]?.message).toContain('but its status is PROVISIONING');
  });

  test('terminates an instance whose response breaks off after the ID', async () => {
    rig.service.posts = [
      ({ body }) => {
        const { id } = rig.service.rent(rig.service.newId(nameIn(body)), nameIn(body));
        return { status: 201, body: `{"data": {"id": "${id}", "name": "${nameIn(body)}", ` };
      },
      () => no(409, GONE),
    ];
    const { errors } = await rig.create(['--count', '2', '--min-count', '2']);
    expect(Object.values(rig.statuses())).toEqual(['TERMINATING']);
    expect(errors.map(({ may_be_billing }) => may_be_billing)).toEqual([false, false]);
  });

  test('exits with 5 and terminates nothing if a refusal names an instance', async () => {
    const other = rig.service.rent(OFFERS[0] ?? '', 'somebody');
    rig.service.posts = [
      () => ({ status: 409, body: { statusCode: 409, message: GONE, data: { id: other.id } } }),
      () => no(409, GONE),
    ];
    await rig.create(['--count', '2', '--min-count', '1']);
    expect(rig.statuses()).toEqual({ somebody: 'PROVISIONING' });
  });
});

describe('create --count after Ctrl-C', () => {
  test('waits for the responses in flight, and does not send more requests', async () => {
    const { interrupts, press } = interruptible();
    const held = rig.holdCreates(4);
    const created = rig.create(['--count', '6'], { interrupts });
    await held.arrived;
    press('first');
    held.release();
    const { shown, errors, warnings, posts } = await created;
    expect(warnings).toContainEqual({
      code: 'outcome_unknown',
      message: expect.stringMatching(
        /^Waiting for the responses: (?:gpu-[1-4](?:, )?){4} may already exist and be billing\./,
      ),
    });
    expect(warnings.filter((one) => one.code === 'outcome_unknown')).toHaveLength(1);
    expect(posts).toHaveLength(4);
    expect(namesOf(shown)).toEqual(['gpu-1', 'gpu-2', 'gpu-3', 'gpu-4']);
    expect(errors.map(({ may_be_billing }) => may_be_billing)).toEqual([
      ...[true, true, true, true],
      ...[false, false],
    ]);
    expect(errors.at(-1)?.message).toContain('gpu-6: Interrupted. Nothing was sent');
  });

  test('prints the names that were not created', async () => {
    const { interrupts, press } = interruptible();
    const held = rig.holdCreates(4);
    const created = rig.world.cli([...CREATE, '--count', '6'], { interrupts });
    await held.arrived;
    press('first');
    held.release();
    expect((await created).stderr).toContain(
      'Interrupted. Rented and billing: gpu-1, gpu-2, gpu-3, gpu-4. Not created: gpu-5, gpu-6.\n',
    );
  });

  test('prints the billing instances and the command that terminates them', async () => {
    const { interrupts, press } = interruptible();
    let reads = 0;
    rig.service.onRead = () => {
      reads += 1;
      if (reads === 2) press('first');
      return new Promise(() => undefined);
    };
    await rig.world.cli([...CREATE, '--count', '2', '--wait'], {
      interrupts,
    });
  });

  test('does not terminate instances after Ctrl-C with --min-count', async () => {
    const { interrupts, press } = interruptible();
    rig.become();
    rig.service.posts = Array.from({ length: 2 }, () => ({ body }: RecordedRequest) => {
      press('first');
      const name = nameIn(body);
      return name === 'gpu-2'
        ? no(409, GONE)
        : ok(rig.service.rent(rig.service.newId(name), name), 201);
    });
    const { requests } = await rig.world.cli([...CREATE, '--count', '2', '--min-count', '2'], {
      interrupts,
    });
    expect(requests.filter(({ path }) => path.endsWith('/terminate'))).toEqual([]);
  });

  test('exits with 7 and suggests recover after the second Ctrl-C', async () => {
    const { interrupts, press } = interruptible();
    let arrived = 0;
    rig.service.posts = Array.from({ length: 2 }, () => async () => {
      arrived += 1;
      if (arrived === 2) {
        press('first');
        press('second');
      }
      return new Promise<'hangUp'>(() => undefined);
    });
    await rig.world.cli([...CREATE, '--count', '2'], {
      interrupts,
    });
    const { stdout: listed } = await rig.world.cli(['instances', 'list', '--json']);
    expect(JSON.parse(listed)).toMatchObject([{ status: 'UNKNOWN' }, { status: 'UNKNOWN' }]);
  });
});
