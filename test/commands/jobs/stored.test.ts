import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JobRecord } from '../../../src/jobs/record/record.ts';
import type { JobReport } from '../../../src/json-results/jobs.ts';
import { jobRecord } from '../../support/job-record.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { no } from '../../support/service.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => no(500, 'unexpected') });
  await mkdir(join(world.home, 'state', 'jobs'), { recursive: true });
});
afterEach(() => world.close());

const idOf = (order: number) => `3f0c5d9e-1111-4222-8333-44445555${String(order).padStart(4, '0')}`;
const at = (second: number) => new Date(Date.UTC(2026, 0, 15, 9) + second * 1000).toISOString();

/** Stores a finished job, with its output. */
async function store(order: number, name: string, more: Partial<JobRecord>, errors = '') {
  const id = idOf(order);
  const job = jobRecord({ id, name, service: world.service.url }, more);
  const path = join(world.home, 'state', 'jobs', id);
  await writeFile(`${path}.json`, JSON.stringify(job));
  await writeFile(`${path}.err.0`, errors);
}

const ENDED = {
  command: ['python', 'train.py', '--name', 'a b'],
  sync: '/in',
  fetch: [{ remote: 'out', local: '/out', fetched_at: at(206) }],
  setup: { text: 'pip install x', mark: 'm', again: false },
  took: { setup: 40, command: 125 },
  started_at: at(0),
  requested_at: at(2),
  signed_in_at: at(14),
  copied_at: at(18),
  command_started_at: at(19),
  shown_at: at(20),
  exited_at: at(204),
  output_kept_at: at(205),
  ending_at: at(207),
  ended_at: at(260),
  gpu: { busy_percent: 12, peak_memory_mib: 3174, memory_total_mib: 24_576 },
} as const;

const report: Omit<JobReport, 'instance'> = {
  command_exit_code: 3,
  stage: 'done',
  terminated: true,
  output_complete: true,
  fetched: ['/out', '/earlier'],
  seconds: 259,
  cost: '0.35',
  cost_at_most: '89.90',
  phases: { renting: 12, copying: 4, setup: 40, running: 125, fetching: 2 },
  gpu: ENDED.gpu,
  exit_code: 3,
  error: 'What the report says.',
};

test('shows all that is stored of a finished job', async () => {
  const instance = { id: idOf(1), name: 'train' };
  const end = { exit_code: 3, reason: 'Another reason.', report: { ...report, instance } };
  await store(1, 'train', { ...ENDED, ...end });
  const failed = { took: { setup: 40, command: 0 }, setup_exit_code: 4, exit_code: 125 };
  await store(2, 'broken', { ...ENDED, ...failed, reason: 'The setup failed.' }, 'one\ntwo\n');
  await store(3, 'over', { ...ENDED, exited_at: null, started_at: at(60) });
  const lost = {
    lost_at: at(70),
    on: true,
    fetch: [{ remote: 'a', local: '/a', fetched_at: null }],
  };
  await store(4, 'lost', { ...ENDED, ...lost, started_at: at(61), reason: 'It is gone.' });
  for (const name of ['train', 'broken', 'over', 'lost']) await world.cli(['jobs', 'get', name]);
  await world.cli(['jobs', 'get', 'train', '--json']);
  await world.cli(['jobs', 'list']);
  await world.cli(['jobs', 'list', '-o', 'csv']);
  const { code } = await world.cli(['jobs', 'list', '--json']);
  expect(code).toBe(0);
});

test('warns from 100 finished jobs on that the list may lack older ones', async () => {
  for (let order = 1; order < 100; order += 1) await store(order, `job-${order}`, ENDED);
  await store(101, 'open', { started_at: at(300) });
  await world.cli(['jobs', 'list', '--query', '[0].name']);
  await store(100, 'job-100', ENDED);
  await world.cli(['jobs', 'list', '--query', '[0].name']);
});

test("shows a job's age by the sandbox's clock in a terminal, and else its times", async () => {
  const env = {
    ...{ GPUCLOUD_PROFILE: 'sandbox', GPUCLOUD_API_KEY: undefined, GPUCLOUD_BASE_URL: undefined },
    NO_COLOR: '1',
  };
  const { stdout } = await world.cli(['sandbox', 'advance', '20h', '--json'], { env });
  const { account } = JSON.parse(stdout);
  await store(1, 'train', { ...ENDED, ...{ service: 'sandbox', account, ended_at: at(60) } });
  await store(2, 'other', { ...ENDED, ...{ service: 'sandbox', account, started_at: at(5) } });
  for (const terminal of [true, false]) {
    await world.cli(['jobs', 'list', '--columns', 'name,started_at,ended_at'], { env, terminal });
    await world.cli(['jobs', 'get', 'train'], { env, terminal });
  }
});

test('empties a report before it finds the job', async () => {
  const file = join(world.home, 'report.json');
  await writeFile(file, 'old');
  await world.cli(['jobs', 'attach', 'none', '--report', file]);
  expect(await readFile(file, 'utf8')).toBe('');
});
