import { stripVTControlCharacters } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { type AccountWorld, createAccountWorld, HOUR } from '../../support/account-service.ts';

let { world, service, known } = {} as AccountWorld;
beforeEach(async () => {
  ({ world, service, known } = await createAccountWorld());
});

const problems = (stdout: string) =>
  /Needs attention\n([\s\S]*?)\n\n/.exec(stripVTControlCharacters(stdout))?.[1]?.split('\n');

test('groups problems of a kind in a terminal, and counts those that it leaves out', async () => {
  const failed = (name: string, hours: number) =>
    service.instance(name, {
      status: 'ERROR',
      paid_until: service.ago(HOUR),
      created_at: service.ago(hours * HOUR),
    });
  service.profile = { is_active: false };
  service.balance = '-5.00';
  const names = ['one', 'two', 'six', 'ten', 'all'];
  await known(
    ...names.map((name, at) => failed(name, at + 1)),
    service.instance('left', { created_at: service.ago(30 * HOUR) }),
  );
  const how = { terminal: true, columns: 100 };
  const { stdout } = await world.cli(['status'], how);
  expect(problems(stdout)).toEqual([
    '- left was rented 1 day 6 h ago and has no deadline:',
    '    gpucloud instances expire left --if-idle 45m',
    '- The account is not active (blocked)',
    '- The balance is negative: -5.00 ₽',
    '- one is in ERROR and may be billing:',
    '    gpucloud instances terminate one',
    '- The same for two, six, ten and 1 more',
  ]);
  service.drive('data', { status: 'ERROR' });
  expect(problems((await world.cli(['status'], how)).stdout)?.slice(-3)).toEqual([
    '- The balance is negative: -5.00 ₽',
    '- 6 more problems:',
    '    gpucloud status --all',
  ]);
  const all = await world.cli(['status', '--all'], how);
  expect(problems(all.stdout)?.filter((line) => line.includes('may be billing'))).toHaveLength(5);
});

test('groups no problems that differ in more than the name', async () => {
  const left = (name: string, hours: number) =>
    service.instance(name, { created_at: service.ago(hours * HOUR) });
  service.balance = '100000';
  const alike = ['one', 'two', 'tri', 'far'].map((name) => left(name, 30));
  await known(...alike, left('six', 50), left('ten', 60));
  const { stdout } = await world.cli(['status'], { terminal: true, columns: 100 });
  expect(problems(stdout)).toEqual([
    '- one was rented 1 day 6 h ago and has no deadline:',
    '    gpucloud instances expire one --if-idle 45m',
    '- The same for two, tri, far',
    '- six was rented 2 days 2 h ago and has no deadline:',
    '    gpucloud instances expire six --if-idle 45m',
    '- 1 more problem:',
    '    gpucloud status --all',
  ]);
});
