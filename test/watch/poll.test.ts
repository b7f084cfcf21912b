import { expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { poll, type Turn } from '../../src/watch/poll.ts';
import { manualClock } from '../support/clock.ts';

const unreachable = new CliError('unreachable', 'Could not reach the service.');

/** Polls what the answers say, one after the other, and stops with the last. */
async function turnsOf(answers: readonly (string | CliError)[]) {
  const clock = manualClock();
  const stop = new AbortController();
  const left = [...answers];
  const turns: Turn<string>[] = [];
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
    for await (const turn of poll({ read, interval: 2_000, clock, signal: stop.signal })) {
      turns.push(turn);
    }
  } catch (error) {
    end = error;
  }
  return { turns, end, slept: clock.slept };
}

test('the first reading has to succeed', async () => {
  expect(await turnsOf([unreachable, 'a'])).toEqual({ turns: [], end: unreachable, slept: [] });
});

test('a later fault is a turn, and the pauses grow up to 30 s until a reading succeeds', async () => {
  const faults = Array.from({ length: 6 }, () => unreachable);
  const { turns, slept } = await turnsOf(['a', ...faults, 'b']);
  expect(turns).toEqual([{ value: 'a' }, ...faults.map((fault) => ({ fault })), { value: 'b' }]);
  expect(slept).toEqual([2_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 2_000]);
});

test('a refused key ends it', async () => {
  const refused = new CliError('authentication', 'The key was refused.');
  expect((await turnsOf(['a', refused, 'b'])).end).toBe(refused);
});

test('an interrupt ends it, in a reading and between two', async () => {
  expect((await turnsOf(['a'])).end).toMatchObject({ failure: 'interrupted' });
  const clock = manualClock();
  const stop = new AbortController();
  const turns = poll({ read: async () => 'a', interval: 1, clock, signal: stop.signal });
  await turns.next();
  stop.abort(new CliError('interrupted', 'Interrupted.'));
  await expect(turns.next()).rejects.toMatchObject({ failure: 'interrupted' });
});

test('what is over is read no more', async () => {
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
  expect({ values, slept: clock.slept }).toEqual({ values: [{ value: 'TERMINATED' }], slept: [] });
});
