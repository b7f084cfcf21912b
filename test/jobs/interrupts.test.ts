import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import type { Clock } from '../../src/system/clock.ts';
import { NEW } from '../support/renting-service.ts';
import { no } from '../support/service.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { passingClock } from './passing-clock.ts';
import { ctrlC, exited } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});
afterEach(() => world.close());

const rentals = () =>
  world.service.requests.filter(({ method, path }) => method === 'POST' && path === '/instances')
    .length;
const OTHER_OFFER = '11111111-1111-4111-8111-222222222222';

/** Presses Ctrl-C when the fetch starts. */
function pressingAtFetch(reason?: CliError) {
  const { interrupts, press } = ctrlC(reason);
  world.ssh.refuse = (script) => {
    if (script.includes('result') && !interrupts.first.aborted) press();
    return undefined;
  };
  return interrupts;
}
const fetching = () => ['--fetch', `result:${world.local('result')}`];

describe('Ctrl-C before the instance is ready', () => {
  test('exits with 130 on Ctrl-C during --retry-for, and rents nothing', async () => {
    const { interrupts, press } = ctrlC();
    const clock = passingClock(100);
    const sleep: Clock['sleep'] = (milliseconds, signal) => {
      // Makes the pause before the next attempt, of at least 30 seconds, last until Ctrl-C.
      if (milliseconds < 30_000 || rentals() === 0) return clock.sleep(milliseconds, signal);
      const waiting = new Promise<void>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      press();
      return waiting;
    };
    world.renting.posts = [() => no(409, 'out of stock')];
    const ended = await world.run('true', ['--retry-for', '6h'], {
      interrupts,
      clock: { ...clock, sleep },
    });
    expect({ code: ended.code, rentals: rentals() }, ended.stderr).toEqual({
      code: 130,
      rentals: 1,
    });
    expect(ended.stderr).toContain('No attempt left an instance running.');
    expect(ended.stderr).not.toContain('may still be billing');
    expect(world.renting.instances.size).toBe(0);
  });

  test('exits with 130 on Ctrl-C and terminates an instance that is not ready yet', async () => {
    const { interrupts, press } = ctrlC();
    const rent = world.renting.rent.bind(world.renting);
    world.renting.rent = (id, name) => rent(id, name, { status: 'PROVISIONING' });
    world.renting.onRead = async () => {
      if (!interrupts.first.aborted) press();
    };
    world.renting.posts = [() => no(409, 'out of stock')];
    const ended = await world.run('true', ['--offer', OTHER_OFFER], { interrupts });
    expect({ code: ended.code, status: world.status(), rentals: rentals() }, ended.stderr).toEqual({
      code: 130,
      status: 'TERMINATING',
      rentals: 2,
    });
    expect(ended.stderr).toMatch(/^Terminated job after .*\.\nIt cost at most 89\.90 ₽[.:]/m);
    expect(ended.stderr).not.toContain('may still be billing');
    expect(world.ssh.scripts).toEqual([]);
  });
});

describe('a signal after the command has exited', () => {
  test('prints on Ctrl-C during the fetch that another press skips it', async () => {
    const { code, stderr } = await world.run('echo x >result; exit 3', fetching(), {
      interrupts: pressingAtFetch(),
    });
    expect(code, stderr).toBe(3);
    expect(stderr).toContain(
      'Still fetching results. Ctrl-C again terminates job and skips the rest.',
    );
    expect(stderr).not.toContain('Interrupting the command');
    expect(existsSync(world.local('result'))).toBe(true);
  });

  test('prints on Ctrl-C during the fetch that another press leaves the --on instance running', async () => {
    world.renting.rent(NEW, 'dev');
    const argv = ['run', '--on', NEW, '--identity', world.local('key'), ...fetching()];
    const { code, stderr } = await world.gpucloud([...argv, '--', 'sh', '-c', 'echo x >result'], {
      interrupts: pressingAtFetch(),
    });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('Still fetching results. Ctrl-C again leaves dev and skips the rest.');
  });

  test('exits with 143 on SIGTERM during the fetch, and skips the results', async () => {
    const interrupts = pressingAtFetch(new CliError('terminated', 'Terminated.'));
    const { code, stderr } = await world.run('echo x >result', fetching(), { interrupts });
    expect({ code, status: world.status() }, stderr).toEqual({ code: 143, status: 'TERMINATING' });
    expect(stderr).not.toContain('Ctrl-C');
    expect(existsSync(world.local('result'))).toBe(false);
  });

  test('exits with 130 from jobs attach on Ctrl-C and reports that the instance bills', async () => {
    await world.detach('echo x >result; exit 4', ...fetching());
    await exited(world);
    const { code, stderr } = await world.gpucloud(['jobs', 'attach', 'job'], {
      interrupts: pressingAtFetch(),
    });
    expect(code, stderr).toBe(130);
    expect(stderr).toContain(
      'Stopped following job. Its command exited with 4, and the instance still bills.',
    );
    expect(stderr).not.toContain('Still fetching');
    expect(world.terminations()).toBe(0);
    expect(world.record()).toMatchObject({ ended_at: null, exit_code: 4 });
  });
});
