import { expect, test } from 'vitest';
import type { RentedRecord } from '../../src/jobs/record/record.ts';
import { hintOf, needOf, standingOf } from '../../src/jobs/standing.ts';
import { ODD, ofOddName } from './odd-name.ts';

const AT = '2026-01-15T12:00:00.000Z';
const RECORD = {
  ...{ id: '3f0c5d9e-1111-4222-8333-444455556666', name: 'box', on: false, here: false },
  ...{ command_started_at: AT, ending_at: null, ended_at: null, lost_at: null, kept: null },
  ...{ exit_code: null, setup_exit_code: null, sign_in_refused: null, uncopied: null },
  fetch: [{ remote: 'out', local: '/out', fetched_at: null }],
} as unknown as RentedRecord;
const MISSING = { uncopied: { why: 'reslts.txt does not exist.', isMissing: true } };
const NO_SPACE = { uncopied: { why: 'no space', isMissing: false } };
const ENDED = { ended_at: AT, ending_at: AT };
const REFUSED = { sign_in_refused: 'no key' };
const RESULTS = { exit_code: 0, kept: 'results' } as const;

/** Each row is what differs from a job whose command runs, and the status of its instance. */
test.each<[string, string, Partial<RentedRecord>, status?: string]>([
  ['open', 'a job that runs', {}],
  ['open', 'a job that has not started', { command_started_at: null }],
  ['results', 'a job that has exited', { exit_code: 1 }],
  ['results', 'one whose results did not fit', { exit_code: 0, ...NO_SPACE }],
  ['results', 'one that was kept for them', { kept: 'results' }],
  ['missing', 'one with a wrong path', { exit_code: 0, ...MISSING }],
  ['missing', 'one that was kept for it', { ...RESULTS, ...MISSING }],
  ['lost', 'one without an exit code', { lost_at: AT }],
  ['refused', 'one that reap cannot reach', REFUSED],
  ['refused', 'one with results', { ...RESULTS, ...REFUSED }],
  ['stopped', 'one whose instance is stopped', REFUSED, 'STOPPED'],
  ['stopped', 'one whose instance is stopped with results', { ...RESULTS, ...MISSING }, 'STOPPED'],
  ['kept', 'one that was kept for a person', { exit_code: 1, kept: 'command' }, 'STOPPED'],
  ['incomplete', 'an end before all was copied', { ...ENDED, exit_code: 0, ...MISSING }],
  ['incomplete', 'an end on a full disk', { ...ENDED, exit_code: 1, ...NO_SPACE }],
  ['incomplete', 'an end elsewhere after the exit', { ended_at: AT, exit_code: 0 }],
  ['incomplete', 'an end before the exit code was read', ENDED],
  ['ended', 'an end of a failure that wrote nothing', { ...ENDED, exit_code: 1, ...MISSING }],
  ['ended', 'an end elsewhere before the exit', { ended_at: AT }],
  ['ended', 'an end before the start', { ...ENDED, command_started_at: null }],
  ['ended', 'an end after a failed setup', { ...ENDED, exit_code: 3, setup_exit_code: 3 }],
  ['ended', 'an end with all results', { ...ENDED, exit_code: 0, fetch: [] }],
])('%s: %s', (word, _what, fields, status) => {
  expect(standingOf({ ...RECORD, ...fields }, status)).toBe(word);
});

test('says what a job needs, and what ends its instance', () => {
  const record = { ...RECORD, ...REFUSED, ...MISSING, isFollowed: false };
  const words = ['open', 'stopped', 'refused', 'missing', 'results', 'lost', 'kept'] as const;
  const lineOf = (job: typeof record, word: (typeof words)[number]) => {
    const { problem, ends } = needOf(job, word);
    const { code, what, to, next = [] } = problem ?? {};
    const needs = problem && ` ${code}: ${what}. To ${to}: ${next.join(' ')};`;
    const paths = ends.map(({ words: line, purpose }) => `${line.join(' ')} (${purpose})`);
    return `${word}:${needs ?? ''} ends: ${paths.join(', ')}`;
  };
  for (const word of words)
    expect(lineOf({ ...record, name: ODD }, word)).toBe(
      ofOddName(lineOf(record, word), 'box', record.id),
    );
  expect(words.map((word) => lineOf(record, word))).toMatchInlineSnapshot(`
    [
      "open: ends: jobs stop box (stop paying)",
      "stopped: job_unfollowed: box is STOPPED, and still has the results of its job. To reach the results (this bills): instances start box --wait=ssh; ends: instances start box --wait=ssh (reach the results), instances terminate box (give the results up)",
      "refused: job_sign_in: "instances reap" can't finish the job of box (no key). To finish it: jobs attach box; ends: jobs stop box (stop paying)",
      "missing: job_results: box: reslts.txt does not exist. To copy another path: jobs attach box --fetch PATH; ends: jobs stop box --no-fetch (give the results up)",
      "results: job_results: box still has the results of its job. To copy the results and terminate box: jobs attach box; ends: jobs stop box (stop paying)",
      "lost: job_lost: The command on box disappeared without an exit code. To copy its results and terminate box: jobs stop box; ends: jobs stop box (stop paying)",
      "kept: ends: ",
    ]
  `);
  const hints = (['open', 'missing', 'kept'] as const).map((word) => hintOf(needOf(record, word)));
  expect(hints.map((hint) => hint.replaceAll('\ufdd0', ''))).toEqual([
    'stop paying: gpucloud jobs stop box',
    'copy another path: gpucloud jobs attach box --fetch PATH; give the results up: gpucloud jobs stop box --no-fetch',
    '',
  ]);
  expect(lineOf({ ...record, isFollowed: true, on: true }, 'missing')).toMatchInlineSnapshot(
    `"missing: job_results: box: reslts.txt does not exist. To copy another path: instances scp -r box:gpucloud-run/work/PATH .; ends: "`,
  );
  expect(
    (['refused', 'results'] as const).map((word) => lineOf({ ...record, isFollowed: true }, word)),
  ).toMatchInlineSnapshot(`
    [
      "refused: ends: jobs stop box (stop paying)",
      "results: job_results: box still has the results of its job. To copy the results and terminate box: jobs stop box; ends: jobs stop box (stop paying)",
    ]
  `);
  expect(
    words.slice(1).map((word) => lineOf({ ...record, fetch: [] }, word)),
  ).toMatchInlineSnapshot(`
    [
      "stopped: job_unfollowed: box is STOPPED, and still has the output of its job. To reach the output (this bills): instances start box --wait=ssh; ends: instances start box --wait=ssh (reach the output), instances terminate box (give the output up)",
      "refused: job_sign_in: "instances reap" can't finish the job of box (no key). To finish it: jobs attach box; ends: jobs stop box (stop paying)",
      "missing: job_results: box: reslts.txt does not exist. To copy another path: jobs attach box --fetch PATH; ends: jobs stop box --no-fetch (give the results up)",
      "results: job_results: box still has the output of its job. To copy the output and terminate box: jobs attach box; ends: jobs stop box (stop paying)",
      "lost: job_lost: The command on box disappeared without an exit code. To copy its output and terminate box: jobs stop box; ends: jobs stop box (stop paying)",
      "kept: ends: ",
    ]
  `);
  expect(lineOf({ ...record, on: true }, 'results')).toMatchInlineSnapshot(
    `"results: job_results: box still has the results of its job. To copy the results: jobs attach box; ends: "`,
  );
});
