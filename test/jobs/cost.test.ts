import { readFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { NEW, whole } from '../support/renting-service.ts';
import { type Answer, no } from '../support/service.ts';
import { withoutTranscript } from '../support/transcript.ts';
import { createLoopbackWorld, type LoopbackWorld } from './loopback-world.ts';
import { withoutPauses } from './passing-clock.ts';
import { ctrlC, exited, reap } from './stories.ts';

let world: LoopbackWorld;
beforeEach(async () => {
  world = await createLoopbackWorld();
});

const created_at = () => new Date(world.clock.now()).toISOString();
const event = (action: string, amount: string) => ({
  id: `${action}-${amount}`,
  type: 'BILLING',
  message: action,
  payload: { action, amount },
  created_at: created_at(),
});
const reserved = () => event('reserve', '89.905');
const closed = () => [event('release', '89.555'), event('charge', '0.35'), reserved()];

/** Books the charge, so that only the log decides. */
function book(): void {
  const how = { id: 't', type: 'USAGE_CHARGE', status: 'COMPLETED', direction: 'OUTGOING' };
  world.renting.transactions = [{ ...how, amount: '0.350', created_at: created_at() }];
}

const reads = () => world.service.requests.filter(({ path }) => /\/events/.test(path)).length;

const costs = () => {
  const { report } = world.record();
  return { cost: report?.cost, cost_at_most: report?.cost_at_most };
};

test('shows the exact cost as soon as the log and the transactions prove it', async () => {
  book();
  const logs = [[reserved()], [event('charge', '0.35'), reserved()]];
  world.renting.events = () => whole(logs.shift() ?? closed());
  const clock = withoutPauses(2_000);
  const { stderr } = await world.run('exit 3', [], { clock });
  expect(stderr).toMatch(/^It cost 0\.35 ₽[.:]/m);
  expect(costs()).toEqual({ cost: '0.35', cost_at_most: '89.90' });
  expect({ reads: reads(), status: world.status() }).toEqual({ reads: 3, status: 'TERMINATING' });
});

test('shows the highest possible cost if the log is still open after 10 s', async () => {
  book();
  world.renting.events = () => whole([reserved()]);
  const begun = world.clock.monotonic();
  const { stderr } = await world.run('exit 3', []);
  expect(stderr).toMatch(/^It cost at most 89\.90 ₽[.:]/m);
  expect(costs()).toEqual({ cost: null, cost_at_most: '89.90' });
  expect(reads()).toBeGreaterThan(1);
  // The clock divides the 10 s by five.
  expect(world.clock.monotonic() - begun).toBeGreaterThan(1_900);
});

test.each([
  ['an empty log', () => whole([])],
  ['an unknown payload', () => whole([...closed(), event('adjust', '1')])],
  ['a log that is gone', () => no(404, 'Instance not found')],
  ['a refusal', () => no(403, 'Forbidden')],
  ['a broken log', (): Answer => ({ status: 200, body: '<html>' })],
])('waits for nothing with %s', async (_what, events) => {
  book();
  world.renting.events = events;
  const { stderr } = await world.run('exit 3', []);
  expect(stderr).toMatch(/^It cost at most 89\.90 ₽[.:]/m);
  expect(stderr).not.toMatch(/^(error|warning: (?!If this run))/m);
  expect({ reads: reads(), ...costs() }).toEqual({
    reads: 1,
    cost: null,
    cost_at_most: '89.90',
  });
});

test('does not call a charge exact that the transactions lack', async () => {
  world.renting.events = () => whole(closed());
  const { stderr } = await world.run('true', []);
  expect(stderr).toMatch(/^It cost at most 89\.90 ₽[.:]/m);
});

test('counts the last known price of an instance that is gone once terminated', async () => {
  world.renting.terminations = [
    (id) => {
      const answer = world.renting.terminate(id);
      world.renting.instances.delete(id);
      return answer;
    },
  ];
  const { code } = await world.run('exit 3', []);
  expect({ code, ...costs() }).toEqual({ code: 3, cost: null, cost_at_most: '89.90' });
});

test('reads the cost once in a pass of reap', async () => {
  await reap(world, '--every', '30m');
  await world.detach('exit 3');
  await exited(world);
  world.renting.events = () => whole([reserved()]);
  expect(await reap(world)).toMatchObject({ code: 0, rows: [{ outcome: 'terminated' }] });
  expect({ reads: reads(), ...costs() }).toEqual({ reads: 1, cost: null, cost_at_most: '89.90' });
});

test.each([
  ['jobs stop', 'sleep 60', ['jobs', 'stop', 'job']],
  ['reap', 'true', ['instances', 'reap']],
])('stores and reports the exact cost of a job that %s ends', async (driver, command, argv) => {
  // Its record may have the time of the command, or end before it.
  if (driver === 'jobs stop') withoutTranscript();
  book();
  await world.detach(command, '--report', world.local('report.json'));
  if (driver === 'reap') await exited(world);
  world.renting.events = () => whole(closed());
  const { stderr } = await world.gpucloud(argv);
  expect(/^It cost 0\.35 ₽[.:]/m.test(stderr)).toBe(driver === 'jobs stop');
  expect(costs()).toMatchObject({ cost: '0.35' });
  const report = JSON.parse(readFileSync(world.local('report.json'), 'utf8'));
  expect(report).toMatchObject({ stage: 'done', terminated: true, cost: '0.35' });
});

test('a second Ctrl-C ends the wait for the cost, and the instance is terminated', async () => {
  const { interrupts, press } = ctrlC();
  let pressed = 0;
  world.renting.events = () => {
    if (pressed < 2) press();
    pressed += 1;
    return whole([reserved()]);
  };
  const { stderr } = await world.run('true', [], { interrupts });
  expect({ reads: reads(), status: world.status() }, stderr).toEqual({
    reads: 2,
    status: 'TERMINATING',
  });
  expect(costs()).toEqual({ cost: null, cost_at_most: '89.90' });
});

test('shows the cost in jobs list and jobs get', async () => {
  book();
  world.renting.events = () => whole(closed());
  await world.run('true', []);
  const shown = async (...argv: string[]) =>
    JSON.parse((await world.gpucloud(['jobs', ...argv, '--json'])).stdout);
  const receipt = { cost: '0.35', cost_at_most: '89.90', phase: 'done' };
  expect(await shown('list')).toMatchObject([{ id: NEW, ...receipt }]);
  expect(await shown('get', 'job')).toMatchObject({
    ...receipt,
    phases: { renting: expect.any(Number), copying: null, fetching: null },
    report: { cost: '0.35' },
  });
});
