import { expect, test } from 'vitest';
import { type FollowedLog, follow } from '../../src/watch/follow.ts';
import { manualClock } from '../support/clock.ts';
import { event, type TestEvent } from './pages.ts';

/** Follows a log with these events, and returns the steps in order. Hides the first of several. */
async function followed(isWritten: boolean, count = 1): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, at) => `e${at + 1}`);
  const steps: string[] = [];
  const log: FollowedLog<TestEvent> = {
    hasStarted: () => true,
    look: async () => ({
      news: steps.length === 0 ? ids.map((id) => ({ id, time: 1_000, event: event(id, 1) })) : [],
      gap: undefined,
    }),
    take: (events) => void steps.push(...events.map(({ id }) => `${id} is taken`)),
    hasEnded: async () => true,
  };
  const stream = follow({
    logs: [log],
    clock: manualClock(),
    signal: new AbortController().signal,
    interval: 2_000,
    each: (logs, work) => Promise.all(logs.map(work)),
    shows: ({ id }) => id !== 'e1' || count === 1,
    isLast: () => false,
    flush: async () => steps.push('flush') > 0 && isWritten,
    onTaken: async () => void steps.push('position is saved'),
    report: {
      lost: () => undefined,
      back: () => undefined,
      gap: () => undefined,
      gone: () => undefined,
      looked: () => undefined,
    },
  });
  for await (const { event: shown } of stream) steps.push(`${shown.id} is shown`);
  return steps;
}

test('saves the position once the events are written', async () => {
  const steps = ['e1 is shown', 'flush', 'e1 is taken', 'position is saved'];
  expect(await followed(true)).toEqual(steps);
});

test('hands on many events in parts, each once', async () => {
  const steps = await followed(true, 502);
  const shown = steps.filter((step) => step.endsWith('shown'));
  expect(shown).toEqual(Array.from({ length: 501 }, (_, at) => `e${at + 2} is shown`));
  expect(steps.filter((step) => step === 'flush')).toHaveLength(2);
});

test("does not save the position if the events can't be written, and stops", async () => {
  expect(await followed(false)).toEqual(['e1 is shown', 'flush']);
});
