import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NEW } from '../support/renting-service.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { exited, reap } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

const HOUR = 3_600_000;

async function status() {
  const { stdout } = await world.gpucloud(['status', '--json']);
  const { attention, next } = JSON.parse(stdout);
  const ofJobs = attention.filter(({ code }: { code: string }) => code.startsWith('job_'));
  return {
    attention: ofJobs.map((one: { message: string; command: string }) => [
      one.message.replace(/In [^,]+, it/, 'In TIME, it'),
      one.command,
    ]),
    next: next.map(({ command }: { command: string }) => command),
  };
}

describe('a command that soon fails, and whose path is missing', () => {
  const fetch = () => ['--fetch', `reslts:${world.local('out')}`];

  test.each([
    ['nothing', 'exit 3'],
    ['only a cache', 'mkdir -p ~/.cache; touch ~/.cache/a; exit 3'],
  ])('is not kept if it wrote %s', async (_what, command) => {
    await world.run(command, fetch());
    expect(world.status()).toBe('TERMINATING');
    expect((await status()).attention).toEqual([]);
  });

  test('is not kept by reap either', async () => {
    await world.detach('exit 3', ...fetch());
    await exited(world);
    expect((await reap(world)).rows).toMatchObject([{ id: NEW }]);
    expect(world.status()).toBe('TERMINATING');
  });

  test.each([
    ['wrote something', 'touch log; exit 3', []],
    ['wrote to its home folder', 'mkdir ~/out; touch ~/out/a; exit 3', []],
    // As on a disk that stores whole seconds.
    ['wrote in the second of its start', 'touch -d "@$(date +%s)" ~/log; exit 3', []],
    ['is to be kept', 'exit 3', ['--keep-on-failure', '1h']],
    ['succeeded', 'true', []],
    ['may have written outside of its folder', 'exit 3', ['--fetch', '../none:none']],
  ])('is kept if it %s', async (_what, command, more) => {
    await world.gpucloud(['instances', 'reap', '--every', '5m']);
    const { stderr } = await world.run(command, [...fetch(), ...more]);
    expect(stderr).toContain('warning: Kept job: it bills until ');
    expect(world.status()).toBe('ACTIVE');
  });

  test('is kept if it wrote through a symlink', async () => {
    const [project, disk] = [world.local('project'), world.local('disk')];
    for (const folder of [project, disk]) await mkdir(folder);
    await symlink(disk, join(project, 'out'));
    await world.detach('touch out/log; exit 3', '--sync', project, ...fetch());
    await exited(world);
    expect((await reap(world)).rows).toMatchObject([{ outcome: 'kept' }]);
  });

  test('is kept if nothing shows what it wrote', async () => {
    await writeFile(world.local('../bin/find'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
    await world.detach('touch log; exit 3', ...fetch());
    await exited(world);
    expect((await reap(world)).rows).toMatchObject([{ outcome: 'kept' }]);
  });

  test.each([
    [299, 'terminated'],
    [300, 'kept'],
  ])('after %i seconds is %s', async (seconds, outcome) => {
    await world.detach('exit 3', ...fetch());
    await exited(world);
    await writeFile(join(world.job, 'times'), `0 ${seconds}\n`);
    world.advance(HOUR / 2);
    expect((await reap(world)).rows).toMatchObject([{ outcome }]);
  });
});

test('jobs list says only of an instance that may bill that it may', async () => {
  await world.detach('true', '--fetch', `reslts:${world.local('out')}`);
  await exited(world);
  await reap(world);
  const listed = async () => (await world.gpucloud(['jobs', 'list'])).stderr;
  expect(await listed()).toContain('It may be billing.');
  world.renting.rent(NEW, 'job', { status: 'TERMINATING' });
  expect(await listed()).toBe('');
});

test('jobs attach with a second wrong path says so at once, and keeps the instance', async () => {
  await world.detach('true', '--fetch', `reslts:${world.local('out')}`);
  await exited(world);
  await reap(world);
  const again = ['--fetch', `result:${world.local('out')}`];
  const { code, stderr } = await world.gpucloud(['jobs', 'attach', 'job', ...again]);
  expect({ code, status: world.status() }, stderr).toEqual({ code: 125, status: 'ACTIVE' });
});

describe('status after a wrong path of --fetch', () => {
  const MISSING =
    'job: Could not copy files out: reslts does not exist on the instance. In TIME, it is terminated with what was not copied. To copy another path';

  beforeEach(async () => {
    await world.gpucloud(['instances', 'reap', '--every', '5m']);
    const wrong = ['--fetch', `reslts:${world.local('out')}`];
    const { code, stderr } = await world.run('mkdir results', wrong);
    expect(code, stderr).toBe(125);
    expect(await status()).toEqual({
      attention: [[MISSING, 'gpucloud jobs attach job --fetch PATH']],
      next: expect.arrayContaining(['gpucloud jobs stop job --no-fetch']),
    });
  });

  test('its first line works', async () => {
    const right = `results:${world.local('out')}`;
    await world.gpucloud(['jobs', 'attach', 'job', '--fetch', right]);
    expect(world.status()).toBe('TERMINATING');
    expect((await status()).attention).toEqual([]);
  });

  test('its last line works', async () => {
    await world.gpucloud(['jobs', 'stop', 'job', '--no-fetch']);
    expect(world.status()).toBe('TERMINATING');
    expect((await status()).attention).toEqual([]);
  });

  test('says for a day that reap ended the job without its results', async () => {
    world.advance(HOUR);
    const passed = await reap(world);
    expect(passed.rows, passed.stderr).toMatchObject([{ id: NEW }]);
    expect(world.status()).toBe('TERMINATING');
    expect((await status()).attention).toEqual([
      ['The results of job were not copied. To see why', 'gpucloud jobs get job'],
    ]);
    world.advance(25 * HOUR);
    expect((await status()).attention).toEqual([]);
  });
});
