import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, vi } from 'vitest';
import type { JobRecord } from '../../src/jobs/record/record.ts';
import type { Outcome } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';
import { type Answer, ok } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';
import type { FastRun } from './fast-run.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';

export const OTHER = '3f0c5d9e-1111-4222-8333-444455558888';
export const ENDED = { 'job-1': 'TERMINATING', 'job-2': 'TERMINATING' };

/** The world of the current test. */
export let world: LoopbackWorld;

/** Makes a world with two instances for each test of the file. */
export function withTwoInstances(): void {
  beforeEach(async () => {
    world = await createLoopbackWorld();
    const { rent } = world.renting;
    world.renting.rent = (_id, name, more) => rent(name === 'job-2' ? OTHER : NEW, name, more);
    vi.stubEnv('TMPDIR', world.local('.'));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    return world.close();
  });
}

/** Answers the request to rent this instance, and that for the other one, whichever is sent first. */
export function answerFor(name: string, answer: Answer, other?: 'hangUp'): void {
  const rent = () => ok(world.renting.rent(NEW, name === 'job-1' ? 'job-2' : 'job-1'), 201);
  world.renting.posts = [1, 2].map(
    () => (request) =>
      JSON.stringify(request.body).includes(`"${name}"`) ? answer : (other ?? rent()),
  );
}

export const statuses = () =>
  Object.fromEntries([...world.renting.instances.values()].map((one) => [one.name, one.status]));
export const report = () => JSON.parse(readFileSync(world.local('report.json'), 'utf8'));
export const nameOf = (id: string) => world.renting.instances.get(id)?.name ?? '';
/** The stored records of all jobs. */
export const records = (): JobRecord[] => {
  const folder = world.local('state/jobs');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
};
export const local = (name: string) => readFileSync(world.local(name), 'utf8');
export const fetching = () => ['--fetch', `result:${world.local('got')}`];
export const gotFrom = (name: string) => existsSync(world.local(`got/${name}`));

/** Runs a shell script with --here for two instances, in this computer's home folder. */
export function here(
  script: string,
  flags: readonly string[] = [],
  how: FastRun = {},
): Promise<Outcome> {
  const own = ['--here', '--count', '2', '--report', world.local('report.json'), ...flags];
  return world.run(`cd ${world.local('.')}; ${script}`, own, how);
}

/** Writes a result on each instance with these IDs. */
export const results = (...ids: string[]) =>
  ids.map((id) => `echo ${id} >${world.there(id)}/gpucloud-run/work/result`).join('; ');

/** The folders with inventories. */
export const folders = () =>
  readdirSync(world.local('.')).filter((name) => name.startsWith('gpucloud-here-'));

/** Writes `up`, then waits for a signal. */
export const LASTS = 'touch up; while :; do sleep 0.1; done';
export const isUp = () => until(() => existsSync(world.local('up')));
