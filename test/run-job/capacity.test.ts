import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { needs } from '../support/needs.ts';
import { no } from '../support/service.ts';
import { runFast } from './fast-run.ts';
import { createJobWorld, type JobWorld, OFFER } from './job-world.ts';

const OTHER = '11111111-1111-4111-8111-222222222222';
const IDS = ['a', 'b'].map((end) => `3f0c5d9e-1111-4222-8333-44445555777${end}`);

let world: JobWorld;

describe('gpucloud run with several offers', { timeout: 60_000, ...needs('ssh') }, () => {
  beforeEach(async () => {
    world = await createJobWorld();
    const ids = [...IDS];
    world.renting.newId = () => ids.shift() ?? '';
  });
  afterEach(() => world.close());

  const job = (interrupts?: { first: AbortSignal; second: AbortSignal }) =>
    runFast(
      world,
      [...world.words('--offer', OFFER, '--offer', OTHER), '--', 'sh', '-c', 'exit 3'],
      interrupts && { interrupts },
    );
  const statuses = () => [...world.renting.instances.values()].map(({ status }) => status);

  test('runs the command on the first available offer', async () => {
    world.renting.posts = [() => no(409, 'out of stock')];
    const { code, stderr } = await job();
    expect({ code, rentals: world.rentals() }).toEqual({ code: 3, rentals: 2 });
    expect(stderr).toContain('(409): out of stock');
    expect(statuses()).toEqual(['TERMINATING']);
  });

  test('terminates an instance that reaches ERROR, and rents the next offer', async () => {
    const instance = world.renting.rent;
    world.renting.rent = (id, name, more) =>
      instance(id, name, { ...more, ...(id === IDS[0] ? { status: 'ERROR' } : {}) });
    const { instances } = world.renting;
    world.renting.onRead = async (id) => {
      const found = instances.get(id);
      if (id === IDS[0] && found?.status === 'TERMINATING') {
        instances.set(id, { ...found, status: 'TERMINATED' });
      }
    };
    expect((await job()).code).toBe(3);
    expect(statuses()).toEqual(['TERMINATED', 'TERMINATING']);
    expect(world.rentals()).toBe(2);
  });

  test('sends no more requests after an unknown outcome', async () => {
    world.renting.posts = [() => 'hangUp'];
    expect((await job()).code).toBe(7);
    expect(world.rentals()).toBe(1);
  });

  test('terminates the instance on Ctrl-C during the wait', async () => {
    const instance = world.renting.rent;
    world.renting.rent = (id, name) => instance(id, name, { status: 'PROVISIONING' });
    const first = new AbortController();
    world.renting.onRead = async () => first.abort(new CliError('interrupted', 'Interrupted.'));
    const { code } = await job({ first: first.signal, second: new AbortController().signal });
    expect(code).toBe(130);
    expect(statuses()).toEqual(['TERMINATING']);
  });
});
