import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { type Poll, poll, type Turn } from '../../src/watch/poll.ts';
import { manualClock } from '../support/clock.ts';

const unreachable = new CliError('unreachable', 'Could not reach the service.');

const html = new CliError('notUnderstood', 'The answer is an HTML page.');
const missing = new CliError('notFound', 'Instance m1 not found.');
const refused = new CliError('refused', 'The service refused it (400).');

const busy = (retryAfterMs: number) =>
  new CliError('rateLimited', 'No more requests for now (429).', { retryable: true, retryAfterMs });

/** Polls through the responses in turn, and stops at the last. */
async function turnsOf(answers: readonly (string | CliError)[], more: Partial<Poll<string>> = {}) {
  const clock = manualClock();
  const stop = new AbortController();
  const left = [...answers];
  const turns: Turn<string>[] = [];
  const shown = (turn: Turn<string>) => ('fault' in turn ? turn.fault : turn.value);
  const read = async () => {
    const answer = left.shift();
    if (answer === undefined) {
      stop.abort(new CliError('interrupted', 'Interrupted.'));
      throw stop.signal.reason;
    }
    if (answer instanceof CliError) throw answer;
    return answer;
  };
  let end: unknown;
  try {
    const given = { read, interval: 2_000, clock, signal: stop.signal, ...more };
    for await (const turn of poll(given)) {
      turns.push(turn);
    }
  } catch (error) {
    end = error;
  }
  return { turns, shown: turns.map(shown), end, slept: clock.slept };
}

test('throws if the first read of a poll fails, unless the resource was there', async () => {
  const thrown = { turns: [], shown: [], end: unreachable, slept: [] };
  expect(await turnsOf([unreachable, 'a'])).toEqual(thrown);
  const known = [missing, html, 'a'];
  expect((await turnsOf(known, { wasThere: true })).shown).toEqual(known);
  expect((await turnsOf([unreachable, 'a'], { wasThere: false })).shown).toEqual([
    unreachable,
    'a',
  ]);
  expect(await turnsOf(known, { wasThere: false })).toEqual({ ...thrown, end: missing });
});

test('reports later errors, with pauses up to 30 s until a read succeeds', async () => {
  const faults = Array.from({ length: 6 }, () => unreachable);
  const { shown, slept } = await turnsOf(['a', ...faults, 'b']);
  expect(shown).toEqual(['a', ...faults, 'b']);
  expect(slept).toEqual([2_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 2_000]);
});

test('waits the pause that the service requests and reports it', async () => {
  const long = [busy(120_000), busy(120_000), busy(1_000)];
  const { turns, slept } = await turnsOf(['a', busy(2_000), 'a', ...long, 'b']);
  // After the third fault, the program's own pause (8 s) is longer than the requested pause.
  expect(slept).toEqual([2_000, 2_000, 2_000, 120_000, 120_000, 8_000, 2_000]);
  expect(turns.map(({ pause, isRequested }) => [pause, isRequested])).toEqual([
    ...Array(3).fill([2_000, false]),
    [120_000, true],
    [120_000, true],
    [8_000, false],
    [2_000, false],
  ]);
});

test('waits the longest pause requested by the failed parts of a read', async () => {
  const faultsIn = (reading: string) =>
    reading === 'half' ? [unreachable, busy(90_000), busy(60_000)] : [];
  const { slept } = await turnsOf(['half', 'whole'], { faultsIn });
  expect(slept).toEqual([90_000, 2_000]);
});

test.each([
  ['authentication', false],
  ['authentication', true],
  ['usage', true],
  ['storage', true],
  ['interrupted', true],
] as const)('stops a poll after the failure %s (isSeen: %s)', async (failure, isSeen) => {
  const final = new CliError(failure, 'No.');
  expect((await turnsOf(['a', final, 'b'], { isSeen })).end).toBe(final);
});

describe('a permanent error', () => {
  test('stops a poll after a refusal or repeated odd or missing responses', async () => {
    expect((await turnsOf(['a', refused, 'b'])).end).toBe(refused);
    const odd = await turnsOf(['a', html, html, html, html, 'b', html, html, html, html, html]);
    expect(odd).toMatchObject({ end: html, slept: { length: 10 } });
    expect((await turnsOf(['a', missing, 'b', missing, missing])).end).toBe(missing);
  });

  test('reports a permanent error without stopping the poll while a person watches', async () => {
    const faults = [refused, missing, missing, html, html, html, html, html, html];
    const { shown, end } = await turnsOf(['a', ...faults, 'b'], { isSeen: true });
    expect(shown).toEqual(['a', ...faults, 'b']);
    expect(end).toMatchObject({ failure: 'interrupted' });
  });
});

test('stops a poll on an interrupt during and between reads', async () => {
  expect((await turnsOf(['a'])).end).toMatchObject({ failure: 'interrupted' });
  const clock = manualClock();
  const stop = new AbortController();
  const turns = poll({ read: async () => 'a', interval: 1, clock, signal: stop.signal });
  await turns.next();
  stop.abort(new CliError('interrupted', 'Interrupted.'));
  await expect(turns.next()).rejects.toMatchObject({ failure: 'interrupted' });
  const read = () => Promise.reject(new Error('read after an interrupt'));
  const late = poll({ read, interval: 1, clock, signal: stop.signal });
  await expect(late.next()).rejects.toMatchObject({ failure: 'interrupted' });
});

test('stops a poll after the final status', async () => {
  const clock = manualClock();
  const values: Turn<string>[] = [];
  for await (const turn of poll({
    read: async () => 'TERMINATED',
    interval: 1,
    clock,
    signal: new AbortController().signal,
    isOver: (value) => value === 'TERMINATED',
  })) {
    values.push(turn);
  }
  expect(values).toEqual([{ value: 'TERMINATED', pause: 1, isRequested: false }]);
  expect(clock.slept).toEqual([]);
});
