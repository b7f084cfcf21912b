import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { NEW, RentingService } from '../../support/renting-service.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { type Answer, ok } from '../../support/service.ts';
import { errorOf } from '../../support/stderr-lines.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const SOURCE = '3f0c5d9e-1111-4222-8333-444455558888';
const CREATE = ['instances', 'create', 'trainer', ...HARDWARE];
const REORDER = ['instances', 'reorder', SOURCE, 'trainer'];

let world: World;
let service: RentingService;
beforeEach(async () => {
  service = new RentingService();
  world = await createWorld({ handler: service.handler });
});

const listed = async () => JSON.parse((await world.cli(['instances', 'list', '--json'])).stdout);
const unknown = async () =>
  (await listed()).filter(({ status }: { status: string }) => status === 'UNKNOWN');
const recovered = async () =>
  JSON.parse((await world.cli(['instances', 'recover', '--yes', '--json'])).stdout);

/** Creates the instance NEW, but returns another ID. */
function bend(id: string, name = 'trainer'): void {
  service.posts.push(() => {
    service.rent(NEW, 'trainer');
    return ok({ id, name, status: 'PROVISIONING', created_at: '2026-01-15T12:00:01.000Z' }, 201);
  });
}

async function expectDoubt(argv: readonly string[], words: string): Promise<void> {
  const { code, stdout, stderr } = await world.cli([...argv, '--json']);
  expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
  expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error).toMatchObject({
    code: 'outcome_unknown',
    may_be_billing: true,
    message: expect.stringContaining(words),
    hint: expect.stringContaining('gpucloud instances recover'),
  });
  expect(await unknown()).toMatchObject([{ name: 'trainer' }]);
}

/** Fails the renames of an instance as a full disk would. */
function fillDisk(): void {
  const { renameSync } = fs;
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    if (String(to).includes(NEW)) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    renameSync(from, to);
  });
  syncBuiltinESMExports();
}

/** Rents the next instance, then fills the disk. */
function rentOnFullDisk(price: string): void {
  service.posts.push(() => {
    fillDisk();
    return ok(service.rent(NEW, 'trainer', { price_per_hour_snapshot: price }), 201);
  });
}

test('tracks only what it could save', async () => {
  service.rent(NEW, 'trainer');
  service.rent(ID, 'lab');
  fillDisk();
  await world.cli(['instances', 'track', NEW, ID, '--json']);
});

test("terminates an instance over --max-price even if it can't be saved", async () => {
  rentOnFullDisk('99.00');
  await world.cli([...CREATE, '--max-price', '20', '--json']);
  expect(service.instances.get(NEW)?.status).toBe('TERMINATING');
});

test("prints the ID of an instance that can't be saved, and reports the instance as billing", async () => {
  rentOnFullDisk('9.00');
  const { stderr } = await world.cli([...CREATE, '--json']);
  const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
  expect(error).toMatchObject({ code: 'storage', resource: NEW, may_be_billing: true });
  expect(error.message).toContain(`Created trainer (${NEW}), but could not save it`);
  expect(service.instances.get(NEW)?.status).toBe('PROVISIONING');
});

test('prints the ID from an incomplete response, and reports the instance as billing', async () => {
  // Too long to be typed.
  const name = 'x'.repeat(37);
  service.posts.push(() => {
    service.rent(NEW, name);
    return ok({ id: NEW, name }, 201);
  });
  const argv = CREATE.map((word) => (word === 'trainer' ? name : word));
  const { stderr } = await world.cli([...argv, '--json']);
  const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
  expect(error).toMatchObject({ resource: NEW, may_be_billing: true });
  expect(error.message).toContain(`Created ${name} (${NEW}). It is billing`);
});

test("exits with 7 and prints the ID if it can't be compared with known instances", async () => {
  const { lstatSync } = fs;
  const mend = () => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  };
  onTestFinished(mend);
  service.posts.push(() => {
    vi.spyOn(fs, 'lstatSync').mockImplementation((path, options) => {
      // As NFS fails while its server restarts.
      if (String(path).endsWith('user-1')) throw new Error('EIO: i/o error');
      return lstatSync(path, options);
    });
    syncBuiltinESMExports();
    return ok(service.rent(NEW, 'trainer'), 201);
  });
  const { stderr } = await world.cli([...CREATE, '--json']);
  mend();
  expect(errorOf(stderr)).toMatchObject({
    resource: 'trainer',
    may_be_billing: true,
    message: expect.stringContaining(
      `has the ID ${NEW}, which could not be compared with known instances: Error: EIO`,
    ),
  });
  expect(await unknown()).toMatchObject([{ name: 'trainer' }]);
});

describe('terminating an instance over --max-price', () => {
  const LIMITED = [...CREATE, '--max-price', '20', '--json'];
  let near: World;

  /** Creates a service whose instances cost more than the limit. */
  async function dear(terminate: (id: string) => Answer | 'hangUp') {
    service.shows = () => ({ price_per_hour_snapshot: '99.00' });
    near = await createWorld({
      handler: (request) =>
        request.path.endsWith('/terminate') ? terminate(NEW) : service.handler(request),
    });
  }

  test('continues the termination after one Ctrl-C', async () => {
    const first = new AbortController();
    await dear((id) => {
      first.abort(new CliError('interrupted', 'Interrupted.'));
      return service.terminate(id);
    });
    await near.cli(LIMITED, {
      interrupts: { first: first.signal, second: new AbortController().signal },
    });
  });
});

describe('the ID in the response to create', () => {
  test.each([SOURCE, SOURCE.toUpperCase()])(
    "rejects the reordered instance's ID in a response: %s",
    async (id) => {
      service.rent(SOURCE, 'old', { status: 'TERMINATED' });
      bend(id);
      await expectDoubt(REORDER, 'is the ID of the terminated instance');
      expect(await recovered()).toMatchObject([{ outcome: 'unknown' }]);
    },
  );

  test('rejects the ID of an instance from another request', async () => {
    await world.cli(['instances', 'create', 'first', ...HARDWARE]);
    service.posts.push(() => {
      service.rent(ID, 'trainer');
      return ok({ id: NEW, name: 'trainer', status: 'PROVISIONING' }, 201);
    });
    await expectDoubt(CREATE, 'is the ID of an instance known before the request');
    // The first instance keeps its name and resolves no request.
    expect(await listed()).toContainEqual(expect.objectContaining({ id: NEW, name: 'first' }));
    service.drives = [{ id: 'd1', current_instance_id: ID }];
    expect(await recovered()).toMatchObject([{ outcome: 'rented', id: ID }]);
  });

  test('rejects the ID of an instance that was tracked before', async () => {
    service.rent(ID, 'other');
    await world.cli(['instances', 'track', ID]);
    world.clock.advance(1000);
    bend(ID);
    await expectDoubt(CREATE, 'is the ID of an instance known before the request');
  });

  test('rejects an ID that belongs to another name, until recover assigns it', async () => {
    bend(NEW, 'other');
    await expectDoubt(CREATE, 'belongs to an instance with another name, other');
    expect(await listed()).toMatchObject([{ status: 'UNKNOWN' }, { id: NEW }]);
    expect(await recovered()).toMatchObject([{ outcome: 'rented', id: NEW }]);
    expect(await unknown()).toEqual([]);
    expect(await listed()).toMatchObject([{ id: NEW, name: 'trainer' }]);
  });
});

test('lists both the UNKNOWN name and an instance that the service renamed', async () => {
  service.posts.push(() => ok(service.rent(NEW, 'trainer-1'), 201));
  await expectDoubt(CREATE, 'belongs to an instance with another name, trainer-1');
  expect(await recovered()).toMatchObject([{ outcome: 'unknown' }]);
  expect(await listed()).toMatchObject([
    { id: null, name: 'trainer' },
    { id: NEW, name: 'trainer-1' },
  ]);
});

describe('a valid ID in the response to create', () => {
  test('accepts an ID that a drive showed first', async () => {
    service.posts.push(async () => {
      const instance = service.rent(NEW, 'trainer');
      service.drives = [{ id: 'd1', current_instance_id: NEW }];
      world.clock.advance(10);
      expect(await listed()).toContainEqual(expect.objectContaining({ id: NEW }));
      return ok(instance, 201);
    });
    const { code, stdout } = await world.cli([...CREATE, '-q']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${NEW}\n` });
    expect(await unknown()).toEqual([]);
  });

  test('accepts a name in another letter case, or a missing name', async () => {
    for (const [id, name] of [
      [NEW, 'TRAINER'],
      [ID, null],
    ]) {
      service.posts.push(() => ok({ id, name, status: 'PROVISIONING' }, 201));
      expect((await world.cli([...CREATE, '-q', '--yes'])).code).toBe(0);
    }
  });
});
