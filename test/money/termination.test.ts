import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { termination } from '../../src/money/termination.ts';
import { manualClock } from '../support/clock.ts';

const FAULT = new CliError('refused', 'No.');
const IDS = ['i-1', 'i-2', 'i-3'];

/** A context whose instances have these drives; those without an entry can't be read. */
function contextOf(drives: Readonly<Record<string, unknown>>, listed?: readonly object[]) {
  const notes: string[] = [];
  const context = {
    ...{ out: { format: 'table' }, serviceClock: manualClock(), flags: {}, signal: undefined },
    err: { note: (text: string) => void notes.push(text) },
    prompts: async () => ({}),
    journal: async () => ({
      read: async () => ({
        instances: IDS.map((id) => ({ id, last: { storage_drive: drives[id] } })),
      }),
    }),
    api: async () => ({
      drives: { list: async () => listed ?? Promise.reject(FAULT) },
      instances: {
        get: async (id: string) => {
          if (!(id in drives)) throw FAULT;
          return { id, name: null, status: 'ACTIVE', storage_drive: drives[id] };
        },
      },
    }),
  };
  return { notes, context: context as unknown as Context };
}

const targets = IDS.map((id) => ({ id, name: `box-${id}` }));

test.each([
  ['unreadable', { 'i-1': { name: 'data' }, 'i-2': { id: 'd-2' } }],
  ['without a drive', { 'i-1': { name: 'data', id: 'd-1' }, 'i-2': null, 'i-3': {} }],
])('asks about instances of which some are %s, and names the drives', async (_what, drives) => {
  const { notes, context } = contextOf(drives);
  expect([await termination(context).question(targets), ...notes]).toMatchSnapshot();
});

test('asks about one instance without a drive, and about instances of a list', async () => {
  const { question } = termination(contextOf({ 'i-2': null }).context);
  expect(await question(targets.slice(1, 2))).toBe('Terminate box-i-2 (i-2) and its disk?');
  expect(await question([])).toBe('Terminate the instances listed on stdin?');
});

const NOW = { id: 'd-1', name: 'now', price_per_hour: '1.5' };
test.each<[string, (readonly object[])?]>([
  ['can', [NOW, { id: 'd-2', name: null, status: 'DELETED' }]],
  ["can't"],
])('says what a termination leaves if the drives %s be read', async (_what, listed) => {
  const drives = { 'i-1': { name: 'old', id: 'd-1' }, 'i-2': { id: 'd-2' }, 'i-3': {} };
  const { findDrives, onAccepted, refunds } = termination(contextOf(drives, listed).context);
  await findDrives(targets);
  for (const id of IDS) onAccepted(id);
  const changed = IDS.map((id) => ({ id, status: 'TERMINATING' }));
  const left = await refunds(changed as never, false);
  expect(left).toMatchSnapshot();
  // The refund of an instance is logged once it is terminated.
  expect(await refunds(changed as never, true)).toEqual(left);
});
