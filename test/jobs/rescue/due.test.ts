import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import type { Pass } from '../../../src/instances/deadlines/reap.ts';
import { notCopied } from '../../../src/instances/deadlines/rescued.ts';
import { driveRescue, type Steps } from '../../../src/jobs/rescue/drive.ts';
import {
  dueOf,
  foreseeRescue,
  markDue,
  rescueInstance,
  type Tools,
} from '../../../src/jobs/rescue/pass.ts';
import type { Ends, RescueRecord } from '../../../src/journal/index.ts';

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

test('nothing is marked while another process copies', async () => {
  const journal = { withRescue: async () => undefined } as unknown as Parameters<typeof markDue>[3];
  expect(await markDue(one, 'idle', NOW, journal)).toBe(false);
  const how = { pass: { journal } as Pass, every: 0, tools: {} as Tools };
  const reaping = await rescueInstance({ ...one, name: 'box', status: '' }, how, {} as Context);
  expect(reaping).toEqual({ rows: [], errors: [] });
});

const BY = { at: DEADLINE, by: DEADLINE };
const IDLE = { at: '2026-01-15T11:45:00.000Z', by: 'idle' };
test.each<[string, Ends, RescueRecord['due'], RescueRecord['due']]>([
  ['at the deadline itself', { deadline: LATER }, null, { at: LATER, by: LATER }],
  ['not before it', { deadline: AFTER }, null, null],
  ['not without one', { deadline: null }, null, null],
  [
    'by its idle rule',
    { deadline: undefined, if_idle: one.if_idle },
    { at: DEADLINE, by: 'idle' },
    { at: DEADLINE, by: 'idle' },
  ],
  ['as stored', { deadline: DEADLINE }, BY, BY],
  [
    'again after the clock stepped back',
    { deadline: DEADLINE },
    { at: AFTER, by: DEADLINE },
    { at: LATER, by: DEADLINE },
  ],
  ['not by another deadline', { deadline: AFTER }, BY, null],
])('an instance is due %s', (_what, ends, due, found) => {
  expect(dueOf(ends, { due }, NOW)).toEqual(found);
});

const failing = { since: DEADLINE, message: 'cut', here: false };
const path = { ...notCopied({ remote: 'a', local: '/a' }), copied_at: DEADLINE };
const CUT = { ...path, failure: 'cut' };
const UNDUE = { due: null, failing: null };
const NEW = { at: LATER, by: DEADLINE };
const LATE = 'its --rescue budget is used up, so this is the last try';
/** Copying begins at 12:45. */
const SOON = { deadline: AFTER, early: 15 * 60_000 };
const PARTLY = {
  paths: [
    { ...CUT, copied_at: null },
    { ...path, copied_at: null },
  ],
};
interface More {
  readonly deadline?: string;
  readonly early?: number;
  readonly idle?: string;
}
test.each<[string, string, object | undefined, string | null, More?]>([
  ['nothing', 'another gpucloud process copies its paths', undefined, '0'],
  ['terminate', 'its --rescue budget is used up', { due: BY, failing }, '0'],
  ['rescue', 'its deadline has passed', { due: BY, failing }, null],
  ['nothing', 'its deadline has not passed', { ...UNDUE, paths: [path] }, null, SOON],
  ['rescue', 'its deadline is near', { ...UNDUE, paths: [CUT] }, null, SOON],
  ['terminate', 'its --rescue budget is used up', { due: NEW, failing: null, ...PARTLY }, '0'],
  ['rescue', LATE, { due: IDLE, failing }, null, { idle: 'idle' }],
  ['rescue', 'its deadline has passed', { due: null, failing: null }, null, { idle: 'idle' }],
])('a pass would do: %s, since %s', async (action, why, found, budget, more = {}) => {
  const stored = found && { paths: [], ...found };
  const withRescue = async (_id: string, _rescue: object, work: (held: object) => unknown) =>
    stored && work({ found: stored });
  const journal = { withRescue, instance: async () => ({ kind: 'unknown' }) };
  const pass = { journal, time: { now: () => NOW } } as unknown as Pass;
  const { idle, early = 0, deadline = DEADLINE } = more;
  const rest = { name: 'box', rescue: { ...rescue, budget, early }, status: undefined };
  const rescued = { ...one, ...rest, deadline };
  const looking = { pass, every: 60_000, idle };
  expect(await foreseeRescue(rescued, looking)).toEqual({ action, why });
});

test('a pass leaves an instance whose paths or deadline were changed meanwhile', async () => {
  const steps = { situation: async () => undefined, before: () => 'not yet' as const };
  expect(await driveRescue(steps as unknown as Steps)).toBe('left');
});

test('the budget counts from the deadline if a copy began before it', () => {
  const nothing = { due: null };
  expect(dueOf({ deadline: DEADLINE }, nothing, NOW)).toEqual({ at: LATER, by: DEADLINE });
  expect(dueOf({ deadline: DEADLINE }, nothing, NOW, true)).toEqual({ at: DEADLINE, by: DEADLINE });
  const idle = { due: { at: AFTER, by: 'idle' } };
  expect(dueOf({ deadline: AFTER, if_idle: one.if_idle }, idle, NOW, true)).toEqual({
    at: LATER,
    by: 'idle',
  });
});
