import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import type { JobPlan } from '../../src/run-job/job.ts';
import { keptOutput } from '../../src/run-job/kept.ts';
import { newRecord } from '../../src/run-job/new-record.ts';
import { filesText, sizeText } from '../../src/run-job/phases.ts';
import {
  type JobRecord,
  readEnded,
  readJobs,
  removeOldJobs,
  removeOutput,
  writeJob,
} from '../../src/run-job/record/record.ts';

const START = Date.UTC(2026, 0, 15);
const idOf = (at: number) => `3f0c5d9e-1111-4222-8333-${String(at).padStart(12, '0')}`;

let state: string;
let context: Context;
let known: (id: string) => boolean;
const warnings: string[] = [];
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'gpucloud-record-'));
  await mkdir(join(state, 'jobs'));
  known = () => true;
  warnings.length = 0;
  context = {
    folders: async () => ({ state }),
    journal: async () => ({
      instance: async (id: string) => ({ kind: known(id) ? 'known' : 'none' }),
    }),
    err: { warn: (_code: string, text: string) => warnings.push(text) },
  } as unknown as Context;
});
afterEach(() => rm(state, { recursive: true }));

/** Builds the record of a job started that many minutes after the first. */
function job(at: number, change: Partial<JobRecord> = {}): JobRecord {
  const plan = {
    command: ['true'],
    toStart: { words: ['true'], variables: [{ key: 'TOKEN', value: 'secret' }] },
    exclude: [],
    fetch: [{ remote: 'out', local: '/out/' }],
    report_file: null,
    how: { identity: undefined, user: 'root', options: [], words: ['-4'] },
  } as unknown as JobPlan;
  const started_at = new Date(START + at * 60_000).toISOString();
  const start = { id: idOf(at), name: `job-${at}`, on: false, sync: null, grace: 0, started_at };
  return { ...newRecord(plan, start), ...change };
}
const names = async () => (await readJobs(context)).map(({ name }) => name);

test('stores a job without the values of its variables', async () => {
  await writeJob(job(1), context);
  const [stored] = await readJobs(context);
  expect(stored).toEqual(job(1));
  expect(stored).toMatchObject({
    variables: ['TOKEN'],
    fetch: [{ remote: 'out', local: '/out/' }],
    fetch_every: null,
    keep_on_failure: null,
    identity: null,
    user: 'root',
    ssh_words: ['-4'],
  });
});

test("lists only the account's jobs, newest first", async () => {
  for (const at of [2, 1, 3]) await writeJob(job(at), context);
  expect(await names()).toEqual(['job-3', 'job-2', 'job-1']);
  known = (id) => id !== idOf(2);
  expect(await names()).toEqual(['job-3', 'job-1']);
  await rm(join(state, 'jobs'), { recursive: true });
  expect(await names()).toEqual([]);
  await writeFile(join(state, 'jobs'), '');
  await expect(names()).rejects.toMatchObject({ failure: 'storage' });
});

test.each([
  ['a text instead of a number', { grace: 'x' }],
  ['no command', { command: [] }],
  ['a negative position', { printed: { out: -1, err: 0 } }],
  ['another version', { version: 2 }],
  ['an unknown reason to keep the instance', { kept: 'why' }],
])('warns about a record with %s, and lists the others', async (_what, change) => {
  await writeJob(job(1), context);
  await writeJob({ ...job(2), ...(change as object) } as JobRecord, context);
  expect(await names()).toEqual(['job-1']);
  expect(warnings).toEqual([expect.stringContaining(`Could not read the job: ${state}`)]);
});

test('finds the recorded end of exactly the same job', async () => {
  const ended_at = new Date(START).toISOString();
  await writeJob(job(1), context);
  expect(await readEnded(job(1), context)).toBeUndefined();
  await writeJob(job(1, { ended_at }), context);
  expect(await readEnded(job(1), context)).toMatchObject({ name: 'job-1', ended_at });
  expect(await readEnded({ ...job(1), started_at: ended_at }, context)).toBeUndefined();
  expect(await readEnded(job(2), context)).toBeUndefined();
});

test('keeps the last 100 ended jobs and every open job', async () => {
  for (let at = 0; at < 103; at += 1) {
    const ended_at = at === 1 ? null : new Date(START).toISOString();
    await writeFile(join(state, 'jobs', `${idOf(at)}.json`), JSON.stringify(job(at, { ended_at })));
    await writeFile(join(state, 'jobs', `${idOf(at)}.out`), '');
  }
  await removeOldJobs(context);
  const left = (await names()).length;
  expect({ left, files: (await readdir(join(state, 'jobs'))).length }).toEqual({
    left: 101,
    files: 202,
  });
  for (const at of [0, 2]) expect(await names()).not.toContain(`job-${at}`);
  expect(await names()).toContain('job-1');
  await removeOutput(idOf(1), context);
  await removeOutput(idOf(1), context);
  expect(await readdir(join(state, 'jobs'))).toHaveLength(201);
});

test('reads the last lines of kept output across 64 KiB blocks', async () => {
  const blocks = 64 * 1024;
  const texts = [
    '',
    'one',
    'one\n',
    '\n\n',
    'a\nb\nc',
    'a\nb\nc\n',
    `${'x'.repeat(blocks - 1)}\ny\n`,
    `${'x'.repeat(blocks)}\ny`,
    `x\n${'y'.repeat(2 * blocks)}\n`,
    'line\n'.repeat(40_000),
  ];
  for (const text of texts) {
    await writeFile(join(state, 'jobs', `${idOf(1)}.out`), text);
    const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    for (const count of [1, 2, 3, 30_000]) {
      let read = '';
      for await (const chunk of keptOutput(job(1), 'out', { lines: count }, context)) read += chunk;
      expect(read === lines.slice(-count).join(''), `${count} of ${text.length}`).toBe(true);
    }
  }
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1.0 KB'],
  [9_940, '9.9 KB'],
  [10_000, '10 KB'],
  [83_400_000, '83 MB'],
  [2_500_000_000, '2.5 GB'],
  [4e12, '4.0 TB'],
  [4e15, '4000 TB'],
])('prints %i bytes as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
  expect(filesText({ count: 1, bytes })).toBe(`1 file (${text})`);
  expect(filesText({ count: 1_204, bytes })).toBe(`1,204 files (${text})`);
});
