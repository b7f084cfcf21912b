import { afterEach, beforeEach, expect, test } from 'vitest';
import { putJob } from '../../../contract/tree.ts';
import { CREATE, type DeadlineWorld, deadlineWorld, HOUR, ID, rentForFourHours } from './world.ts';

let world: DeadlineWorld;
beforeEach(async () => {
  world = await deadlineWorld();
  world.rented.shows = () => ({ price_per_hour_snapshot: '89.90' });
});
afterEach(() => world.close());

const CODES = /^(deadline|job|running)_/;

async function attention(): Promise<unknown[]> {
  const { stdout } = await world.cli(['status', '--json']);
  return JSON.parse(stdout).attention.filter(({ code }: { code: string }) => CODES.test(code));
}

test('reports an unenforced deadline, with the command that enforces it', async () => {
  await rentForFourHours(world);
  const message =
    'Nothing on this computer enforces the deadline of trainer: "instances reap" is not scheduled';
  const command = 'gpucloud instances reap --install';
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

test.each([
  [{ exit_code: 3, kept: null }, 'job_results', 'attach'],
  [{ exit_code: null, kept: 'results' }, 'job_results', 'attach'],
  [{ exit_code: null, lost_at: '2026-01-15T12:30:00.000Z' }, 'job_lost', 'stop'],
  [{ exit_code: 3, kept: 'command' }, undefined, undefined],
  [{ exit_code: null, kept: null }, undefined, undefined],
])('reports a job only if it needs attention: %o', async (state, code, verb) => {
  await rentForFourHours(world);
  await world.arm();
  await putJob(world.env, { id: ID, name: 'trainer' }, { ended_at: null, report: null, ...state });
  expect(await attention()).toMatchObject(
    code === undefined ? [] : [{ code, resource: ID, command: `gpucloud jobs ${verb} trainer` }],
  );
  world.rented.rent(ID, 'trainer', { status: 'TERMINATED' });
  expect(await attention()).toEqual([]);
});

test('fits ENDS into 80 columns, and reports a passed deadline once', async () => {
  await rentForFourHours(world);
  world.clock.advance(3 * HOUR);
  const { stdout } = await world.cli(['status', '--no-color'], { terminal: true, columns: 80 });
  expect(stdout).toMatch(/NAME +STATUS +PER HOUR +AGE +ENDS/);
  expect(stdout).toContain('in 1 h');
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'Nothing on this computer enforces the deadline of trainer',
  );
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  world.clock.advance(2 * HOUR);
  const late = await world.cli(['status', '--no-color'], { terminal: true, columns: 80 });
  expect(`${late.stdout}${late.stderr}`.split('past its deadline')).toHaveLength(2);
});
