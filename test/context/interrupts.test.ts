import { EventEmitter, getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leavingOf, listenForFaults, listenForInterrupts } from '../../src/context/interrupts.ts';
import { endsRentals, hasEnded } from '../../src/context/session.ts';
import { CliError } from '../../src/errors.ts';
import { sleep } from '../../src/system/clock.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

function systemOn(platform: string) {
  const calls: unknown[] = [];
  const [first, second] = [new AbortController(), new AbortController()];
  const kill = (...given: unknown[]) => calls.push(given);
  const system = Object.assign(new EventEmitter(), { pid: 7, platform, kill });
  return { system, first, second, calls };
}

test.each(
  [
    ...['SIGINT', 'SIGTERM SIGHUP', 'SIGHUP SIGINT', 'SIGBREAK SIGXFSZ SIGBREAK'],
    ...['SIGINT SIGINT SIGTERM SIGHUP', 'SIGHUP SIGHUP SIGHUP', 'SIGINT SIGINT third SIGINT'],
    'SIGINT SIGINT third gone SIGINT',
  ].flatMap((events) => [[events, 'linux'] as const, [events, 'win32'] as const]),
)('acts on %s on %s', (events, platform) => {
  const { system, first, second, calls } = systemOn(platform);
  const atThird = listenForInterrupts(system, first, second);
  let forget = () => {};
  for (const event of events.split(' ')) {
    if (event === 'third') forget = atThird(() => calls.push('third'));
    else if (event === 'gone') forget();
    else system.emit(event);
  }
  const reasons = [first, second].map(({ signal }) => signal.reason);
  const left = system.eventNames().filter((name) => system.listenerCount(name) > 0);
  expect({ reasons, calls: calls.join(' '), left: left.join(' ') }).toMatchSnapshot();
});

test.each<[signals: string, leaves: string | undefined]>([
  ['', undefined],
  ['interrupted', undefined],
  ['interrupted interrupted', 'interrupted'],
  ['interrupted hungUp', 'hungUp'],
  ['terminated', 'terminated'],
  ['hungUp', 'hungUp'],
  ['terminated interrupted', 'terminated'],
])('leaves after %j', (signals, leaves) => {
  const [first, second] = [new AbortController(), new AbortController()];
  const interrupts = { first: first.signal, second: second.signal };
  const early = leavingOf(interrupts);
  signals.split(' ').forEach((failure, at) => {
    if (failure !== '') [first, second][at]?.abort(new CliError(failure as never, failure));
  });
  const reasons = [early, leavingOf(interrupts)].map(({ reason }) => reason?.failure);
  expect(reasons).toEqual([leaves, leaves]);
});

test.each([
  [undefined, false, false],
  [{ keeps: false, ended: new AbortController().signal }, true, false],
  [{ keeps: true, ended: AbortSignal.abort() }, false, true],
])('knows what a session %j ends: %s, and whether it has ended: %s', (session, ends, ended) => {
  expect([endsRentals(session), hasEnded(session)]).toEqual([ends, ended]);
});

test('stops the run after an uncaught fault, and gives up after two seconds', async () => {
  const { system, first, second, calls } = systemOn('linux');
  const faults = listenForFaults(system, first, second);
  void faults.overdue.then((code) => calls.push(code));
  system.emit('uncaughtException', 'odd');
  system.emit('uncaughtException', new Error('later'));
  const fault = new Error('odd');
  expect([faults.first, first.signal.reason, second.signal.reason]).toEqual([fault, fault, fault]);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(calls).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect([calls, faults.note(new TypeError('x'))]).toEqual([[0], 0]);
});

const LONGEST = 2 ** 31 - 1;
test.each<[number, after?: number]>([
  ...([[5], [LONGEST], [LONGEST + 5], [2 * LONGEST + 1]] satisfies [number][]),
  ...([
    [5, 0],
    [5, 4],
    [LONGEST + 5, LONGEST + 4],
  ] satisfies [number, number][]),
])('sleeps %d ms, interrupted after %j', async (milliseconds, after) => {
  const stop = new AbortController();
  const log: unknown[] = [];
  if (after === 0) stop.abort('early');
  const ended = sleep(milliseconds, stop.signal).then(
    () => log.push('end'),
    (reason) => log.push(reason),
  );
  await vi.advanceTimersByTimeAsync(Math.max(0, (after ?? milliseconds) - 1));
  log.push(vi.getTimerCount());
  await vi.advanceTimersByTimeAsync(1);
  if (after !== undefined) stop.abort('stopped');
  await ended;
  const listeners = getEventListeners(stop.signal, 'abort').length;
  expect({ log, timers: vi.getTimerCount(), listeners }).toMatchSnapshot();
});
