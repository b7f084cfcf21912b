import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FOLLOWING } from '../../../src/jobs/remote/supervisor.ts';
import type { Reaped, ReapPlan } from '../../../src/json-results/instances.ts';
import { needs } from '../../support/needs.ts';
import { NEW } from '../../support/renting-service.ts';
import { no } from '../../support/service.ts';
import { createLoopbackWorld, type LoopbackWorld } from '../loopback-world.ts';
import { ctrlC, exited, followed, killSupervisor, reap, started } from '../stories.ts';
import { createBox } from './rented.ts';

let world: LoopbackWorld;

beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

const MINUTE = 60_000;
const LASTS = 'touch up; while :; do sleep 0.1; done';
const got = () => existsSync(world.local('got/a'));

const OVER = { status: 'TERMINATED' };
const stop = () => world.renting.rent(NEW, 'job', { status: 'STOPPED' });
const create = (rescue?: string) => createBox(world, rescue);

/** What a pass would do and why, and then does. */
type Situation = [is: string, does: string, begin: () => Promise<unknown>];
const lasting = () => world.detach(LASTS).then(() => started(world));
const refuse = (why?: string) => Object.assign(world.ssh, { refuse: () => why });

const SITUATIONS: readonly Situation[] = [
  ['a deadline in an hour', 'nothing: its deadline has not passed; then nothing', () => create()],
  [
    'a deadline that has passed',
    'terminate: its deadline passed 10 min ago; then terminated',
    () => create().then(() => world.advance(70.5 * MINUTE)),
  ],
  [
    '--rescue and a deadline in an hour',
    'nothing: its deadline has not passed; then nothing',
    () => create('out'),
  ],
  [
    '--rescue and a near deadline',
    'rescue: its deadline is near; then copies',
    () => create('out').then(() => world.advance(56 * MINUTE)),
  ],
  [
    '--rescue and a deadline that has passed',
    'rescue: its deadline has passed; then terminated and copies',
    () => create('out').then(() => world.advance(70 * MINUTE)),
  ],
  [
    '--rescue of a path that counts from the home folder beside a job of run --on',
    'rescue: its deadline has passed; then terminated and copies',
    async () => {
      await create('out');
      expect((await world.runOn('true')).code).toBe(0);
      world.advance(70 * MINUTE);
    },
  ],
  [
    '--rescue and a deadline that passed while this computer slept for 6 hours',
    'rescue: its deadline has passed; then terminated and copies',
    () => create('out').then(() => world.advance(7 * 60 * MINUTE)),
  ],
  [
    '--rescue that failed, and whose budget was used up while this computer slept',
    'rescue: its --rescue budget is used up, so this is the last try; then terminated and copies',
    async () => {
      await create('late');
      world.advance(70 * MINUTE);
      expect((await reap(world)).rows).toMatchObject([{ outcome: 'kept' }]);
      renameSync(join(world.there(NEW), 'out'), join(world.there(NEW), 'late'));
      world.advance(6 * 60 * MINUTE);
    },
  ],
  ['a command that runs', 'nothing: its command still runs; then nothing', () => lasting()],
  [
    'a command that runs past its deadline',
    'finish_job: its deadline has passed, and its command still runs; then terminated',
    async () => {
      await lasting();
      world.advance(70 * MINUTE);
    },
  ],
  [
    'a command that runs on an instance that its job could not terminate',
    'finish_job: gpucloud has already tried to terminate it, and its command still runs; then terminated',
    async () => {
      const { interrupts, press } = ctrlC();
      world.renting.terminations = Array.from({ length: 9 }, () => () => no(403, 'Forbidden'));
      const ended = world.run(LASTS, [], { interrupts });
      await followed(world);
      press();
      press();
      expect((await ended).code).toBe(7);
      world.renting.terminations = [];
    },
  ],
  [
    'a command that has exited',
    'finish_job: its command has exited; then terminated',
    () => world.detach('true').then(() => exited(world)),
  ],
  [
    'a command that exited before its deadline passed',
    'finish_job: its command has exited; then terminated and copies',
    async () => {
      const words = ['--fetch', `out:${world.local('got')}`];
      await world.detach('mkdir out; echo x >out/a', ...words);
      await exited(world);
      world.advance(120 * MINUTE);
    },
  ],
  [
    'a command that has disappeared',
    'keep: its command has disappeared; then lost',
    () =>
      world
        .detach(LASTS)
        .then(() => started(world))
        .then(() => killSupervisor(world)),
  ],
  [
    'a command that has disappeared, past its deadline',
    'finish_job: its deadline has passed, and its command has disappeared; then terminated',
    async () => {
      await lasting();
      await killSupervisor(world);
      world.advance(70 * MINUTE);
    },
  ],
  [
    'a command on an instance in ERROR past its deadline',
    'terminate: its deadline has passed, and its job does not respond; then terminated',
    async () => {
      await world.detach(LASTS);
      world.renting.rent(NEW, 'job', { status: 'ERROR' });
      refuse('Connection refused');
      world.advance(70 * MINUTE);
    },
  ],
  [
    'a command whose loss was reported',
    'keep: its command has disappeared; then nothing',
    () =>
      world
        .detach(LASTS)
        .then(() => started(world))
        .then(() => killSupervisor(world))
        .then(() => reap(world)),
  ],
  [
    'a job that does not respond',
    'nothing: its job does not respond; then nothing',
    async () => {
      await lasting();
      refuse('Connection refused');
    },
  ],
  [
    'a command on a stopped instance',
    'nothing: it is STOPPED; then nothing',
    () => world.detach(LASTS).then(stop),
  ],
  [
    'a command on a stopped instance past its deadline',
    'terminate: its deadline has passed, and it is STOPPED; then terminated',
    () =>
      world
        .detach(LASTS)
        .then(stop)
        .then(() => world.advance(70 * MINUTE)),
  ],
  [
    'a command on an instance that ended elsewhere',
    'nothing: it has already ended; then already_ended',
    () => world.detach(LASTS).then(() => world.renting.rent(NEW, 'job', OVER)),
  ],
  [
    'a command on an instance that ended elsewhere before its deadline passed',
    'nothing: it has already ended; then already_ended',
    async () => {
      await world.detach(LASTS);
      world.renting.rent(NEW, 'job', OVER);
      world.advance(70 * MINUTE);
    },
  ],
  [
    'a stopped instance past its deadline, kept for results',
    'terminate: its deadline has passed, and it is STOPPED; then terminated',
    async () => {
      await world.gpucloud(['instances', 'reap', '--every', '5m']);
      await world.run('true', ['--fetch', `missing:${world.local('got/b')}`]);
      stop();
      world.advance(70 * MINUTE);
    },
  ],
  [
    'a command whose instance refuses the key',
    'nothing: its job does not respond; then refused',
    () => lasting().then(() => refuse('Permission denied (publickey).')),
  ],
  [
    'a command whose instance has refused the key',
    'nothing: its command still runs; then nothing',
    () =>
      lasting()
        .then(() => refuse('Permission denied (publickey).'))
        .then(() => reap(world))
        .then(() => refuse()),
  ],
  [
    'a command that has exited on an instance that can not be terminated',
    'finish_job: its command has exited; then unknown',
    async () => {
      await world.detach('true').then(() => exited(world));
      world.renting.terminations = Array.from({ length: 9 }, () => () => no(403, 'Forbidden'));
    },
  ],
  [
    'a command that has exited, and a connection that is cut once',
    'finish_job: its command has exited; then terminated',
    async () => {
      await world.detach('true').then(() => exited(world));
      const cuts = ['Connection reset'];
      world.ssh.refuse = (script) => (script.includes(FOLLOWING) ? cuts.pop() : undefined);
    },
  ],
  [
    '--rescue that was set after a deadline, which is near',
    'rescue: its deadline is near; then copies',
    async () => {
      await create();
      const words = ['expire', 'box', '--rescue', `out:${world.local('got')}`];
      expect((await world.gpucloud(['instances', ...words])).code).toBe(0);
      world.advance(55 * MINUTE);
    },
  ],
];

describe('reap --dry-run', needs('ssh'), () => {
  test.each(SITUATIONS)('says what a pass then does, row %#: %s', async (...situation) => {
    const [, does, begin] = situation;
    await begin();
    const before = [world.status(), world.terminations()];
    const { code, rows, stderr } = await reap(world, '--dry-run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect([world.status(), world.terminations()]).toEqual(before);
    expect(got()).toBe(false);
    const real = await reap(world);
    const said = rows.map((row: ReapPlan) => `${row.id} ${row.action}: ${row.why}`);
    const then = real.rows.map((row: Reaped) => row.outcome);
    const outcome = [...then, ...(got() ? ['copies'] : [])].join(' and ') || 'nothing';
    expect(`${said}; then ${outcome}`).toBe(`${NEW} ${does}`);
  });

  test('leaves out an instance that has ended', async () => {
    await create();
    const words = ['instances', 'terminate', 'box', '--yes'];
    expect((await world.gpucloud(words)).code).toBe(0);
    expect(await reap(world, '--dry-run')).toMatchObject({ code: 0, rows: [], stderr: '' });
  });

  test('leaves a job to the process that follows it', async () => {
    const ended = world.run(LASTS, []);
    await followed(world);
    expect((await reap(world, '--dry-run')).rows).toMatchObject([
      { action: 'nothing', why: 'another gpucloud process follows its job' },
    ]);
    expect(await reap(world)).toMatchObject({ code: 0, rows: [] });
    world.advance(59 * MINUTE);
    await ended;
  });
});
