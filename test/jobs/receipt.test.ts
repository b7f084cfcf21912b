import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { costOf, phasesOf, receiptText } from '../../src/jobs/end/receipt.ts';
import type { JobRecord } from '../../src/jobs/record/record.ts';
import { lostResults } from '../../src/jobs/verbs/rows.ts';
import { jobRecord } from '../support/job-record.ts';

const at = (second: number) => new Date(Date.UTC(2026, 2, 1) + second * 1000).toISOString();

const record = jobRecord(
  { id: 'a', name: 'train-1', service: '' },
  {
    sync: '/in',
    fetch: [
      { remote: 'a', local: '/a', fetched_at: at(205) },
      { remote: 'b', local: '/b', fetched_at: at(206) },
    ],
    requested_at: at(2),
    signed_in_at: at(14),
    copied_at: at(18),
    command_started_at: at(19),
    exited_at: at(204),
    output_kept_at: at(204),
  },
);
const none = { renting: null, copying: null, setup: null, running: null, fetching: null };
const WHOLE = { renting: 12, copying: 4, setup: null, running: 185, fetching: 2 };
const setup = { text: 'pip install x', mark: 'm', again: false };

test.each([
  ['a whole job', {}, WHOLE],
  [
    'a job that reap finished later',
    { took: { setup: 0, command: 60 } },
    { setup: null, running: 60 },
  ],
  ['a setup', { setup, took: { setup: 40, command: 60 } }, { setup: 40, running: 60 }],
  [
    'a failed setup',
    { setup, setup_exit_code: 1, took: { setup: 40, command: 0 } },
    { setup: 40, running: null },
  ],
  ['a setup whose supervisor was killed', { setup }, { setup: null, running: null }],
  ['a job of --on', { on: true }, { renting: null, copying: 4, running: 185, fetching: 2 }],
  ['a job without --sync', { sync: null }, { copying: null }],
  ['a job without --fetch', { fetch: [] }, { fetching: null }],
  [
    'a result that is missing',
    { fetch: [...record.fetch, { remote: 'c', local: '/c', fetched_at: null }] },
    { running: 185, fetching: null },
  ],
  [
    'results that arrived in another order',
    { fetch: record.fetch.toReversed(), output_kept_at: at(205) },
    { fetching: 2 },
  ],
  ['output that arrived last', { output_kept_at: at(209) }, { fetching: 5 }],
  ['a command that disappeared', { exited_at: null }, { running: null, fetching: null }],
  [
    'a job that never signed in',
    { signed_in_at: null, copied_at: null, command_started_at: null, exited_at: null },
    none,
  ],
  ['a clock that was set back', { exited_at: at(3) }, { running: 0, fetching: 203 }],
] as const)('measures the phases of %s', (_what, change, phases) => {
  expect(phasesOf({ ...record, ...change })).toEqual({ ...WHOLE, ...phases });
});

const member = {
  name: 'train-1',
  terminated: true,
  cost: '0.35',
  cost_at_most: '89.90',
  phases: { renting: 12, copying: 0, setup: null, running: 185, fetching: 2 },
  gpu: null,
} as const;
const second = { ...member, name: 'train-2', cost: '1234.5' };

test.each([
  ['an exact cost', [member], 'It cost 0.35 ₽: 12 s renting, 3 min running, 2 s fetching.'],
  ['an unknown cost', [{ ...member, cost: null, phases: null }], 'It cost at most 89.90 ₽.'],
  [
    'a job of --on',
    [{ ...member, cost: null, cost_at_most: null, phases: { ...none, running: 5 } }],
    'It took 5 s running.',
  ],
  [
    'the use of the cards',
    [{ ...member, gpu: { busy_percent: 12, peak_memory_mib: 3174, memory_total_mib: 24_576 } }],
    'It cost 0.35 ₽: 12 s renting, 3 min running (GPU busy 12 % on average, peak memory 3.1 of 24 GiB), 2 s fetching.',
  ],
  [
    'the use of the cards by a short command',
    [
      {
        ...{ ...member, cost: null, cost_at_most: null, phases: { ...none, running: 0 } },
        gpu: { busy_percent: 12, peak_memory_mib: 3174, memory_total_mib: 24_576 },
      },
    ],
    'It took 0 s running (GPU busy 12 % on average, peak memory 3.1 of 24 GiB).',
  ],
  ['nothing known', [{ ...member, cost: null, cost_at_most: null, phases: none }], undefined],
  ['no instance', [], undefined],
  [
    'several instances',
    [member, second],
    'They cost 1,234.85 ₽: train-1 0.35 ₽, train-2 1,234.50 ₽.',
  ],
  [
    'several instances, one of unknown cost',
    [member, { ...second, cost: null }],
    'They cost at most 90.25 ₽: train-1 0.35 ₽, train-2 at most 89.90 ₽.',
  ],
  [
    'several instances, one without a price',
    [member, { ...second, cost: null, cost_at_most: null }],
    undefined,
  ],
  [
    'eight instances',
    Array.from({ length: 8 }, () => member),
    `They cost 2.80 ₽${', train-1 0.35 ₽'.repeat(8).replace(',', ':')}.`,
  ],
  ['many instances', Array.from({ length: 9 }, () => member), 'They cost 3.15 ₽.'],
] as const)('shows %s', (_what, members, text) => {
  expect(receiptText(members)).toBe(text);
});

test('names the jobs of the last day whose results were not copied', () => {
  const ended = (name: string, second: number) =>
    ({ ...record, name, ended_at: at(second), exit_code: 0, fetch: lost }) as JobRecord;
  const lost = [{ remote: 'a', local: '/a', fetched_at: null }];
  const clock = { now: () => Date.parse(at(86_400)) };
  const jobs = [ended('train-1', 2), ended('train-2', 1), ended('train-3', 0)];
  expect(lostResults(jobs, { clock } as Context)).toEqual({
    ...{ code: 'job_results_lost', resource: 'a', to: 'see why' },
    what: 'The results of train-1 and train-2 were not copied',
    next: ['jobs', 'get', 'train-1'],
  });
});

test('reads no cost of an unknown instance', async () => {
  expect(await costOf(undefined, 'run', {} as Context)).toBeNull();
});
