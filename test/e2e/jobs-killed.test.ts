import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld, OFFER } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { until } from '../support/ssh-world.ts';

let world: JobWorld;
beforeEach(async () => {
  world = await createJobWorld();
});

const gpucloud = (...argv: string[]) => world.computer.gpucloud(argv, { env: world.env });
const at = (...names: string[]) => join(world.computer.home, ...names);
const list = async () => JSON.parse((await gpucloud('jobs', 'list', '--json')).stdout);

/** Starts a run. */
function start(...more: string[]) {
  const words = [...world.words(...more), '--', 'sh', '-c', 'touch ../../ran'];
  const child = world.computer.start(words, { env: world.env });
  return { child, ended: once(child, 'close') };
}

/** Starts a run that copies its files in for half a minute. */
async function copying() {
  await world.replaceThere({ tar: 'touch ../../copying; sleep 30; real "$@"' });
  await mkdir(at('project'));
  await writeFile(at('project', 'file'), 'x');
  const started = start('--sync', at('project'));
  await until(() => existsSync(join(world.there, 'copying')));
  return started;
}

/** Kills a process as the system does, and lets its lock expire. */
async function kill({ child, ended }: ReturnType<typeof start>): Promise<void> {
  child.kill('SIGKILL');
  await ended;
  const jobs = at('state', 'jobs');
  const locks = (await readdir(jobs)).filter((name) => name.endsWith('.lock'));
  expect(locks).toHaveLength(1);
  for (const lock of locks) await utimes(join(jobs, lock), 0, 0);
}

async function reap() {
  const { code, stdout, stderr } = await gpucloud('instances', 'reap', '--json');
  return { code, rows: JSON.parse(stdout || 'null'), stderr };
}

describe('a run before its command', needs('ssh'), () => {
  test('ends its instance in the next reap if it was killed while copying in', async () => {
    await kill(await copying());
    expect(await list()).toMatchObject([{ status: 'RUNNING', phase: 'copying' }]);
    const reaped = await reap();
    expect(reaped, reaped.stderr).toMatchObject({ code: 125, rows: [{ outcome: 'terminated' }] });
    expect(world.status()).toBe('TERMINATING');
    expect(await list()).toMatchObject([{ status: 'EXITED', exit_code: null, phase: 'copying' }]);
    expect(await reap()).toMatchObject({ code: 0, rows: [] });
    expect(existsSync(join(world.there, 'ran'))).toBe(false);
  });

  test('obeys jobs stop while copying in', async () => {
    const { ended } = await copying();
    const stopped = await gpucloud('jobs', 'stop', 'job');
    expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
    expect(await ended).toEqual([125, null]);
    expect(world.status()).toBe('TERMINATING');
    expect(await list()).toMatchObject([{ status: 'EXITED', exit_code: null }]);
    expect(existsSync(join(world.there, 'ran'))).toBe(false);
  });

  test('ends its instance in the next reap if it was killed while it waited', async () => {
    const rent = world.renting.rent.bind(world.renting);
    world.renting.rent = (id, name) => rent(id, name, { status: 'PROVISIONING' });
    const started = start('--offer', OFFER, '--retry-for', '10m');
    await until(() => world.status() === 'PROVISIONING');
    await until(async () => (await list())[0]?.id !== null);
    await kill(started);
    world.renting.rent = rent;
    const reaped = await reap();
    expect(reaped, reaped.stderr).toMatchObject({ rows: [{ outcome: 'terminated' }] });
    expect(world.status()).toBe('TERMINATING');
  });

  test('leaves no job if it was killed before the service rented anything', async () => {
    world.renting.posts = [() => new Promise(() => undefined) as never];
    const started = start();
    await until(() => world.rentals() === 1);
    expect(await list()).toMatchObject([{ id: null, status: 'RUNNING', phase: 'renting' }]);
    await kill(started);
    // The outcome of the request is unknown, so its job stays.
    expect(await list()).toMatchObject([{ id: null, status: 'UNKNOWN', phase: 'renting' }]);
    const { code, stderr } = await gpucloud('jobs', 'attach', 'job');
    expect(code, stderr).toBe(7);
    await gpucloud('instances', 'untrack', 'job', '--yes');
    expect(await list()).toMatchObject([{ id: null, status: 'EXITED', phase: 'renting' }]);
  });
});
