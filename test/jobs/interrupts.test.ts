import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import type { Clock } from '../../src/system/clock.ts';
import { createEmulator } from '../output/emulator.ts';
import { NEW } from '../support/renting-service.ts';
import { no } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { passingClock } from './passing-clock.ts';
import { ctrlC, exited, followed, heard, LASTS, notifying } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});

const HOST_KEY = 'Host key verification failed.';
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
    expect(world.ssh.scripts).toEqual([]);
  });
});

describe('Ctrl-C or a signal during the command', () => {
  test('interrupts a command that has just started', async () => {
    const { interrupts, press } = ctrlC();
    const { start, startPiped } = world.ssh;
    const up = join(world.job, 'work', 'up');
    const programs: typeof world.ssh = {
      ...world.ssh,
      start,
      async startPiped(program, platform) {
        const running = await startPiped(program, platform);
        if (!program.args.at(-1)?.includes('eval')) return running;
        const kill = () => {
          running.kill();
          // Blocks the event loop until the trap is set, so that following can't begin.
          for (let at = Date.now(); !existsSync(up) && Date.now() - at < 10_000; );
          if (!interrupts.first.aborted) press();
        };
        return { ...running, kill };
      },
    };
    const command = `trap 'exit 9' INT; ${LASTS}`;
    await world.run(command, [], { interrupts, programs });
  });

  test("prints a warning if the signal can't reach the command", async () => {
    const { interrupts, press } = ctrlC();
    const terminal = createEmulator(200, 20);
    const ended = world.run(LASTS, [], { interrupts, terminal });
    await followed(world);
    world.ssh.refuse = (script) => (script.includes('kill -s INT') ? HOST_KEY : undefined);
    press();
    const warning = `warning: Could not interrupt the command: ${HOST_KEY}`;
    await until(async () => (await terminal.all()).includes(warning));
    press();
    const { code } = await ended;
    expect({ code, status: world.status() }).toEqual({ code: 130, status: 'TERMINATING' });
  });

  test('exits with 7 at the third Ctrl-C during an unanswered termination', async () => {
    await notifying(world);
    let leave: (() => void) | undefined;
    let answer: (() => void) | undefined;
    world.renting.terminations = [
      (id) => {
        void until(() => leave !== undefined).then(() => leave?.());
        return new Promise((resolve) => {
          answer = () => resolve(world.renting.terminate(id));
        });
      },
    ];
    await world.run('exit 3', [], {
      onThirdInterrupt: (third) => {
        leave = third;
        return () => undefined;
      },
    });
    expect(heard(world)).toEqual([]);
    expect(world.record()).toMatchObject({ ended_at: null, exit_code: 3 });
    // Completes the request that a real process would abandon.
    const { requests } = world.service;
    const before = requests.length;
    answer?.();
    await until(() => requests.length > before);
  });

  test('sends Ctrl-C to the command, then fetches the results', async () => {
    const { interrupts, press } = ctrlC();
    const command = `trap 'echo caught; echo x >result; exit 9' INT; ${LASTS}`;
    const flags = ['--fetch', `result:${world.local('result')}`];
    const ended = world.run(command, flags, { interrupts });
    await followed(world);
    press();
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }, stderr).toEqual({ code: 9, stdout: 'caught\n' });
    expect(stderr).not.toContain('\u001b');
    expect(readFileSync(world.local('result'), 'utf8')).toBe('x\n');
  });

  test('exits with 130 without fetching results on a second Ctrl-C', async () => {
    const { interrupts, press } = ctrlC();
    const flags = ['--fetch', `up:${world.local('up')}`];
    const ended = world.run(`trap '' INT; ${LASTS}`, flags, { interrupts });
    await followed(world);
    const tried: string[] = [];
    world.ssh.refuse = (script) =>
      script.includes('kill -s INT') && tried.push(script) ? 'Connection refused' : undefined;
    press();
    await until(() => tried.length > 0);
    press();
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(130);
    expect(stderr).not.toContain('Could not interrupt');
    expect(stderr).not.toContain('is terminated before everything was copied');
    expect(existsSync(world.local('up'))).toBe(false);
    expect(world.status()).toBe('TERMINATING');
  });

  test('exits with 130 and terminates an instance with --keep-on-failure', async () => {
    const { interrupts, press } = ctrlC();
    const ended = world.run(LASTS, ['--keep-on-failure', '30m'], { interrupts });
    await followed(world);
    press();
    expect(await ended).toMatchObject({ code: 130 });
    expect(world.status()).toBe('TERMINATING');
  });

  test('exits with 143 on SIGTERM without fetching results', async () => {
    const { interrupts, press } = ctrlC(new CliError('terminated', 'Terminated.'));
    const ended = world.run(`mkdir out; ${LASTS}`, ['--fetch', `out:${world.local('out')}`], {
      interrupts,
    });
    await followed(world);
    press();
    const { code, stderr } = await ended;
    expect({ code, status: world.status() }).toEqual({ code: 143, status: 'TERMINATING' });
    expect(stderr).not.toContain('Interrupting the command');
    expect(existsSync(world.local('out'))).toBe(false);
  });
});

describe('a signal after the command has exited', () => {
  test.each([
    ['terminates job', 'run'],
    ['leaves dev', 'run --on'],
  ])('prints on Ctrl-C during the fetch that another press %s, with %s', async (_ends, how) => {
    const [script, interrupts] = ['echo x >result; exit 3', pressingAtFetch()];
    if (how !== 'run') world.renting.rent(NEW, 'dev');
    const on = ['run', '--on', NEW, '--identity', world.local('key'), ...fetching()];
    await (how === 'run'
      ? world.run(script, fetching(), { interrupts })
      : world.gpucloud([...on, '--', 'sh', '-c', script], { interrupts }));
    expect(existsSync(world.local('result'))).toBe(true);
  });

  test('exits with 143 on SIGTERM during the fetch, and skips the results', async () => {
    const interrupts = pressingAtFetch(new CliError('terminated', 'Terminated.'));
    const { code, stderr } = await world.run('echo x >result', fetching(), { interrupts });
    expect({ code, status: world.status() }, stderr).toEqual({ code: 143, status: 'TERMINATING' });
    expect(existsSync(world.local('result'))).toBe(false);
  });

  test('exits with 130 from jobs attach on Ctrl-C and reports that the instance bills', async () => {
    await world.detach('echo x >result; exit 4', ...fetching());
    await exited(world);
    await world.gpucloud(['jobs', 'attach', 'job'], {
      interrupts: pressingAtFetch(),
    });
    expect(world.terminations()).toBe(0);
    expect(world.record()).toMatchObject({ ended_at: null, exit_code: 4 });
  });
});
