import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHereWorld, type HereWorld } from '../jobs/here-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { until } from '../support/ssh-world.ts';

interface Stage {
  readonly name: string;
  /** Kills the program after this output. */
  readonly line?: RegExp;
  /** Kills the program when the service calls `reached`. */
  hold?(world: HereWorld, reached: () => void): void;
  /** The outcomes that `reap` prints. */
  readonly outcomes: readonly string[];
}

const BOTH = ['terminated', 'terminated'];
const never = () => new Promise<never>(() => undefined);

const STAGES: readonly Stage[] = [
  {
    name: 'renting',
    hold({ renting }, reached) {
      renting.posts = [
        () => {
          renting.rent(renting.newId(), 'renting-0');
          reached();
          return never();
        },
      ];
    },
    // `reap` can't find an instance whose ID never arrived.
    outcomes: ['terminated', 'unknown'],
  },
  {
    name: 'starting',
    line: /Starting/,
    hold({ renting }) {
      const { rent } = renting;
      let left = 2;
      renting.rent = (id, name) => {
        left -= 1;
        if (left === 0) renting.rent = rent;
        return rent(id, name, { status: 'PROVISIONING' });
      };
    },
    outcomes: BOTH,
  },
  { name: 'running', line: /Running/, outcomes: BOTH },
  { name: 'fetching', line: /Fetching/, outcomes: BOTH },
  {
    name: 'terminating',
    hold({ renting }, reached) {
      renting.terminations = [
        (id) => {
          renting.terminate(id);
          reached();
          return never();
        },
        never,
      ];
    },
    outcomes: ['already_ended', 'terminated'],
  },
];

describe('reap after kill -9 of run --here', { timeout: 90_000, ...needs('ssh') }, () => {
  let world: HereWorld;
  /** Maps each instance name to its outcome. */
  let reaped: Map<string, string>;

  beforeAll(async () => {
    world = await createHereWorld(2);
    await mkdir(join(world.computer.home, 'project'));
    await writeFile(join(world.computer.home, 'project', 'in.txt'), 'x');
    for (const stage of STAGES) await kill(stage);
    world.advance(2 * 3_600_000);
    const { stdout } = await world.computer.gpucloud(['instances', 'reap', '--json'], {
      env: world.env,
    });
    const rows: { name: string; outcome: string }[] = JSON.parse(stdout);
    reaped = new Map(rows.map(({ name, outcome }) => [name, outcome]));
  }, 120_000);
  afterAll(() => world.close());

  async function kill({ name, line, hold }: Stage): Promise<void> {
    for (const home of world.homes) {
      await rm(join(home, 'gpucloud-run'), { recursive: true, force: true });
    }
    let isReached = false;
    hold?.(world, () => {
      isReached = true;
    });
    const fetch = name === 'fetching' ? ['--fetch', 'big'] : [];
    const words = world.words('--name', name, '--sync', 'project', ...fetch);
    // Copying this file takes longer than the kill.
    const big =
      'ssh -F "$GPUCLOUD_SSH_CONFIG" gpucloud-fetching-$n truncate -s 500M gpucloud-run/work/big';
    const script = name === 'fetching' ? `for n in 1 2; do ${big}; done` : 'sleep 0.5';
    const child = world.computer.start([...words, '--', 'sh', '-c', script], { env: world.env });
    const ended = once(child, 'exit');
    if (line !== undefined) await heard(child, 'stderr', line);
    else await until(() => isReached);
    // Waits until the other response is on disk.
    if (name === 'renting') await until(isOneRented);
    child.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
  }

  async function isOneRented(): Promise<boolean> {
    const { stdout } = await world.computer.gpucloud(['instances', 'list', '--json'], {
      env: world.env,
    });
    const rows: { id: string | null; name: string }[] = JSON.parse(stdout);
    return rows.some(({ id, name }) => id !== null && /renting-[12]/.test(name));
  }

  test.each(STAGES)(
    'terminates or reports both instances of a run killed while $name',
    ({ name, outcomes }) => {
      const found = [...world.renting.instances.values()].filter((one) =>
        one.name.startsWith(name),
      );
      expect(found).toHaveLength(2);
      const both = [1, 2].map((n) => reaped.get(`${name}-${n}`));
      expect(both.sort()).toEqual(outcomes);
      const living = found.filter(({ status }) => status !== 'TERMINATING');
      expect(living.map((one) => one.name)).toEqual(name === 'renting' ? ['renting-0'] : []);
    },
  );

  const gpucloud = (...argv: string[]) => world.computer.gpucloud(argv, { env: world.env });

  test('leaves a lost command to its deadline, and lets jobs stop and attach finish it', async () => {
    await world.reset();
    const { home } = world.computer;
    const words = world.words('--name', 'lost', '--fetch', `out:${join(home, 'got')}`);
    const script = `cd ${home}; for n in 1 2; do ssh -F "$GPUCLOUD_SSH_CONFIG" gpucloud-lost-$n 'echo y >gpucloud-run/work/out'; done; echo $$ >pid.new; mv pid.new pid; exec sleep 300`;
    const child = world.computer.start([...words, '--', 'sh', '-c', script], { env: world.env });
    const ended = once(child, 'exit');
    await until(() => existsSync(join(home, 'pid')));
    child.kill('SIGKILL');
    await ended;
    process.kill(Number(readFileSync(join(home, 'pid'), 'utf8')), 'SIGKILL');
    // Waits until the lock of the killed process expires.
    const reap = await gpucloud('instances', 'reap', '--json');
    const rows: { name: string; outcome: string }[] = JSON.parse(reap.stdout);
    expect(rows.map(({ name, outcome }) => `${name} ${outcome}`).sort(), reap.stderr).toEqual([
      'lost-1 lost',
      'lost-2 lost',
    ]);
    expect(world.statuses()).toEqual({ 'lost-1': 'ACTIVE', 'lost-2': 'ACTIVE' });
    const list = await gpucloud(
      'jobs',
      'list',
      '--json',
      '--query',
      "[?starts_with(name, 'lost')]",
    );
    expect(JSON.parse(list.stdout)).toMatchObject([{ status: 'LOST' }, { status: 'LOST' }]);
    const stop = await gpucloud('jobs', 'stop', 'lost-1');
    expect({ code: stop.code, statuses: world.statuses() }, stop.stderr).toEqual({
      code: 0,
      statuses: { 'lost-1': 'TERMINATING', 'lost-2': 'ACTIVE' },
    });
    const attach = await gpucloud('jobs', 'attach', 'lost-2');
    expect({ code: attach.code, statuses: world.statuses() }, attach.stderr).toEqual({
      code: 125,
      statuses: { 'lost-1': 'TERMINATING', 'lost-2': 'TERMINATING' },
    });
    expect(attach.stderr).toContain('error: The run was killed.');
    for (const name of ['lost-1', 'lost-2']) {
      expect(readFileSync(join(home, 'got', name, 'out'), 'utf8')).toBe('y\n');
    }
  });

  test('never starts the command of a killed run on an instance', async () => {
    await world.reset();
    const { rent } = world.renting;
    world.renting.rent = (id, name) => rent(id, name, { status: 'PROVISIONING' });
    const argv = [...world.words('--name', 'early'), '--', 'sh', '-c', 'touch ~/ran'];
    const child = world.computer.start(argv, { env: world.env });
    const ended = once(child, 'exit');
    await heard(child, 'stderr', /Starting/);
    child.kill('SIGKILL');
    await ended;
    world.renting.rent = rent;
    for (const [id, one] of world.renting.instances) {
      if (one.status === 'PROVISIONING')
        world.renting.instances.set(id, { ...one, status: 'ACTIVE' });
    }
    const attach = await gpucloud('jobs', 'attach', 'early-1');
    expect(attach.code, attach.stderr).toBe(125);
    const reap = await gpucloud('instances', 'reap', '--json');
    expect(JSON.parse(reap.stdout)).toMatchObject([{ name: 'early-2', outcome: 'terminated' }]);
    expect(world.statuses()).toEqual({ 'early-1': 'TERMINATING', 'early-2': 'TERMINATING' });
    for (const home of world.homes) expect(existsSync(join(home, 'ran'))).toBe(false);
  });
});
