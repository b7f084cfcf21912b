import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { termination } from '../../src/money/termination.ts';
import { gpucloud } from '../../src/output/shell-line.ts';
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

const END = `, and the API can't delete it: ${gpucloud('drives', 'list')}`;
const targets = IDS.map((id) => ({ id, name: `box-${id}` }));

test('asks about instances of which some are unreadable, and names their drives', async () => {
  const { notes, context } = contextOf({ 'i-1': { name: 'data' }, 'i-2': { id: 'd-2' } });
  expect([await termination(context).question(targets), ...notes]).toEqual([
    'Terminate these 3 instances and their disks, but keep drives data, d-2?',
    ...['i-1: ACTIVE, price unknown.', 'i-2: ACTIVE, price unknown.'],
    'Could not read box-i-3 (i-3).',
  ]);
  const one = contextOf({ 'i-1': { name: 'data', id: 'd-1' }, 'i-2': null, 'i-3': {} });
  expect(await termination(one.context).question(targets)).toBe(
    'Terminate these 3 instances and their disks, but keep drive data?',
  );
});

test.each<[string, readonly object[] | undefined, string[]]>([
  [
    'that can be read',
    [
      { id: 'd-1', name: 'now', price_per_hour: '1.5' },
      { id: 'd-2', name: null, status: 'DELETED' },
    ],
    [
      `i-1: Drive now is kept and bills 1.50 ₽ per hour${END}`,
      `i-3: Its drive is kept and keeps billing${END}`,
    ],
  ],
  [
    "that can't be read",
    undefined,
    ['i-1: Drive old', 'i-2: Drive d-2', 'i-3: Its drive'].map(
      (text) => `${text} is kept and keeps billing${END}`,
    ),
  ],
])('says what a termination leaves, with drives %s', async (_what, listed, expected) => {
  const drives = { 'i-1': { name: 'old', id: 'd-1' }, 'i-2': { id: 'd-2' }, 'i-3': {} };
  const { context } = contextOf(drives, listed);
  const { findDrives, onAccepted, refunds } = termination(context);
  await findDrives(targets);
  for (const id of IDS) onAccepted(id);
  const changed = IDS.map((id) => ({ id, status: 'TERMINATING' }));
  const found = await refunds(changed as never, false);
  expect([...found].map(([id, text]) => `${id}: ${text}`)).toEqual(expected);
});
