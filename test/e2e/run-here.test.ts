import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hereReport } from '../../src/json-results/jobs.ts';
import { runFast } from '../jobs/fast-run.ts';
import { createHereWorld, type HereWorld } from '../jobs/here-world.ts';
import { needs } from '../support/needs.ts';
import { no } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';

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
  const living = () => Object.values(world.statuses()).filter((status) => status !== 'TERMINATING');
  const rentals = () => world.service.requests.filter(({ path }) => path === '/instances').length;

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

  test('rents one instance with the given name without --count, and reports it as JSON', async () => {
    const words = world.words('--json').filter((word) => word !== '--count' && word !== '3');
    const argv = [...words, '--', 'printf', '%s|', 'a  b', '*', '$HOME', ''];
    const { code, stdout, stderr } = await world.computer.gpucloud(argv, { env: world.env });
    expect({ code, stdout, statuses: world.statuses() }).toEqual({
      code: 0,
      stdout: 'a  b|*|$HOME||',
      statuses: { job: 'TERMINATING' },
    });
    const { run } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
    expect(hereReport().parse(run)).toMatchObject({ exit_code: 0, instances: [{ name: 'job' }] });
  });

  test('rejects a command that is not on PATH before renting', async () => {
    const before = rentals();
    const { code, stderr } = await world.run([], ['no-such-program']);
    expect({ code, rented: rentals() - before }).toEqual({ code: 2, rented: 0 });
    expect(stderr).toContain('COMMAND "no-such-program" is not on PATH');
  });

  test('exits with 125 and terminates all if the command cannot be started', async () => {
    const script = join(home, 'script');
    await writeFile(script, '#!/no/such/shell\n');
    await chmod(script, 0o755);
    const { code, stderr } = await world.run(['--report', 'r'], [script]);
    expect({ code, statuses: world.statuses() }).toEqual({ code: 125, statuses: ENDED });
    expect(stderr).toContain(`Could not start ${script}: `);
    expect(await report()).toMatchObject({ stage: 'running', command_exit_code: null });
  });

  test('fetches from the other instances if one instance lacks the path', async () => {
    const script = (code: number) =>
      `for n in 1 3; do ssh -F "$GPUCLOUD_SSH_CONFIG" gpucloud-job-$n 'echo y > gpucloud-run/work/y'; done; exit ${code}`;
    const failed = await world.run(['--fetch', 'y'], ['sh', '-c', script(4)]);
    expect({ code: failed.code, statuses: world.statuses() }).toEqual({ code: 4, statuses: ENDED });
    expect(failed.stderr).toContain(
      'warning: job-2: Could not copy files out: y does not exist on the instance',
    );
    await rm(join(home, 'y'), { recursive: true });
    await world.reset();
    const { code, stderr } = await world.run(
      ['--fetch', 'y', '--report', 'r'],
      ['sh', '-c', script(0)],
    );
    expect({ code, statuses: world.statuses() }).toEqual({ code: 125, statuses: ENDED });
    expect(stderr).toContain('error: job-2: Could not copy files out: y does not exist');
    for (const n of [1, 3]) {
      expect(await readFile(join(home, 'y', `job-${n}`, 'y'), 'utf8')).toBe('y\n');
    }
    expect(await report()).toMatchObject({ command_exit_code: 0, exit_code: 125 });
  });

  test('rents nothing without a temporary folder', async () => {
    const env = { ...world.env, TMPDIR: join(home, 'none') };
    const argv = [...world.words(), '--', 'true'];
    const { code, stderr } = await world.computer.gpucloud(argv, { env });
    expect({ code, statuses: world.statuses() }).toEqual({ code: 9, statuses: {} });
    expect(stderr).toContain('Could not make a temporary folder');
  });

  test('exits with 7 and reports the instance that could not be terminated', async () => {
    const { terminate } = world.renting;
    world.renting.terminate = (one) =>
      world.renting.instances.get(one)?.name === 'job-2'
        ? no(403, 'Forbidden')
        : terminate.call(world.renting, one);
    // The fast clock shortens the retries of terminate, which take 42 seconds.
    const argv = [...world.words('--report', join(home, 'r')), '--', 'true'];
    const { code, stderr } = await runFast(world, argv);
    world.renting.terminate = terminate;
    expect({ code, statuses: world.statuses() }).toEqual({
      code: 7,
      statuses: { ...ENDED, 'job-2': 'ACTIVE' },
    });
    expect(stderr).toMatch(
      /error: Could not terminate job-2 \(\S+\): .*Forbidden\. It may still be billing\./,
    );
    expect(await report()).toMatchObject({
      stage: 'terminating',
      terminated: 'unknown',
      cost_at_most: null,
      exit_code: 7,
      instances: [
        { terminated: true, error: null },
        { terminated: 'unknown', error: expect.stringContaining('Could not terminate job-2') },
        { terminated: true, error: null },
      ],
    });
  });

  test('terminates all instances and does not run if one instance is refused', async () => {
    world.renting.posts = [() => no(409, 'Offer A100 is out of stock')];
    const { code, stdout, stderr } = await world.run(['--report', 'r'], ['echo', 'ran']);
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
    expect(living()).toEqual([]);
    expect(stderr).toMatch(/^error: job-\d: .*Offer A100 is out of stock/m);
    const { instances } = await report();
    expect(instances.map(({ terminated }) => terminated).sort()).toEqual([false, true, true]);
  });

  test('exits with 7 and reports the request with a lost response', async () => {
    world.renting.posts = [() => 'hangUp'];
    const { code, stdout, stderr } = await world.run(['--report', 'r'], ['echo', 'ran']);
    expect({ code, stdout, living: living() }, stderr).toEqual({ code: 7, stdout: '', living: [] });
    expect(Object.keys(world.statuses())).toHaveLength(2);
    const { instances, terminated } = await report();
    const doubted = instances.filter((one) => one.terminated === 'unknown');
    expect({ terminated, ids: doubted.map(({ id }) => id) }).toEqual({
      terminated: 'unknown',
      ids: [null],
    });
    expect(stderr).toMatch(new RegExp(`^error: .*${doubted[0]?.name}`, 'm'));
    // Releases the name for later runs.
    const { name } = doubted[0] ?? { name: '' };
    const untrack = ['instances', 'untrack', name, '--yes'];
    expect(await world.computer.gpucloud(untrack, { env: world.env })).toMatchObject({ code: 0 });
  });

  test('runs the notification command once when the --here command exits', async () => {
    const heard = join(home, 'heard');
    const notify = ['sh', '-c', `cat >>${heard}`];
    const profiles = { work: { base_url: world.service.url, notify } };
    const config = join(home, 'config', 'config.json');
    await mkdir(join(home, 'config'), { recursive: true });
    await writeFile(config, JSON.stringify({ current: 'work', profiles }), { mode: 0o600 });
    const { code } = await world.run([], ['sh', '-c', 'exit 6']);
    await rm(config);
    expect(code).toBe(6);
    expect(JSON.parse(await readFile(heard, 'utf8'))).toMatchObject({
      event: 'job_ended',
      name: 'job',
      exit_code: 6,
      message: 'The command on job-1 to job-3 exited with 6. Terminated job-1 to job-3.',
    });
  });

  test('runs on the other instances with --min-count', async () => {
    world.renting.posts = [() => no(409, 'Offer A100 is out of stock')];
    const argv = ['--min-count', '2', '--report', 'r'];
    const { code, stdout } = await world.run(argv, ['sh', '-c', 'wc -l <"$GPUCLOUD_HOSTFILE"']);
    expect({ code, lines: stdout.trim() }).toEqual({ code: 0, lines: '2' });
    expect(living()).toEqual([]);
    expect(await report()).toMatchObject({ terminated: true, cost_at_most: '179.80' });
  });

  test('reports the instance that reached ERROR', async () => {
    const { rent } = world.renting;
    world.renting.rent = (id, name, more) =>
      rent(id, name, { ...more, ...(name === 'job-2' ? { status: 'ERROR' } : {}) });
    const { code, stdout, stderr } = await world.run([], ['echo', 'ran']);
    world.renting.rent = rent;
    expect({ code, stdout, living: living() }).toEqual({ code: 125, stdout: '', living: [] });
    expect(stderr).toMatch(/^error: job-2: The instance is ERROR/m);
    expect(stderr).not.toContain('may still be billing');
  });

  test('omits an instance with a failed copy only with --min-count', async () => {
    await writeFile(join(world.homes[1] ?? '', 'gpucloud-run'), 'in the way');
    const words = ['--sync', 'project', '--report', 'r'];
    const all = await world.run(words, ['echo', 'ran']);
    expect({ ...all, statuses: world.statuses() }).toMatchObject({
      code: 125,
      stdout: '',
      statuses: ENDED,
    });
    expect(all.stderr).toContain('error: job-2: Could not create ~/gpucloud-run/work');
    await world.reset();
    await writeFile(join(world.homes[1] ?? '', 'gpucloud-run'), 'in the way');
    const script = 'cat "$GPUCLOUD_HOSTFILE"; touch ran';
    let isBefore = false;
    world.renting.terminations = [
      (id) => {
        isBefore = !existsSync(join(home, 'ran'));
        return world.renting.terminate(id);
      },
    ];
    const two = await world.run([...words, '--min-count', '2'], ['sh', '-c', script]);
    expect({ code: two.code, statuses: world.statuses() }).toEqual({ code: 0, statuses: ENDED });
    expect(two.stdout).toBe('gpucloud-job-1 slots=1\ngpucloud-job-3 slots=1\n');
    // The unusable instance would otherwise bill during the command.
    expect(isBefore).toBe(true);
    expect(two.stderr).toContain('Terminating job-2.');
    expect((await report()).instances[1]?.error).toContain('Could not create ~/gpucloud-run/work');
    expect(existsSync(join(world.homes[0] ?? '', 'gpucloud-run', 'work', 'in.txt'))).toBe(true);
  });

  test("keeps an instance for 30 minutes if its results can't be written", async () => {
    const script =
      'for n in 1 2 3; do ssh -F "$GPUCLOUD_SSH_CONFIG" gpucloud-job-$n "echo k >gpucloud-run/work/k"; done; mkdir kept; echo >kept/job-2';
    const words = ['--fetch', 'k:kept', '--report', 'r'];
    // Without a scheduled reap, the run would stay beside the instance.
    await world.computer.gpucloud(['instances', 'reap', '--every', '30m'], { env: world.env });
    const { code, stderr } = await world.run(words, ['sh', '-c', script]);
    expect({ code, statuses: world.statuses() }, stderr).toEqual({
      code: 125,
      statuses: { ...ENDED, 'job-2': 'ACTIVE' },
    });
    expect(stderr).toMatch(
      /Kept job-2 with its results: it bills until .*fetch and terminate: gpucloud jobs attach job-2/,
    );
    const { instances, terminated, cost_at_most } = await report();
    expect(instances.map((one) => one.terminated)).toEqual([true, false, true]);
    expect({ terminated, cost_at_most }).toEqual({ terminated: false, cost_at_most: null });
    world.advance(31 * 60_000);
    await world.computer.gpucloud(['instances', 'reap'], { env: world.env });
    expect(world.statuses()).toEqual(ENDED);
  });

  test('fetches from the others if one instance stops responding, and terminates all instances', async () => {
    const script =
      'cd "$0"; for n in 1 2 3; do ssh -F "$GPUCLOUD_SSH_CONFIG" gpucloud-job-$n "echo z >gpucloud-run/work/z"; done; touch up; while [ ! -f go ]; do sleep 0.1; done';
    const words = world.words('--fetch', `z:${join(home, 'alive')}`, '--report', join(home, 'r'));
    const ended = runFast(world, [...words, '--', 'sh', '-c', script, home]);
    await until(() => existsSync(join(home, 'up')));
    await world.sshds[1]?.stop();
    await writeFile(join(home, 'go'), '');
    const { code, stderr } = await ended;
    expect({ code, statuses: world.statuses() }, stderr).toEqual({ code: 125, statuses: ENDED });
    expect(stderr).toMatch(/^error: job-2: .*Connection refused/m);
    for (const n of [1, 3]) {
      expect(await readFile(join(home, 'alive', `job-${n}`, 'z'), 'utf8')).toBe('z\n');
    }
    expect((await report()).instances[1]).toMatchObject({ terminated: true, fetched: [] });
  });
});
