import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { NEW } from '../../support/renting-service.ts';
import { no } from '../../support/service.ts';
import { createLoopbackWorld, type LoopbackWorld } from '../loopback-world.ts';
import { ctrlC, exited, followed, reap, started } from '../stories.ts';
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

interface Situation {
  readonly is: string;
  begin(): Promise<unknown>;
  readonly action: string;
  readonly why: string | RegExp;
  /** What the real pass then does. */
  readonly outcomes: readonly string[];
  readonly copies?: true;
}

const SITUATIONS: readonly Situation[] = [
  {
    is: 'a deadline in an hour',
    begin: () => create(),
    action: 'nothing',
    why: 'its deadline has not passed',
    outcomes: [],
  },
  {
    is: 'a deadline that has passed',
    begin: () => create().then(() => world.advance(70.5 * MINUTE)),
    action: 'terminate',
    why: /^its deadline passed 10 min ago$/,
    outcomes: ['terminated'],
  },
  {
    is: '--rescue and a deadline in an hour',
    begin: () => create('out'),
    action: 'nothing',
    why: 'its deadline has not passed',
    outcomes: [],
  },
  {
    is: '--rescue and a near deadline',
    begin: () => create('out').then(() => world.advance(56 * MINUTE)),
    action: 'rescue',
    why: 'its deadline is near',
    outcomes: [],
    copies: true,
  },
  {
    is: '--rescue and a deadline that has passed',
    begin: () => create('out').then(() => world.advance(70 * MINUTE)),
    action: 'rescue',
    why: 'its deadline has passed',
    outcomes: ['terminated'],
    copies: true,
  },
  {
    is: '--rescue of a path that counts from the home folder beside a job of run --on',
    async begin() {
      await create('out');
      expect((await world.runOn('true')).code).toBe(0);
      world.advance(70 * MINUTE);
    },
    action: 'rescue',
    why: 'its deadline has passed',
    outcomes: ['terminated'],
    copies: true,
  },
  {
    is: '--rescue and a deadline that passed while this computer slept for 6 hours',
    begin: () => create('out').then(() => world.advance(7 * 60 * MINUTE)),
    action: 'rescue',
    why: 'its deadline has passed',
    outcomes: ['terminated'],
    copies: true,
  },
  {
    is: '--rescue that failed, and whose budget was used up while this computer slept',
    async begin() {
      await create('late');
      world.advance(70 * MINUTE);
      expect((await reap(world)).rows).toMatchObject([{ outcome: 'kept' }]);
      renameSync(join(world.there(NEW), 'out'), join(world.there(NEW), 'late'));
      world.advance(6 * 60 * MINUTE);
    },
    action: 'rescue',
    why: 'its --rescue budget is used up, so this is the last try',
    outcomes: ['terminated'],
    copies: true,
  },
  {
    is: 'a command that runs',
    begin: () => world.detach(LASTS).then(() => started(world)),
    action: 'nothing',
    why: 'its command still runs',
    outcomes: [],
  },
  {
    is: 'a command that runs past its deadline',
    async begin() {
      await world.detach(LASTS);
      await started(world);
      world.advance(70 * MINUTE);
    },
    action: 'finish_job',
    why: 'its deadline has passed, and its command still runs',
    outcomes: ['terminated'],
  },
  {
    is: 'a command that runs on an instance that its job could not terminate',
    async begin() {
      const { interrupts, press } = ctrlC();
      world.renting.terminations = Array.from({ length: 9 }, () => () => no(403, 'Forbidden'));
      const ended = world.run(LASTS, [], { interrupts });
      await followed(world);
      press();
      press();
      expect((await ended).code).toBe(7);
      world.renting.terminations = [];
    },
    action: 'finish_job',
    why: 'gpucloud has already tried to terminate it, and its command still runs',
    outcomes: ['terminated'],
  },
  {
    is: 'a command that has exited',
    begin: () => world.detach('true').then(() => exited(world)),
    action: 'finish_job',
    why: 'its command has exited',
    outcomes: ['terminated'],
  },
  {
    is: 'a command that exited before its deadline passed',
    async begin() {
      const words = ['--fetch', `out:${world.local('got')}`];
      await world.detach('mkdir out; echo x >out/a', ...words);
      await exited(world);
      world.advance(120 * MINUTE);
    },
    action: 'finish_job',
    why: 'its command has exited',
    outcomes: ['terminated'],
    copies: true,
  },
  {
    is: 'a job that does not respond',
    async begin() {
      await world.detach(LASTS);
      await started(world);
      world.ssh.refuse = () => 'Connection refused';
    },
    action: 'nothing',
    why: 'its job does not respond',
    outcomes: [],
  },
  {
    is: 'a command on a stopped instance',
    begin: () => world.detach(LASTS).then(stop),
    action: 'nothing',
    why: 'it is STOPPED',
    outcomes: [],
  },
  {
    is: 'a command on a stopped instance past its deadline',
    begin: () =>
      world
        .detach(LASTS)
        .then(stop)
        .then(() => world.advance(70 * MINUTE)),
    action: 'terminate',
    why: 'its deadline has passed, and it is STOPPED',
    outcomes: ['terminated'],
  },
  {
    is: 'a command on an instance that ended elsewhere',
    begin: () => world.detach(LASTS).then(() => world.renting.rent(NEW, 'job', OVER)),
    action: 'nothing',
    why: 'it has already ended',
    outcomes: ['already_ended'],
  },
  {
    is: 'a command on an instance that ended elsewhere before its deadline passed',
    async begin() {
      await world.detach(LASTS);
      world.renting.rent(NEW, 'job', OVER);
      world.advance(70 * MINUTE);
    },
    action: 'nothing',
    why: 'it has already ended',
    outcomes: ['already_ended'],
  },
  {
    is: 'a stopped instance past its deadline, kept for results',
    async begin() {
      await world.gpucloud(['instances', 'reap', '--every', '5m']);
      await world.run('true', ['--fetch', `missing:${world.local('got/b')}`]);
      stop();
      world.advance(70 * MINUTE);
    },
    action: 'terminate',
    why: 'its deadline has passed, and it is STOPPED',
    outcomes: ['terminated'],
  },
];

describe('reap --dry-run', needs('ssh'), () => {
  test.each(SITUATIONS)('says what a pass then does, row %#: $is', async (situation) => {
    const { begin, action, why, outcomes, copies = false } = situation;
    await begin();
    const before = [world.status(), world.terminations()];
    const { code, rows, stderr } = await reap(world, '--dry-run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const text = typeof why === 'string' ? why : expect.stringMatching(why);
    expect(rows).toMatchObject([{ id: NEW, action, why: text }]);
    expect([world.status(), world.terminations()]).toEqual(before);
    expect(got()).toBe(false);
    const real = await reap(world);
    expect(real.rows.map(({ outcome }: { outcome: string }) => outcome)).toEqual(outcomes);
    expect(got()).toBe(copies);
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
