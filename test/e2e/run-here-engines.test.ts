import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHereWorld, type HereWorld } from '../jobs/here-world.ts';
import { needs } from '../support/needs.ts';
import { until } from '../support/ssh-world.ts';

const TASKS = 100;

let world: HereWorld;
let home: string;

describe('gpucloud run --here with engines', { timeout: 60_000, ...needs('ssh') }, () => {
  beforeAll(async () => {
    world = await createHereWorld(4);
    ({ home } = world.computer);
  }, 60_000);
  afterAll(() => world.close());
  beforeEach(() => world.reset());

  const ended = (count: number) => ({
    code: 0,
    statuses: Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`job-${at + 1}`, 'TERMINATING']),
    ),
  });

  /** Runs a shell script on the first `count` instances. */
  async function run(count: number, script: string) {
    const env = {
      ...world.env,
      PARALLEL_HOME: join(home, '.parallel'),
      OMPI_ALLOW_RUN_AS_ROOT: '1',
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
      LC_ALL: 'C.UTF-8',
    };
    // Shares connections, since a separate connection per task would take half a second under load.
    const shared = ['ControlMaster=auto', `ControlPath=${home}/%C`, 'ControlPersist=5'];
    const options = shared.flatMap((option) => ['--ssh-option', option]);
    const words = world.words('--count', String(count), ...options);
    const done = await world.computer.gpucloud([...words, '--', 'sh', '-c', script], { env });
    const { code, stdout, stderr } = done;
    expect({ code, statuses: world.statuses() }, stderr).toEqual(ended(count));
    return stdout;
  }

  test(
    'runs 100 tasks of GNU parallel on 4 instances, although one instance fails',
    needs('parallel'),
    async () => {
      const log = join(home, 'joblog');
      const rows = () =>
        existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').slice(1) : [];
      const script = `parallel --will-cite --sshloginfile "$GPUCLOUD_SSHLOGINFILE" --jobs 4 --retries 5 --joblog ${log} 'echo {}' ::: $(seq ${TASKS})`;
      const all = run(4, script);
      await until(() => rows().length >= 20);
      await world.sshds[3]?.stop();
      expect(rows().length).toBeLessThan(TASKS);
      const done = (await all).trim().split('\n').map(Number);
      expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: TASKS }, (_, at) => at + 1));
      const hosts = new Set(rows().map((row) => row.split('\t')[1]));
      expect(hosts.size).toBeGreaterThan(2);
    },
  );

  test('provides the hostfile for mpirun', needs('mpirun'), async () => {
    const stdout = await run(
      2,
      'mpirun --mca plm_rsh_args "-F $GPUCLOUD_SSH_CONFIG" --hostfile "$GPUCLOUD_HOSTFILE" -np 2 sh -c \'echo "$OMPI_COMM_WORLD_RANK"\'',
    );
    expect(stdout.trim().split('\n').sort()).toEqual(['0', '1']);
  });
});
