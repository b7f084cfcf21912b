import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { NEW } from '../../support/renting-service.ts';
import { until } from '../../support/ssh-world.ts';
import { withoutTranscript } from '../../support/transcript.ts';
import type { FastRun } from '../fast-run.ts';
import { createLoopbackWorld, type LoopbackWorld } from '../loopback-world.ts';
import { ctrlC, reap } from '../stories.ts';

let world: LoopbackWorld;

beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

const MINUTE = 60_000;
/** Longer than what commands show. */
const NAME = 'job-with-a-name-that-is-longer-than-an-id';
const LASTS = 'mkdir out; echo result > out/a; while :; do sleep 0.1; done';

const there = (name: string) => join(world.job, 'work', name);
const here = (name: string) => world.local(join('got', name));
const isUp = () => until(() => existsSync(there('out/a')));

/** Whether a copy has failed, so that a path made now is copied by a later attempt. */
async function isFailing(): Promise<boolean> {
  const { stdout } = await world.gpucloud(['instances', 'get', NAME, '--json']);
  return JSON.parse(stdout).rescue_failing !== null;
}

/** Sets what is copied from the instance of the job. */
async function rescue(path: string, ...more: string[]): Promise<void> {
  const words = ['--after', '1h', '--rescue', `${path}:${world.local('got')}`, ...more];
  const { code, stderr } = await world.gpucloud(['instances', 'expire', NAME, ...words]);
  expect(code, stderr).toBe(0);
}

/** Starts a job that outlasts its deadline. */
async function begin(path: string, how: FastRun = {}, ...flags: string[]) {
  const ended = world.run(LASTS, ['--name', NAME, ...flags], how);
  await isUp();
  await rescue(path);
  return () => ended;
}

describe('run at the deadline of an instance with --rescue', needs('POSIX'), () => {
  test('copies the paths before it terminates the instance', async () => {
    const end = await begin('out');
    world.advance(59 * MINUTE);
    const { code } = await end();
    expect(code).toBe(125);
    expect(readFileSync(here('a'), 'utf8')).toBe('result\n');
    expect(world.status()).toBe('TERMINATING');
  });

  test('copies nothing at jobs stop', async () => {
    await world.detach(LASTS, '--name', NAME);
    await isUp();
    await rescue('out');
    world.advance(70 * MINUTE);
    await world.gpucloud(['jobs', 'stop', NAME]);
    expect(existsSync(here('a'))).toBe(false);
    expect(world.status()).toBe('TERMINATING');
  });

  test('keeps the instance while a path is missing, says so, and copies it once it is there', async () => {
    const end = await begin('late');
    world.advance(59 * MINUTE);
    await until(isFailing);
    expect(world.status()).toBe('ACTIVE');
    mkdirSync(there('late'));
    writeFileSync(there('late/a'), 'late\n');
    const timer = setInterval(() => world.advance(MINUTE), 200);
    const { stderr } = await end().finally(() => clearInterval(timer));
    expect(readFileSync(here('a'), 'utf8')).toBe('late\n');
    expect(world.status()).toBe('TERMINATING');
    expect(stderr).toMatch(
      /^warning: Could not copy the --rescue paths of job-.*: late does not exist .*\. It is kept until .+ at most, and gpucloud tries again\.$/m,
    );
  });

  test('terminates it after Ctrl-C, and names what is missing', async () => {
    const { interrupts, press } = ctrlC();
    const end = await begin('late', { interrupts });
    world.advance(59 * MINUTE);
    await until(() => world.ssh.scripts.some((script) => script.includes('late')));
    press();
    const { stderr } = await end();
    expect(world.status()).toBe('TERMINATING');
    expect(stderr).toContain(
      `warning: Interrupted, so ${NAME} is terminated before everything was copied (not copied: late).\n`,
    );
  });

  test('leaves it after Ctrl-C in jobs attach, and names what is missing', async () => {
    // Whether the copy fails before Ctrl-C is chance.
    withoutTranscript();
    const { interrupts, press } = ctrlC();
    await world.detach(LASTS, '--name', NAME);
    await isUp();
    await rescue('late');
    world.advance(70 * MINUTE);
    const ended = world.gpucloud(['jobs', 'attach', NAME], { interrupts });
    await until(() => world.ssh.scripts.some((script) => script.includes('late')));
    press();
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(130);
    expect(stderr).toContain('its --rescue paths are not copied (not copied: late): Interrupted.');
    expect(world.status()).toBe('ACTIVE');
  });

  test('terminates an instance without paths that was interrupted before', async () => {
    const { interrupts, press } = ctrlC();
    const ended = world.run(`trap '' INT; ${LASTS}`, ['--name', NAME], { interrupts });
    await isUp();
    press();
    await until(() => world.ssh.scripts.some((script) => script.includes('kill -s INT')));
    world.advance(70 * MINUTE);
    await ended;
    expect(world.status()).toBe('TERMINATING');
  });

  test('copies other paths that are set while one is missing', async () => {
    const end = await begin('late');
    world.advance(59 * MINUTE);
    await until(isFailing);
    const words = ['--rescue', `out:${world.local('got')}`];
    expect(await world.gpucloud(['instances', 'expire', NAME, ...words])).toMatchObject({
      code: 0,
    });
    // Never into a third hour, which would cost more.
    let left = 45;
    const timer = setInterval(() => left-- > 0 && world.advance(MINUTE), 200);
    await end().finally(() => clearInterval(timer));
    expect(readFileSync(here('a'), 'utf8')).toBe('result\n');
    expect(world.status()).toBe('TERMINATING');
  });

  test('exits with 7 and terminates nothing if the budget is unknown', async () => {
    const { ssh, clock } = world;
    const now = clock.now;
    // A service's clock that is far off is read twice each time.
    const wrong = { ...clock, now: () => now() - 10 * MINUTE };
    const flags = ['--fetch', `out:${world.local('fetched')}`];
    const end = await begin('out', { clock: wrong }, ...flags);
    let isBroken = false;
    let jumps = 0;
    Object.assign(clock, {
      now() {
        if (isBroken) jumps += MINUTE;
        return now() + jumps;
      },
    });
    ssh.refuse = (script) => {
      isBroken ||= script.includes('tar');
      return undefined;
    };
    world.advance(59 * MINUTE);
    const { code, stderr } = await end();
    expect(code, stderr).toBe(7);
    expect(stderr).toMatch(
      new RegExp(
        `^error: ${NAME} was not terminated, since its --rescue paths are not copied \\(.+\\): .+ It bills until you terminate it\\.$`,
        'm',
      ),
    );
    expect(stderr).toContain(
      `hint: copy them: gpucloud instances rescue ${NEW}; then terminate it: gpucloud instances terminate ${NEW}\n`,
    );
    expect(world.status()).toBe('ACTIVE');
    ssh.refuse = () => undefined;
    [isBroken, jumps] = [false, 0];
    expect((await reap(world)).rows).toMatchObject([{ outcome: 'terminated' }]);
    expect(readFileSync(here('a'), 'utf8')).toBe('result\n');
  });
});
