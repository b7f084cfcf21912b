import { expect, test } from 'vitest';
import { dueOf, markDue } from '../../../src/jobs/rescue/pass.ts';
import type { RescueRecord } from '../../../src/journal/index.ts';

const DEADLINE = '2026-01-15T12:00:00.000Z';
const [LATER, AFTER] = ['2026-01-15T12:50:00.000Z', '2026-01-15T13:00:00.000Z'];
const NOW = Date.parse(LATER);

const rescue = { uid: 'r', paths: [], budget: null, early: 0 };
const one = { id: 'i', deadline: DEADLINE, if_idle: { after: 1, uid: 'idle' }, rescue };

/** Marks the instance due by its idle rule, and returns what is stored then. */
async function marked(due: RescueRecord['due'], deadline = DEADLINE) {
  let stored = due;
  const withRescue = (_id: string, _rescue: unknown, work: (held: object) => unknown) =>
    work({
      found: { due, paths: [], failing: null },
      write: async (record: Pick<RescueRecord, 'due'>) => {
        stored = record.due;
      },
    });
  const journal = { withRescue } as unknown as Parameters<typeof markDue>[3];
  await markDue({ ...one, deadline }, 'idle', NOW, journal);
  return stored;
}

test('the budget of a deadline does not start again when the idle rule is met too', async () => {
  const due = { at: DEADLINE, by: DEADLINE };
  expect(await marked(due)).toEqual(due);
  expect(await marked(null, AFTER)).toEqual({ at: LATER, by: 'idle' });
});

test('the budget counts from the deadline if a copy began before it', () => {
  const nothing = { due: null };
  expect(dueOf({ deadline: DEADLINE }, nothing, NOW)).toEqual({ at: LATER, by: DEADLINE });
  expect(dueOf({ deadline: DEADLINE }, nothing, NOW, true)).toEqual({ at: DEADLINE, by: DEADLINE });
});
