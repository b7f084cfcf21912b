import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { NO_RECEIPT } from '../../src/jobs/end/report.ts';
import { no } from '../support/service.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';

const OTHER = '11111111-1111-4111-8111-222222222222';
const IDS = ['a', 'b'].map((end) => `3f0c5d9e-1111-4222-8333-44445555777${end}`);

/** The report of a command that did not start. */
const UNSTARTED = {
  command_exit_code: null,
  fetched: [],
  seconds: expect.any(Number),
  ...NO_RECEIPT,
};

let world: LoopbackWorld;

describe('gpucloud run with several offers', () => {
  beforeEach(async () => {
    world = await createLoopbackWorld();
    const ids = [...IDS];
    world.renting.newId = () => ids.shift() ?? '';
  });

  const job = () => world.run('exit 3', ['--offer', OTHER, ...reporting()], { speed: 100 });
  const reporting = () => ['--report', world.local('report.json')];
  const report = () => JSON.parse(readFileSync(world.local('report.json'), 'utf8'));
  const statuses = () => [...world.renting.instances.values()].map(({ status }) => status);
  const rentals = () =>
    world.service.requests.filter(({ method, path }) => method === 'POST' && path === '/instances')
      .length;

  test('runs the command on the first available offer', async () => {
    world.renting.posts = [() => no(409, 'out of stock')];
    const { code } = await job();
    expect({ code, rentals: rentals() }).toEqual({ code: 3, rentals: 2 });
    expect(statuses()).toEqual(['TERMINATING']);
  });

  test('terminates an instance that reaches ERROR, and rents the next offer', async () => {
    const instance = world.renting.rent;
    const stored: unknown[] = [];
    world.renting.rent = (id, name, more) => {
      const { id: known, rented_at } = world.record();
      stored.push({ known, rented_at });
      return instance(id, name, { ...more, ...(id === IDS[0] ? { status: 'ERROR' } : {}) });
    };
    const { instances } = world.renting;
    world.renting.onRead = async (id) => {
      const found = instances.get(id);
      if (id === IDS[0] && found?.status === 'TERMINATING') {
        instances.set(id, { ...found, status: 'TERMINATED' });
      }
    };
    expect((await job()).code).toBe(3);
    expect(statuses()).toEqual(['TERMINATED', 'TERMINATING']);
    // Nobody may take the first instance for that of the second request.
    expect(stored).toEqual(Array(2).fill({ known: null, rented_at: null }));
    expect(world.record()).toMatchObject({ id: IDS[1], rented_at: expect.any(String) });
  });

  test('exits with 7 without trying another offer after an unknown outcome', async () => {
    world.renting.posts = [() => 'hangUp'];
    expect((await job()).code).toBe(7);
    expect(rentals()).toBe(1);
    expect(report()).toEqual({
      ...UNSTARTED,
      stage: 'renting',
      instance: { id: null, name: 'job' },
      terminated: 'unknown',
      exit_code: 7,
      error:
        'The outcome of the request to create instance job is unknown: connection closed before the response arrived. An instance may exist and be billing.',
    });
  });

  test('exits with 125 and terminates an instance not ready within --wait-timeout', async () => {
    const instance = world.renting.rent;
    world.renting.rent = (id, name) => instance(id, name, { status: 'PROVISIONING' });
    let reads = 0;
    world.renting.onRead = async () => {
      reads += 1;
      if (reads === 2) world.advance(31_000);
    };
    const flags = ['--offer', OTHER, '--wait-timeout', '30s', ...reporting()];
    const { code, stderr } = await world.run('true', flags);
    expect({ code, statuses: statuses() }, stderr).toEqual({
      code: 125,
      statuses: ['TERMINATING'],
    });
    expect(stderr).toContain('error: The instance is not ACTIVE after 30 s');
    expect(stderr).toMatch(/^Terminated job after .*\.\nIt cost at most 89\.90 ₽[.:]/m);
    expect(world.ssh.scripts).toEqual([]);
    expect(report()).toEqual({
      ...UNSTARTED,
      stage: 'starting',
      instance: { id: IDS[0], name: 'job' },
      terminated: true,
      output_complete: true,
      phases: { renting: null, copying: null, setup: null, running: null, fetching: null },
      cost_at_most: '89.90',
      exit_code: 125,
      error: 'The instance is not ACTIVE after 30 s; it was last seen PROVISIONING.',
    });
  });
});
