import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RESULTS } from '../../src/json-results/index.ts';
import { nameIn } from '../support/renting-service.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { no, ok, type RecordedRequest } from '../support/service.ts';
import { CREATE, GONE, namesOf, OFFERS, type SeveralWorld, severalWorld } from './several-world.ts';

let rig: SeveralWorld;
beforeEach(async () => {
  rig = await severalWorld();
});
afterEach(() => rig.world.close());

describe('create --count', () => {
  test('rents NAME-1 to NAME-N at the same time, and prints an array', async () => {
    const held = rig.holdCreates(3);
    const created = rig.create(['--count', '3']);
    await held.arrived;
    held.release();
    const { code, shown, errors, posts } = await created;
    expect({ code, errors }).toEqual({ code: 0, errors: [] });
    expect([...posts].sort()).toEqual(['gpu-1', 'gpu-2', 'gpu-3']);
    expect(namesOf(shown)).toEqual(['gpu-1', 'gpu-2', 'gpu-3']);
    expect(shown[0]).not.toHaveProperty('attempts');
    expect(RESULTS['instances create']?.schema().safeParse(shown).success).toBe(true);
  });

  test('prints an array with NAME-1 for a single instance', async () => {
    await rig.create(['--count', '1']);
  });

  test('prints a row per instance, and one command for all of them', async () => {
    const ends = ['--terminate-after', '2h', '--unenforced', '--retry-for', '2h'];
    let isBusy = true;
    rig.service.posts = Array.from({ length: 3 }, () => ({ body }: RecordedRequest) => {
      const name = nameIn(body);
      if (name === 'gpu-2' || !isBusy)
        return ok(rig.service.rent(rig.service.newId(name), name), 201);
      isBusy = false;
      return { ...no(429, 'busy'), headers: { 'retry-after': '3600' } };
    });
    // The deadline is that of gpu-2, which was rented an hour earlier.
    await rig.world.cli([...CREATE, '--count', '2', ...ends]);
  });

  test('waits for all instances with --wait', async () => {
    rig.become();
    await rig.create(['--count', '2', '--wait']);
  });

  test('keeps instances that are not ready in time, without --min-count', async () => {
    await rig.create(['--count', '2', '--wait', '--wait-timeout', '5s']);
    expect(rig.statuses()).toEqual({ 'gpu-1': 'PROVISIONING', 'gpu-2': 'PROVISIONING' });
  });

  test('tries the offers for each name, and prints the attempts per name', async () => {
    rig.become();
    rig.service.posts = Array.from({ length: 99 }, () => ({ body }: RecordedRequest) => {
      const { offer_id } = body as { offer_id: string };
      if (nameIn(body) === 'gpu-2' && offer_id === OFFERS[0]) return no(409, GONE);
      return ok(rig.service.rent(rig.service.newId(nameIn(body)), nameIn(body)), 201);
    });
    const offers = OFFERS.flatMap((offer) => ['--offer', offer]);
    const argv = ['instances', 'create', 'gpu', ...HARDWARE.slice(2), ...offers];
    const { stdout } = await rig.world.cli([...argv, '--count', '2', '--json']);
    const shown = JSON.parse(stdout);
    expect(RESULTS['instances create']?.schema().safeParse(shown).success).toBe(true);
  });

  test('sets a deadline for each instance', async () => {
    await rig.create(['--count', '2', '--terminate-after', '2h', '--unenforced']);
  });

  test('terminates only instances over --max-price', async () => {
    rig.service.shows = (body) => ({
      price_per_hour_snapshot: nameIn(body) === 'gpu-1' ? '100.00' : '50.00',
    });
    await rig.world.cli([...[...CREATE, '--count', '2', '--max-price', '60']]);
    expect(rig.statuses()).toEqual({ 'gpu-1': 'TERMINATING', 'gpu-2': 'PROVISIONING' });
  });

  test('reads the name from --file, and rejects a drive for two instances', async () => {
    const file = join(rig.world.home, 'gpu.yaml');
    const [offer = '', image = ''] = [HARDWARE[1], HARDWARE[3]];
    await writeFile(
      file,
      `instance_name: lab\noffer_id: ${offer}\nimage_id: ${image}\nstorage_drive_id: ${OFFERS[0]}\n`,
    );
    const argv = ['instances', 'create', '-f', file, '--count'];
    const refused = await rig.world.cli([...argv, '2']);
    expect({ code: refused.code, requests: refused.requests }).toEqual({ code: 2, requests: [] });
    await rig.world.cli([...argv, '1', '-q']);
  });
});

describe('create --count before any request', () => {
  const refused = (...more: string[]) => rig.world.cli([...CREATE, ...more]);

  test.each([
    [['--count', '0']],
    [['--count', '33']],
    [['--min-count', '1']],
    [['--count', '2', '--min-count', '3']],
    [['--count', '2', '--drive', 'data']],
  ])('exits with 2 for create --count with %j', async (flags) => {
    const { code, stdout, requests } = await refused(...flags);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
  });

  test('exits with 2 if the longest number makes the name too long', async () => {
    const name = 'a'.repeat(48);
    const argv = ['instances', 'create', name, ...HARDWARE, '--count'];
    const { code, requests } = await rig.world.cli([...argv, '10']);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect((await rig.world.cli([...argv, '9'])).code).toBe(0);
  });

  test('exits with 5 if one of the names is taken', async () => {
    await rig.world.cli(['instances', 'create', 'gpu-2', ...HARDWARE]);
    const { errors } = await rig.create(['--count', '2']);
    expect(errors).toMatchObject([{ code: 'name_taken' }]);
    expect(errors[0]?.hint).toContain('add --if-not-exists to print the existing instance;');
    expect((await rig.create(['--count', '2', '--yes'])).code).toBe(0);
  });

  test('exits with 7 if one name has an unresolved request, even in a terminal', async () => {
    rig.service.posts = [() => 'hangUp'];
    await rig.world.cli(['instances', 'create', 'gpu-2', ...HARDWARE]);
    const { errors } = await rig.create(['--count', '2'], { terminal: true });
    expect(errors).toMatchObject([{ resource: 'gpu-2' }]);
    const { posts: agreed } = await rig.create(['--count', '2', '--yes']);
    expect([...agreed].sort()).toEqual(['gpu-1', 'gpu-2']);
  });

  test('prints each request with --dry-run', async () => {
    const { shown } = await rig.create(['--count', '2', '--dry-run']);
    expect(RESULTS['instances create']?.schema().safeParse(shown).success).toBe(true);
  });
});

describe('create --count with a guard', () => {
  const env = { GPUCLOUD_PROFILE: 'work' };
  beforeEach(async () => {
    await rig.world.cli(['profiles', 'add', 'work', '--base-url', rig.world.service.url]);
  });
  const guard = (...flags: string[]) =>
    rig.world.cli(['profiles', 'set', 'work', ...flags], { env });

  test('exits with 2 and sends nothing beyond --max-instances', async () => {
    await guard('--max-instances', '3');
    await rig.world.cli(['instances', 'create', 'lab', ...HARDWARE], { env });
    await rig.create(['--count', '5'], { env });
    expect((await rig.create(['--count', '2'], { env })).code).toBe(0);
  });

  test('exits with 2 and sends nothing beyond --max-burn', async () => {
    await guard('--max-burn', '250');
    await rig.create(['--count', '2'], { env });
    const { errors } = await rig.create(['--count', '3', '--max-price', '100'], {
      env,
    });
    expect(errors[0]?.message).toContain('with gpu-1, gpu-2, gpu-3 the instances may cost 300.00');
    expect(
      (await rig.create(['--count', '3', '--max-price', '100', '--dry-run'], { env })).code,
    ).toBe(2);
  });

  test('rejects the last request if another process rents during the command', async () => {
    await guard('--max-instances', '6');
    const held = rig.holdCreates(4);
    const created = rig.create(['--count', '6'], { env });
    await held.arrived;
    // Another process rents an instance after the name check.
    await rig.world.cli(['instances', 'create', 'other', ...HARDWARE], { env });
    held.release();
    const { code, shown, errors } = await created;
    expect({ code, names: namesOf(shown) }).toEqual({
      code: 2,
      names: ['gpu-1', 'gpu-2', 'gpu-3', 'gpu-4', 'gpu-5'],
    });
    expect(errors).toMatchObject([{ code: 'guard' }]);
  });
});

describe('create --count --if-not-exists', () => {
  const flags = ['--count', '2', '--if-not-exists'];

  test('prints the existing instances, and rents the others', async () => {
    await rig.world.cli(['instances', 'create', 'gpu-1', ...HARDWARE]);
    const { shown } = await rig.create(flags);
    expect(namesOf(shown)).toEqual(['gpu-1', 'gpu-2']);
    await rig.world.cli(['instances', 'expire', 'gpu-1', '--after', '2h']);
    const again = await rig.create(flags);
    expect(namesOf(again.shown)).toEqual(['gpu-1', 'gpu-2']);
    rig.become();
    await rig.create([...flags, '--wait']);
    rig.service.failing.add(`/instances/${shown[0].id}`);
    expect((await rig.create(flags)).posts).toEqual([]);
  });

  test('exits with 5 and sends nothing if an existing instance differs', async () => {
    rig.service.shows = () => ({ offer: { id: OFFERS[0], name: 'Other' } });
    const { stdout } = await rig.world.cli(['instances', 'create', 'gpu-2', ...HARDWARE, '-q']);
    const found = rig.service.instances.get(stdout.trim());
    if (found === undefined) throw new Error('it was created');
    rig.service.instances.set(found.id, {
      ...found,
      offer: { id: OFFERS[0] ?? '', name: 'Other' },
    });
    await rig.create(flags);
  });

  test('counts existing instances for --min-count, and never terminates them', async () => {
    await rig.world.cli(['instances', 'create', 'gpu-1', ...HARDWARE]);
    rig.answer({ 'gpu-2': 'refused' });
    expect((await rig.create([...flags, '--min-count', '1'])).code).toBe(5);
    await rig.create([...flags, '--min-count', '2']);
    expect(rig.statuses()).toEqual({ 'gpu-1': 'PROVISIONING' });
  });

  test('prints an instance that another process created during the command', async () => {
    const id = '33333333-1111-4222-8333-444455550001';
    rig.service.posts = [
      async () => {
        rig.service.rent(id, 'gpu-1');
        await rig.world.cli(['instances', 'track', id]);
        return no(409, 'taken');
      },
    ];
    await rig.create(['--count', '1', '--if-not-exists']);
  });

  test('never terminates an unusable instance that another process created meanwhile', async () => {
    const id = '33333333-1111-4222-8333-444455550001';
    rig.service.posts = [
      async () => {
        rig.service.rent(id, 'gpu-1', { status: 'ERROR' });
        await rig.world.cli(['instances', 'track', id]);
        return no(409, 'taken');
      },
    ];
    const { errors } = await rig.create([
      ...['--count', '1', '--min-count', '1', '--if-not-exists'],
    ]);
    expect(errors).toMatchObject([{ code: 'other_end', resource: id, may_be_billing: true }]);
    expect(rig.statuses()).toEqual({ 'gpu-1': 'ERROR' });
  });
});
