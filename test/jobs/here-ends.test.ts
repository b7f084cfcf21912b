import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { NEW } from '../support/renting-service.ts';
import { no } from '../support/service.ts';
import { until } from '../support/ssh-world.ts';
import { withoutPauses } from './passing-clock.ts';
import { heard, notifying, withoutTimes } from './stories.ts';
import {
  answerFor,
  ENDED,
  fetching,
  gotFrom,
  here,
  isUp,
  LASTS,
  nameOf,
  OTHER,
  records,
  report,
  results,
  statuses,
  withTwoInstances,
  world,
} from './two-instances.ts';

withTwoInstances();

describe('a failing instance of gpucloud run --here', () => {
  test('terminates the instance and runs the command if --min-count allows it', async () => {
    world.ssh.refuse = (script, id) =>
      id === OTHER && script.includes('ready') ? 'Host key verification failed.' : undefined;
    const { code, stderr } = await here(`exit 3`, ['--min-count', '1']);
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 3, statuses: ENDED });
    const name = world.renting.instances.get(OTHER)?.name;
    expect(stderr).toMatch(
      new RegExp(`^warning: ${name} has a new host key: .*\\. Terminating ${name}\\.$`, 'm'),
    );
    expect(report().instances).toHaveLength(2);
    expect(report()).toMatchObject({ terminated: true, cost_at_most: '179.80' });
  });

  test.each([
    ['mkdir: No space left on device', 'mkdir: No space left on device'],
    ['', 'exit code 255'],
  ])('terminates an instance whose folder can not be made, with %j', async (said, reason) => {
    world.ssh.refuse = (script, id) =>
      id === OTHER && script.includes('mkdir -p gpucloud-run/work') ? said : undefined;
    const { code, stderr } = await here('exit 3', ['--min-count', '1']);
    const other = nameOf(OTHER);
    const problems = stderr.split('\n').filter((line) => /^\w+: job-\d: /.test(line));
    expect({ code, statuses: statuses(), problems }).toEqual({
      ...{ code: 3, statuses: ENDED },
      problems: [
        `warning: ${other}: Could not create ~/gpucloud-run/work: ${reason}. Terminating ${other}.`,
      ],
    });
  });

  /** Puts a file in the way of the results of one instance, and returns a script that makes them. */
  function blocked(): string {
    world.ssh.refuse = (script, id) => {
      if (id === OTHER && script.includes('result')) {
        mkdirSync(world.local('got'), { recursive: true });
        writeFileSync(world.local(`got/${nameOf(OTHER)}`), 'in the way');
      }
      return undefined;
    };
    return `mkdir ${world.there(OTHER)}/gpucloud-run/work/result; ${results(NEW)}`;
  }

  test("keeps an instance whose results can't be stored on this computer", async () => {
    await notifying(world);
    await world.gpucloud(['instances', 'reap', '--every', '30m']);
    const { stderr } = await here(blocked(), fetching());
    const [name, other] = [nameOf(OTHER), nameOf(NEW)];
    expect(statuses()).toEqual({ [name]: 'ACTIVE', [other]: 'TERMINATING' });
    const lines = withoutTimes(stderr)
      .replace(/sh -c '.*…/g, 'COMMAND')
      .replace(/(?<=until ).*?(?=\. Fix)/, 'TIME')
      .replaceAll(world.local('got'), 'GOT');
    expect(lines.slice(lines.indexOf('Fetching'))).toBe(
      `Fetching from job-1 and job-2
warning: Kept ${name} with its results: it bills until TIME. Fix the cause, then fetch and terminate: gpucloud jobs attach ${name}. Connect: gpucloud instances ssh ${name}
Terminating ${other}
COMMAND: exit code 0
Fetched GOT/${other}/
Terminated ${other} after N s.
It cost at most 89.90 ₽.
error: ${name}: Could not copy files out: GOT/${name}/ can't be written (ENOTDIR)
`,
    );
    const rows = report().instances as { name: string; terminated: boolean }[];
    expect(rows.find((row) => row.name === name)).toMatchObject({ terminated: false });
    expect(rows.find((row) => row.name === other)).toMatchObject({ terminated: true });
    expect(report()).toMatchObject({ terminated: false, exit_code: 125, stage: 'done' });
    expect(heard(world)).toMatchObject([
      { event: 'job_ended', message: expect.stringContaining(`Kept ${name}: it bills.`) },
    ]);
    world.ssh.refuse = () => undefined;
    rmSync(world.local(`got/${name}`));
    const attach = await world.gpucloud(['jobs', 'attach', name]);
    expect({ code: attach.code, statuses: statuses() }, attach.stderr).toEqual({
      code: 0,
      statuses: ENDED,
    });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([true, true]);
  });

  test('keeps no instance with --keep-on-failure 0s', async () => {
    const ended = await here(blocked(), [...fetching(), '--keep-on-failure', '0s']);
    expect({ code: ended.code, statuses: statuses() }, ended.stderr).toEqual({
      code: 125,
      statuses: ENDED,
    });
  });

  test('stays beside a kept instance without a scheduled reap, and terminates it', async () => {
    const ended = here(blocked(), fetching());
    await until(() => records().some(({ kept }) => kept === 'results'));
    await until(() => statuses()[nameOf(NEW)] === 'TERMINATING');
    expect(statuses()[nameOf(OTHER)]).toBe('ACTIVE');
    world.advance(31 * 60_000);
    const { code, stderr } = await ended;
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 125, statuses: ENDED });
    expect(report()).toMatchObject({ terminated: true, exit_code: 125 });
  });

  test('lets jobs stop end a kept instance, and reports its end', async () => {
    const ended = here(blocked(), fetching());
    await until(() => records().some(({ kept }) => kept === 'results'));
    world.ssh.refuse = () => undefined;
    rmSync(world.local(`got/${nameOf(OTHER)}`));
    const stop = await world.gpucloud(['jobs', 'stop', nameOf(OTHER)]);
    const { code, stderr } = await ended;
    expect({ code, stop: stop.code, statuses: statuses() }, stderr + stop.stderr).toEqual({
      code: 0,
      stop: 0,
      statuses: ENDED,
    });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([true, true]);
    expect(report()).toMatchObject({ terminated: true, exit_code: 0, cost_at_most: '179.80' });
  });

  test('keeps all instances of a failed command with --keep-on-failure', async () => {
    await notifying(world);
    const ended = here(`${results(NEW, OTHER)}; exit 3`, [
      ...fetching(),
      '--keep-on-failure',
      '20m',
    ]);
    await until(() => records().filter(({ kept }) => kept === 'command').length === 2);
    expect(Object.values(statuses())).toEqual(['ACTIVE', 'ACTIVE']);
    world.advance(21 * 60_000);
    const { code, stderr } = await ended;
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 3, statuses: ENDED });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([true, true]);
    for (const name of ['job-1', 'job-2']) expect(stderr).toContain(`Kept ${name}: it bills until`);
    expect(report()).toMatchObject({ terminated: true, exit_code: 3, error: null });
    expect(heard(world)).toHaveLength(1);
  });

  test('fetches from a kept instance once its cause is mended', async () => {
    const ended = here(blocked(), fetching());
    await until(() => records().some(({ kept }) => kept === 'results'));
    world.ssh.refuse = () => undefined;
    rmSync(world.local(`got/${nameOf(OTHER)}`));
    world.advance(60_000);
    const { code, stderr } = await ended;
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 0, statuses: ENDED });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([true, true]);
    expect(report()).toMatchObject({ terminated: true, exit_code: 0, error: null });
  });

  test('terminates no instance before the results of all are here', async () => {
    const terminations: number[] = [];
    world.ssh.refuse = (script, id) => {
      if (id !== OTHER || !script.includes('result')) return undefined;
      terminations.push(world.terminations());
      return terminations.length < 3 ? 'ssh: connect: Connection refused' : undefined;
    };
    const { code, stderr } = await here(results(NEW, OTHER), fetching(), {
      clock: withoutPauses(15_000, 45_000),
    });
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 0, statuses: ENDED });
    expect(terminations.slice(0, 3)).toEqual([0, 0, 0]);
  });

  test('tries a copy four times and reports the instance in the error', async () => {
    let cuts = 0;
    world.ssh.refuse = (script, id) =>
      id === OTHER && script.includes('result') && cuts++ < 5
        ? 'ssh: connect to host 127.0.0.1: Connection refused'
        : undefined;
    const { code, stderr } = await here(results(NEW, OTHER), fetching(), {
      clock: withoutPauses(3_000, 15_000, 45_000),
    });
    expect({ code, statuses: statuses(), cuts }, stderr).toEqual({
      code: 125,
      statuses: ENDED,
      cuts: 4,
    });
  });

  test('retries a fetch until the service responds again', async () => {
    let cuts = 0;
    const { failing } = world.renting;
    world.ssh.refuse = (script, id) => {
      if (id !== OTHER || !script.includes('result')) return undefined;
      cuts += 1;
      if (cuts > 5) failing.clear();
      else failing.add(`/instances/${OTHER}`);
      return cuts > 5 ? undefined : 'ssh: connect to host 127.0.0.1: Connection refused';
    };
    await here(results(NEW, OTHER), fetching(), { speed: 1000 });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([true, true]);
  });

  test('terminates an instance that reached ERROR, and reports its missing results', async () => {
    world.ssh.refuse = (script, id) => {
      if (id !== OTHER || !script.includes('result')) return undefined;
      const one = world.renting.instances.get(OTHER);
      const failed = { status: 'ERROR', failure_reason: 'disk failed' };
      if (one !== undefined) world.renting.instances.set(OTHER, { ...one, ...failed });
      return 'ssh: connect to host 127.0.0.1: Connection refused';
    };
    const { code, stderr } = await here(results(NEW, OTHER), fetching(), {
      clock: withoutPauses(3_000, 15_000, 45_000),
    });
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 125, statuses: ENDED });
    expect(gotFrom(nameOf(NEW))).toBe(true);
    expect(report().instances).toMatchObject([
      { name: 'job-1', terminated: true },
      { name: 'job-2', terminated: true },
    ]);
  });

  test('exits with 7 after one refusal and one lost response', async () => {
    answerFor('job-1', no(409, 'out of stock'), 'hangUp');
    await here('true');
    expect(report()).toMatchObject({ terminated: 'unknown', exit_code: 7, cost_at_most: null });
  });
});

describe('gpucloud jobs on an instance of run --here', () => {
  test('stops the command of all instances, fetches their results and terminates them', async () => {
    const script = `trap '${results(NEW, OTHER)}; exit 9' INT; ${LASTS}`;
    const ended = here(script, fetching());
    await isUp();
    const list = await world.gpucloud(['jobs', 'list', '--columns', 'status']);
    expect(list.stdout).toBe('STATUS\nRUNNING\nRUNNING\n');
    // The command may use its instances for other jobs.
    expect(await world.runOn('echo other')).toMatchObject({ code: 0, stdout: 'other\n' });
    const stop = await world.gpucloud(['jobs', 'stop', 'job-2']);
    expect(stop).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Stopping run --here. Waiting until it has terminated job-2.\n',
    });
    const { code, stderr } = await ended;
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 9, statuses: ENDED });
    expect(stderr).toContain('Stopping the command: gpucloud jobs stop was called.\n');
    expect(await world.gpucloud(['jobs', 'logs', 'job-2'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'The command that uses job-2 runs on this computer. Its output is not stored.\n',
    });
    expect(['job-1', 'job-2'].map(gotFrom)).toEqual([true, true]);
  });

  test('kills a command that ignores SIGINT and SIGTERM after jobs stop', async () => {
    const ended = here(`trap '' INT TERM; ${LASTS}`, [], { speed: 50 });
    await isUp();
    // Asks again during the whole grace period, and says so once.
    const stop = await world.gpucloud(['jobs', 'stop', 'job-1'], { speed: 50 });
    expect(stop).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Stopping run --here. Waiting until it has terminated job-1.\n',
    });
    const { code, stderr } = await ended;
    expect({ code, statuses: statuses() }, stderr).toEqual({ code: 137, statuses: ENDED });
  });

  test('terminates all instances if jobs stop comes before the command', async () => {
    const { rent } = world.renting;
    world.renting.rent = (id, name, more) => rent(id, name, { status: 'PROVISIONING', ...more });
    const ended = here('touch ran');
    await until(() => records().filter(({ id }) => id !== null).length === 2);
    const stop = await world.gpucloud(['jobs', 'stop', 'job-1']);
    const { code, stderr } = await ended;
    expect({ code, stop: stop.code, statuses: statuses() }, stderr).toEqual({
      code: 125,
      stop: 0,
      statuses: ENDED,
    });
    expect(existsSync(world.local('ran'))).toBe(false);
    expect(stderr).toContain('error: job-1: gpucloud jobs stop stopped the job.');
  });
});
