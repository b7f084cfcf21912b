import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHereWorld, type HereWorld } from '../jobs/here-world.ts';
import { needs } from '../support/needs.ts';
import { KEYS, sitDown } from '../support/person.ts';
import { taken } from '../support/signals.ts';
import { until } from '../support/ssh-world.ts';

const ENDED = { 'job-1': 'TERMINATING', 'job-2': 'TERMINATING' };
let world: HereWorld;
let home: string;

describe('an interrupt of gpucloud run --here', { timeout: 60_000, ...needs('ssh') }, () => {
  beforeAll(async () => {
    world = await createHereWorld(2);
    ({ home } = world.computer);
  }, 60_000);
  afterAll(() => world.close());
  beforeEach(async () => {
    await world.reset();
    for (const name of ['up', 'signals', 'got'])
      rmSync(join(home, name), { recursive: true, force: true });
  });

  /** Writes its process ID to `up`, and its signals to `signals`, as soon as they arrive. */
  const command = (atInt: string) =>
    `cd ${home}; trap 'echo INT >>signals; ${atInt}' INT
trap 'echo TERM >>signals; exit 1' TERM; trap 'echo HUP >>signals; exit 1' HUP
for n in 1 2; do ssh -F "$GPUCLOUD_SSH_CONFIG" gpucloud-job-$n 'echo y >gpucloud-run/work/y'; done
echo $$ >up.new; mv up.new up
while :; do sleep 0.1 & wait $!; done`;

  const isUp = () => existsSync(join(home, 'up'));
  const signals = () => readFileSync(join(home, 'signals'), 'utf8');
  const isFetched = () => existsSync(join(home, 'got'));

  function runs(): boolean {
    try {
      process.kill(Number(readFileSync(join(home, 'up'), 'utf8')), 0);
      return true;
    } catch {
      return false;
    }
  }

  async function started(atInt: string) {
    const argv = [...world.words('--fetch', 'y:got'), '--', 'sh', '-c', command(atInt)];
    const child = world.computer.start(argv, { env: world.env });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const ended = once(child, 'close').then(([code]) => {
      expect(world.inventories(), stderr).toEqual([]);
      return { code, stderr };
    });
    await until(isUp);
    expect(world.inventories()).toHaveLength(1);
    return {
      ended,
      async send(signal: NodeJS.Signals) {
        child.kill(signal);
        await taken(child.pid ?? 0, signal);
      },
      said: (pattern: RegExp) => until(() => pattern.test(stderr)),
    };
  }

  test('passes Ctrl-C to the command, then fetches and terminates', async () => {
    const { ended, send } = await started('exit 9');
    await send('SIGINT');
    const { code, stderr } = await ended;
    expect({ code, statuses: world.statuses() }, stderr).toEqual({ code: 9, statuses: ENDED });
    expect(stderr).toContain('Ctrl-C again terminates job-1 and job-2 without copying results.');
    expect(signals()).toBe('INT\n');
    for (const name of ['job-1', 'job-2']) {
      expect(readFileSync(join(home, 'got', name, 'y'), 'utf8')).toBe('y\n');
    }
  });

  // jobs/here.test.ts has SIGHUP, and the deadline.
  test('stops the command and terminates without copying results on SIGTERM', async () => {
    const { ended, send } = await started(':');
    await send('SIGTERM');
    const { code, stderr } = await ended;
    expect({ code, statuses: world.statuses() }, stderr).toEqual({ code: 143, statuses: ENDED });
    expect({ fetched: isFetched(), runs: runs(), signals: signals() }).toEqual({
      fetched: false,
      runs: false,
      signals: 'TERM\n',
    });
  });

  test('interrupts the command only once on Ctrl-C in a terminal', async () => {
    const argv = [...world.words(), '--', 'sh', '-c', command('sleep 1; exit 9')];
    const one = sitDown(world.computer, argv, { env: world.env });
    try {
      await until(isUp);
      await one.type(KEYS.ctrlC);
      expect(await one.ended()).toBe(9);
      expect(one.screen()).toMatch(
        /^Interrupted the command\. Ctrl-C again terminates job-1 and job-2/m,
      );
    } finally {
      await one.close();
    }
    expect({ signals: signals(), statuses: world.statuses() }).toEqual({
      signals: 'INT\n',
      statuses: ENDED,
    });
  });
});
