import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hereReport } from '../../src/json-results/jobs.ts';
import { createHereWorld, type HereWorld } from '../jobs/here-world.ts';
import { needs } from '../support/needs.ts';

const ENDED = { 'job-1': 'TERMINATING', 'job-2': 'TERMINATING', 'job-3': 'TERMINATING' };
const VARIABLES =
  'echo "$GPUCLOUD_ANSIBLE_INVENTORY $GPUCLOUD_SSHLOGINFILE $GPUCLOUD_HOSTFILE $GPUCLOUD_SSH_CONFIG"';

let world: HereWorld;
let home: string;

describe('gpucloud run --here', { timeout: 60_000, ...needs('ssh') }, () => {
  beforeAll(async () => {
    world = await createHereWorld(3);
    ({ home } = world.computer);
    await mkdir(join(home, 'project'));
    await writeFile(join(home, 'project', 'in.txt'), 'x\n');
  }, 60_000);
  afterAll(() => world.close());
  beforeEach(() => world.reset());

  /** Reads the report of the last run. */
  const report = async () =>
    hereReport().parse(JSON.parse(await readFile(join(home, 'r'), 'utf8')));

  test('copies files in, runs the command on this computer, fetches and terminates all', async () => {
    const script = [
      'pwd; cat; env',
      VARIABLES,
      'ls -ld "$(dirname "$GPUCLOUD_HOSTFILE")"; cat "$GPUCLOUD_HOSTFILE"',
      'for n in 1 2 3; do ssh -F "$GPUCLOUD_SSH_CONFIG" "gpucloud-job-$n" "cd gpucloud-run/work; mkdir out; cp in.txt out/$n"; done',
      'exit 3',
    ].join('\n');
    const argv = [
      ...world.words('--sync', 'project', '--fetch', 'out:results', '--report', 'r'),
      ...['--', 'sh', '-c', script],
    ];
    const done = await world.computer.gpucloud(argv, { env: world.env, stdin: 'typed\n' });
    expect({ code: done.code, statuses: world.statuses() }, done.stderr).toEqual({
      code: 3,
      statuses: ENDED,
    });
    expect(done.stdout).toMatch(/^\S+gpucloud-e2e-\S+\ntyped\n/);
    expect(done.stdout).toMatch(/^drwx------/m);
    expect(done.stdout).toMatch(/^gpucloud-job-1 slots=1\ngpucloud-job-2 slots=1\ngpucloud-job-3/m);
    expect(done.stdout).not.toContain('svc_sk_test');
    for (const n of [1, 2, 3]) {
      expect(await readFile(join(home, 'results', `job-${n}`, String(n)), 'utf8')).toBe('x\n');
    }
    expect(world.inventories()).toEqual([]);
    expect(done.stderr).toContain(
      'Fetched results/job-1, results/job-2, results/job-3\nTerminated job-1 to job-3 after',
    );
    expect(done.stderr).toContain('They cost at most 269.70 ₽: job-1 at most 89.90 ₽, ');
    expect(await report()).toMatchObject({
      command_exit_code: 3,
      stage: 'done',
      instances: [1, 2, 3].map((n) => ({
        name: `job-${n}`,
        terminated: true,
        fetched: [join(home, 'results', `job-${n}/`)],
        cost_at_most: '89.90',
        error: null,
      })),
      terminated: true,
      cost_at_most: '269.70',
      exit_code: 3,
      error: null,
    });
    const jobs = await world.computer.gpucloud(['jobs', 'list', '--json'], { env: world.env });
    const ended = { status: 'EXITED', exit_code: 3, phase: 'done' };
    expect(JSON.parse(jobs.stdout)).toMatchObject([ended, ended, ended]);
  });

  test('rents nothing without a temporary folder', async () => {
    const env = { ...world.env, TMPDIR: join(home, 'none') };
    const argv = [...world.words(), '--', 'true'];
    const { code, stderr } = await world.computer.gpucloud(argv, { env });
    expect({ code, statuses: world.statuses() }).toEqual({ code: 9, statuses: {} });
    expect(stderr).toContain('Could not make a temporary folder');
  });
});
