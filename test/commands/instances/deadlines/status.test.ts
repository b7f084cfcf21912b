import { beforeEach, describe, expect, test } from 'vitest';
import type { JobRecord } from '../../../../src/jobs/record/record.ts';
import { putJob } from '../../../contract/tree.ts';
import { OFFERED } from '../../../support/sandbox-ids.ts';
import { errorOf } from '../../../support/stderr-lines.ts';
import { CREATE, type DeadlineWorld, deadlineWorld, HOUR, ID, rentForFourHours } from './world.ts';

let world: DeadlineWorld;
beforeEach(async () => {
  world = await deadlineWorld();
  world.rented.shows = () => ({ price_per_hour_snapshot: '89.90' });
});

const CODES = /^(deadline|job|running)_/;

async function attention(): Promise<unknown[]> {
  const { stdout } = await world.cli(['status', '--json']);
  return JSON.parse(stdout).attention.filter(({ code }: { code: string }) => CODES.test(code));
}

test('reports an unenforced deadline, with the command that enforces it', async () => {
  await rentForFourHours(world);
  const message =
    'Nothing on this computer enforces the deadline of trainer: "instances reap" is not scheduled';
  const command =
    "nohup sh -c 'while :; do gpucloud instances reap --every 5m; sleep 300; done' >/dev/null 2>&1 &";
  expect(await attention()).toEqual([
    { code: 'deadline_unenforced', resource: ID, message, command },
  ]);
  await world.arm();
  expect(await attention()).toEqual([]);
  world.clock.advance(10 * 60_000);
  expect(await attention()).toMatchObject([{ code: 'deadline_unenforced' }]);
});

test('reports a passed deadline, with the command that terminates the instance', async () => {
  await rentForFourHours(world);
  world.clock.advance(7 * HOUR);
  await world.arm();
  const message = 'trainer is 3 h past its deadline';
  const command = 'gpucloud instances reap';
  expect(await attention()).toEqual([{ code: 'deadline_passed', resource: ID, message, command }]);
});

test('reports an instance that has run for a day without a deadline', async () => {
  await world.cli(CREATE);
  world.rented.rent(ID, 'trainer', { status: 'ACTIVE', created_at: world.at(0) });
  world.clock.advance(24 * HOUR - 60_000);
  expect(await attention()).toEqual([]);
  world.clock.advance(60_000);
  const message = 'trainer was rented 1 day ago and has no deadline';
  const command = 'gpucloud instances expire trainer --if-idle 45m';
  expect(await attention()).toEqual([{ code: 'running_long', resource: ID, message, command }]);
  await world.cli(['instances', 'expire', 'trainer', '--after', '30d']);
  await world.arm();
  expect(await attention()).toEqual([]);
});

const FINDINGS: readonly [Partial<JobRecord>, string?, string?][] = [
  [{ exit_code: 3, kept: null }, 'job_results', 'attach'],
  [{ exit_code: null, kept: 'results' }, 'job_results', 'attach'],
  [{ exit_code: null, lost_at: '2026-01-15T12:30:00.000Z' }, 'job_lost', 'stop'],
  [{ exit_code: 3, kept: 'command' }],
  [{ exit_code: null, kept: null }],
];

test.each(FINDINGS)('reports a job only if it needs attention: %o', async (state, code, verb) => {
  await rentForFourHours(world);
  await world.arm();
  await putJob(world.env, { id: ID, name: 'trainer' }, { ended_at: null, report: null, ...state });
  expect(await attention()).toMatchObject(
    code === undefined ? [] : [{ code, resource: ID, command: `gpucloud jobs ${verb} trainer` }],
  );
  world.rented.rent(ID, 'trainer', { status: 'TERMINATED' });
  expect(await attention()).toEqual([]);
});

test.each<[Partial<JobRecord>, string]>([
  [{}, 'jobs stop trainer'],
  [{ exit_code: 0 }, 'jobs stop trainer'],
  [{ exit_code: 3, kept: 'results' }, 'jobs stop trainer'],
  [{ exit_code: 3, kept: 'command' }, 'instances terminate trainer'],
  [{ on: true }, 'instances terminate trainer'],
  [{ here: true }, 'instances terminate trainer'],
])('to stop paying, copies the results of a job first: %o', async (state, command) => {
  await rentForFourHours(world);
  const open = { ended_at: null, report: null, exit_code: null };
  await putJob(world.env, { id: ID, name: 'trainer' }, { ...open, ...state });
  const { next } = JSON.parse((await world.cli(['status', '--json'])).stdout);
  expect(next).toContainEqual({ command: `gpucloud ${command}`, purpose: 'stop paying' });
});

test('gives the results of a wrong path up with --no-fetch', async () => {
  await rentForFourHours(world);
  const uncopied = { why: 'reslts does not exist on the instance', isMissing: true };
  const open = { ended_at: null, report: null, exit_code: 0, kept: 'results', uncopied } as const;
  await putJob(world.env, { id: ID, name: 'trainer' }, open);
  const { next } = JSON.parse((await world.cli(['status', '--json'])).stdout);
  const command = 'gpucloud jobs stop trainer --no-fetch';
  expect(next).toContainEqual({ command, purpose: 'give the results up' });
});

test('shows ENDS only for a deadline that a schedule enforces', async () => {
  await rentForFourHours(world);
  await world.arm();
  await world.cli(['status', '--no-color'], { terminal: true, columns: 80 });
});

test('get warns of a deadline that nothing enforces', async () => {
  await rentForFourHours(world);
  const get = (...flags: string[]) => world.cli(['instances', 'get', 'trainer', ...flags]);
  expect((await get()).stderr).toBe(
    'warning: Nothing on this computer enforces deadlines: "instances reap" is not scheduled. To schedule it: nohup sh -c \'while :; do gpucloud instances reap --every 5m; sleep 300; done\' >/dev/null 2>&1 &\n',
  );
  expect((await get('--json')).stderr).toBe('');
  await world.arm();
  expect((await get()).stderr).toBe('');
});

test('shows the deadline at 40 columns', async () => {
  await rentForFourHours(world);
  world.rented.rent(ID, 'trainer', { status: 'ACTIVE' });
  await world.cli(['status', '--no-color'], { terminal: true, columns: 40 });
});

test('fits a deadline into 80 columns, and reports a passed deadline once', async () => {
  await rentForFourHours(world);
  world.clock.advance(3 * HOUR);
  const { stdout } = await world.cli(['status', '--no-color'], { terminal: true, columns: 80 });
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  world.clock.advance(2 * HOUR);
  const late = await world.cli(['status', '--no-color'], { terminal: true, columns: 80 });
  expect(`${late.stdout}${late.stderr}`.split('past its deadline')).toHaveLength(2);
});

describe('a schedule of an older gpucloud', () => {
  const RULE = ['instances', 'expire', 'trainer', '--if-idle', '45m', '--json'];

  test('enforces deadlines, but no idle rules', async () => {
    await world.armOlder({});
    const later = ['--terminate-after', '4h'];
    for (const [flag, value, does, doesNot] of [
      ['--if-idle', '45m', 'enforces idle rules', 'enforce idle rules'],
      ['--rescue', `out:${world.home}/a`, 'copies files with --rescue', 'copy files with --rescue'],
    ] as const) {
      const refused = await world.cli([...CREATE, ...later, flag, value, '--json']);
      expect(refused.code).toBe(2);
      expect(errorOf(refused.stderr).message).toBe(
        `Nothing on this computer ${does}: the schedule runs an older gpucloud, which does not ${doesNot}. Nothing was sent.`,
      );
    }
    expect((await world.cli([...CREATE, ...later])).code).toBe(0);
    expect(await attention()).toEqual([]);
    await world.cli(RULE);
    const message = expect.stringContaining('enforces the idle rule of trainer: the schedule runs');
    expect(await attention()).toMatchObject([{ code: 'deadline_unenforced', message }]);
  });

  test('is shown by reap --status and doctor', async () => {
    await world.armOlder({ program: '1.4.0', features: ['deadline', 'idle'] }, '@environment');
    const reason = 'the schedule runs gpucloud 1.4.0, which does not finish jobs';
    const shown = await world.cli(['instances', 'reap', '--status', '--json']);
    const enforces = ['deadline', 'idle'];
    expect(JSON.parse(shown.stdout)).toMatchObject({ armed: true, enforces, reason });
    await world.cli(['instances', 'reap', '--status', '-o', 'csv']);
    const { checks } = JSON.parse((await world.cli(['doctor', '--json'])).stdout);
    const hint =
      "gpucloud instances reap --status; schedule it again: nohup sh -c 'while :; do gpucloud instances reap --every 5m; sleep 300; done' >/dev/null 2>&1 &";
    const check = { id: 'deadlines', status: 'warn', message: reason, hint };
    expect(checks).toContainEqual(check);
  });

  test('finishes no jobs', async () => {
    await world.armOlder({ program: '1.4.0', features: ['deadline', 'idle'] });
    await world.cli([...CREATE, '--terminate-after', '4h']);
    const open = { ended_at: null, report: null, exit_code: null };
    await putJob(world.env, { id: ID, name: 'trainer' }, open);
    expect(await attention()).toMatchObject([
      { message: expect.stringContaining('Nothing on this computer finishes the job of trainer') },
      { code: 'job_unfollowed', resource: ID, command: 'gpucloud jobs list' },
    ]);
    const job = ['run', ...OFFERED, '--ssh-key', 'k', '--detach', '--terminate-after', '1h'];
    await world.cli([...job, '--json', '--', 'true']);
  });
});

test('rejects reap --install with --status', async () => {
  expect((await world.cli(['instances', 'reap', '--install', '--status'])).code).toBe(2);
});

describe('a loop without a scheduler', () => {
  const alive = new Set<number>();
  beforeEach(async () => {
    alive.clear();
    const { cli, ...rest } = await deadlineWorld();
    const isAlive = (pid: number) => alive.has(pid);
    world = { ...rest, cli: (argv, options) => cli(argv, { ...options, isAlive }) };
    await world.armLoop(812);
    world.clock.advance(3 * 60_000);
  });
  const armed = async () => {
    const { armed: isArmed, reason } = JSON.parse(
      (await world.cli(['instances', 'reap', '--status', '--json'])).stdout,
    );
    return { isArmed, reason };
  };

  test('enforces deadlines while its process runs, and is named before renting', async () => {
    alive.add(812);
    const by = 'enforced only by the loop of process 812, last seen 3 min ago';
    expect(await armed()).toEqual({ isArmed: true, reason: by });
    await world.cli([...CREATE, '--terminate-after', '4h']);
    expect(await attention()).toEqual([]);
    expect((await world.cli(['status'])).stdout).toMatch(new RegExp(`^Deadlines +${by}$`, 'm'));
    const { checks } = JSON.parse((await world.cli(['doctor', '--json'])).stdout);
    const hint = 'gpucloud instances reap --status';
    expect(checks).toContainEqual({ id: 'deadlines', status: 'warn', message: by, hint });
  });

  test('goes on after reap --uninstall, which names its process', async () => {
    alive.add(812);
    await world.cli(['instances', 'reap', '--uninstall']);
    alive.delete(812);
    const ended = await world.cli(['instances', 'reap', '--uninstall']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect((await armed()).reason).toBe('"instances reap" is not scheduled');
  });

  test('does not trust a single run whose process has ended', async () => {
    world.clock.advance(60 * 60_000);
    await world.cli(['instances', 'reap', '--every', '5m']);
    world.clock.advance(60_000);
    const reason = '"instances reap" has run only once (1 min ago), which proves no schedule';
    expect(await armed()).toEqual({ isArmed: false, reason });
    alive.add(4141);
    expect(await armed()).toEqual({ isArmed: true, reason: null });
    await world.cli(['instances', 'reap', '--every', '5m'], { terminal: true });
    world.clock.advance(60_000);
    expect(await armed()).toEqual({ isArmed: false, reason });
  });
});
