import { readdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mayOverwrite } from '../../src/jobs/same-target.ts';
import { NEW } from '../support/renting-service.ts';
import { withoutTranscript } from '../support/transcript.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { exited, followed, LASTS, started } from './stories.ts';

describe('two fetches', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gpucloud-same-'));
    await mkdir(join(folder, 'there'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test.each([
    ['results:new', 'results:new', true],
    ['results:new', 'results:new/', true],
    ['results:new', 'results:new/seed-2', false],
    ['out-1:new', 'out-2:new', true],
    ['results:there', 'results:there', true],
    ['a.pt:there', 'b.pt:there', false],
    ['out-1:there', 'out-2:there', true],
    ['out-1:there', 'b.pt:there', false],
    ['a.pt:new/', 'b.pt:new/', false],
    ['a.pt:new/', 'b.pt:new', false],
    ['a.pt:new', 'b.pt:new', true],
    ['*.pt:new/', 'b.pt:new/', true],
    ['*.csv:new/', 'b.pt:new/', false],
    ['runs/*.csv:there/', 'out/*.csv:there/', true],
    ['results:there', 'results:new/../there', true],
  ])('%s and %s may write the same file: %s', async (one, other, expected) => {
    const fetchOf = (text: string) => {
      const [remote = '', local = ''] = text.split(':');
      return { remote, local: `${folder}/${local}` };
    };
    const [a, b] = [fetchOf(one), fetchOf(other)];
    expect([await mayOverwrite(a, b), await mayOverwrite(b, a)]).toEqual([expected, expected]);
  });
});

describe('the results of another job', () => {
  const DEV = '3f0c5d9e-9999-4222-8333-444455556666';
  let world: LoopbackWorld;
  let target: string;
  let fetch: string[];
  beforeEach(async () => {
    world = await createLoopbackWorld();
    target = join(await realpath(world.local('.')), 'results');
    fetch = ['--fetch', `results:${target}`];
  });
  afterEach(() => world.close());

  const refusal = (name: string, finish = 'finish the other job: gpucloud jobs attach job') =>
    `error: --fetch "results": the job on job has not ended, and its results would be written to "${target}" too\n` +
    `hint: give this job its own folder: --fetch results:${target}/${name}/; or ${finish}\n`;
  const records = () =>
    readdirSync(world.local('state/jobs')).filter((name) => name.endsWith('.json')).length;

  test.each([[[]], [['--dry-run']]])('refuse a run while it runs: %j', async (more) => {
    await world.detach(LASTS, '--fetch', `log:${world.local('log')}`, ...fetch);
    await started(world);
    const again = await world.run('true', ['--name', 'seed-2', ...fetch, ...more]);
    expect(again).toEqual({ code: 2, stdout: '', stderr: refusal('seed-2') });
    expect([world.renting.instances.size, records()]).toEqual([1, 1]);
  });

  test('refuse a run while its instance is stopped', async () => {
    await world.detach(LASTS, ...fetch);
    world.renting.rent(NEW, 'job', { status: 'STOPPED' });
    const { code, stderr } = await world.run('true', ['--name', 'seed-2', ...fetch]);
    const start =
      'reach the results (this bills): gpucloud instances start job --wait=ssh; give the results up: gpucloud instances terminate job';
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `warning: job is STOPPED.\n${refusal('seed-2', start)}`,
    });
  });

  test('refuse a run while another process follows it', async () => {
    const ended = world.run(LASTS, fetch);
    await followed(world);
    const { code, stderr } = await world.run('true', ['--name', 'seed-2', ...fetch]);
    const wait = 'wait for the other job: gpucloud jobs logs job --follow';
    expect({ code, stderr }).toEqual({ code: 2, stderr: refusal('seed-2', wait) });
    world.advance(59 * 60_000);
    await ended;
  });

  test('warn once of a job that has exited on a stopped instance', async () => {
    await world.gpucloud(['instances', 'reap', '--every', '5m']);
    await world.run('true', fetch);
    world.renting.rent(NEW, 'job', { status: 'STOPPED' });
    const again = await world.run('exit 3', ['--name', 'seed-2', ...fetch]);
    expect(again.stderr.match(/^warning: (?:job is STOPPED|The results of job)/gm)).toEqual([
      'warning: job is STOPPED',
      'warning: The results of job',
    ]);
  });

  test('refuse a run on another instance', async () => {
    world.renting.rent(DEV, 'dev');
    await world.detach(LASTS, ...fetch);
    await started(world);
    const key = world.local('key');
    const words = ['run', '--on', DEV, '--identity', key, ...fetch, '--', 'true'];
    const refused = await world.gpucloud(words);
    expect(refused).toEqual({ code: 2, stdout: '', stderr: refusal(DEV) });
    expect(records()).toBe(1);
  });

  test('only warn of a job that has exited', async () => {
    await world.detach('mkdir results', ...fetch);
    await exited(world);
    await world.run('true', ['--name', 'seed-2', ...fetch, '--dry-run']);
    await world.gpucloud(['jobs', 'attach', 'job']);
    const last = await world.run('true', ['--name', 'seed-2', ...fetch, '--dry-run']);
    expect(last.stderr).not.toContain('are not copied yet');
  });

  test('do not count after a failed setup', async () => {
    await world.gpucloud(['instances', 'reap', '--every', '5m']);
    await world.run('true', [...fetch, '--setup', 'exit 3', '--keep-on-failure', '30m']);
    expect(world.record()).toMatchObject({ kept: 'command', setup_exit_code: 3, ended_at: null });
    await world.run('true', ['--name', 'seed-2', ...fetch, '--dry-run']);
  });

  test.each<[string, () => unknown]>([
    ['is terminated', () => world.renting.rent(NEW, 'job', { status: 'TERMINATED' })],
    ['is not found', () => world.renting.instances.delete(NEW)],
  ])('do not count once the instance %s', async (_how, ends) => {
    await world.gpucloud(['instances', 'reap', '--every', '5m']);
    await world.run('true', fetch);
    expect(world.record()).toMatchObject({ kept: 'results', exit_code: 0, ended_at: null });
    ends();
    await world.run('true', ['--name', 'seed-2', ...fetch, '--dry-run']);
  });

  test('do not count of a run that was killed before it rented', async () => {
    await world.run('mkdir results', fetch);
    const before = { id: null, ended_at: null, exit_code: null, command_started_at: null };
    const killed = { ...world.record(), ...before, started_at: new Date(world.clock.now()) };
    const fetched = killed.fetch.map((one) => ({ ...one, fetched_at: null }));
    writeFileSync(world.jobFile('json'), JSON.stringify({ ...killed, fetch: fetched }));
    await world.run('true', ['--name', 'seed-2', ...fetch, '--dry-run']);
  });

  test('refuse one of two runs that begin at once', async () => {
    withoutTranscript();
    const detached = ['--detach', '--unenforced'];
    const runs = await Promise.all(
      ['job', 'seed-2'].map((name) => world.run(LASTS, ['--name', name, ...detached, ...fetch])),
    );
    expect(runs.map(({ code }) => code)).toContain(2);
    expect(world.renting.instances.size).toBeLessThan(2);
    expect(records()).toBe(world.renting.instances.size);
  });
});
