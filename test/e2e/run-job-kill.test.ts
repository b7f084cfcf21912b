import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { heard } from '../support/program.ts';
import { until } from '../support/ssh-world.ts';

interface Stage {
  readonly name: string;
  /** Kills the program after this output. */
  readonly line?: RegExp;
  /** Kills the program when the service calls `reached`. */
  hold?(world: JobWorld, reached: () => void): void;
  /** The outcome that `reap` prints. */
  readonly outcome: 'terminated' | 'already_ended' | 'unknown';
}

const never = () => new Promise<never>(() => undefined);

const STAGES: readonly Stage[] = [
  {
    name: 'renting',
    hold({ renting }, reached) {
      renting.posts = [
        () => {
          renting.rent(randomUUID(), 'renting');
          reached();
          return never();
        },
      ];
    },
    outcome: 'unknown',
  },
  {
    name: 'starting',
    line: /Starting/,
    hold({ renting }) {
      const { rent } = renting;
      renting.rent = (id, name) => {
        renting.rent = rent;
        return rent(id, name, { status: 'PROVISIONING' });
      };
    },
    outcome: 'terminated',
  },
  { name: 'connecting', line: /Connecting/, outcome: 'terminated' },
  { name: 'copying', line: /Copying/, outcome: 'terminated' },
  { name: 'running', line: /Running/, outcome: 'terminated' },
  { name: 'fetching', line: /Fetching/, outcome: 'terminated' },
  {
    name: 'terminating',
    hold({ renting }, reached) {
      renting.terminations = [
        () => {
          reached();
          return never();
        },
      ];
    },
    outcome: 'terminated',
  },
  {
    name: 'terminated',
    hold({ renting }, reached) {
      renting.terminations = [
        (id) => {
          renting.terminate(id);
          reached();
          return never();
        },
      ];
    },
    outcome: 'already_ended',
  },
];

describe('reap after kill -9 of run', needs('ssh'), () => {
  let world: JobWorld;
  /** Maps each instance name to its outcome. */
  let reaped: Map<string, string>;

  beforeAll(async () => {
    world = await createJobWorld();
    world.renting.newId = () => randomUUID();
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
    // Clears the folder, since the next instance is a new one.
    await rm(join(world.there, 'gpucloud-run'), { recursive: true, force: true });
    let isReached = false;
    hold?.(world, () => {
      isReached = true;
    });
    // Copying this file takes longer than the kill.
    const fetch = name === 'fetching' ? ['--fetch', 'big'] : [];
    const words = world.words('--name', name, '--sync', 'project', ...fetch);
    const command = ['sh', '-c', 'truncate -s 500M big; sleep 0.5'];
    const child = world.computer.start([...words, '--', ...command], { env: world.env });
    const ended = once(child, 'exit');
    if (line !== undefined) await heard(child, 'stderr', line);
    else await until(() => isReached);
    child.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
  }

  test.each(STAGES)(
    'terminates or reports the instance of a run killed while $name',
    ({ name, outcome }) => {
      const found = [...world.renting.instances.values()].filter((one) => one.name === name);
      expect(found).toHaveLength(1);
      expect(reaped.get(name)).toBe(outcome);
      // `reap` can't find an instance whose ID never arrived.
      if (outcome !== 'unknown') expect(found[0]?.status).toBe('TERMINATING');
    },
  );
});
