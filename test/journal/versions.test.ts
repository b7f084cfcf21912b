import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Instance } from '../../src/api/index.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { manualClock } from '../support/clock.ts';
import { journalIn } from '../support/journal.ts';

const LIVING = 'aaaaaaaa-0000-4000-8000-000000000001';
const TRACKED = 'bbbbbbbb-0000-4000-8000-000000000002';
const ENDED = 'cccccccc-0000-4000-8000-000000000003';

let state: string;
let warnings: string[];
let clock: ReturnType<typeof manualClock>;
beforeEach(async () => {
  state = await temporaryFolder();
  await cp(join(import.meta.dirname, 'version-1'), state, { recursive: true });
  warnings = [];
  clock = manualClock();
});

const journal = () => journalIn(state, { clock, warn: (text) => warnings.push(text) });
const path = (file: string) => join(state, 'journal', '@sandbox', 'user-1', file);
const stored = async (file: string) => JSON.parse(await readFile(path(file), 'utf8'));

describe('a state folder of version 1', () => {
  test('reads every record, with the prices and facts as the service names them', async () => {
    const { instances, unknown } = await journal().read({ archived: true });
    expect(instances).toMatchObject([
      {
        id: LIVING,
        name: 'trainer',
        origin: 'create',
        deadline: '2026-01-15T16:00:00.000Z',
        idle: { rule: { after: 2_700_000 } },
        last: {
          status: 'ACTIVE',
          price_per_hour_snapshot: '89.90',
          offer: { id: '40904090-0000-4000-8000-000000000001', name: 'RTX 4090' },
          ip_address: '192.0.2.7',
          ssh_port: 22,
          paid_until: '2026-01-15T13:00:01.000Z',
          created_at: '2026-01-15T12:00:01.000Z',
          seen_at: '2026-01-15T12:05:00.000Z',
        },
      },
      { id: TRACKED, origin: 'track', last: undefined },
      {
        id: ENDED,
        archived: true,
        last: {
          status: 'TERMINATED',
          price_per_hour_snapshot: '9',
          offer: null,
          terminated_at: '2026-01-14T15:00:00.000Z',
        },
      },
    ]);
    expect(unknown).toMatchObject([{ name: 'lost', deadline: '2026-01-15T18:00:00.000Z' }]);
    expect(warnings).toEqual([]);
  });

  test('rewrites an instance at its next change, and keeps what this computer knows', async () => {
    await journal().observeStatus(LIVING, 'STOPPED');
    const record = await stored(`instances/${LIVING}.json`);
    expect(record).toMatchObject({
      origin: 'create',
      request: '11111111-2222-4333-8444-555555555555',
      last: { version: 2, status: 'STOPPED', price_per_hour_snapshot: '89.90', ssh_port: 22 },
    });
    expect(record.last).not.toHaveProperty('price_per_hour');
    expect(record.last).not.toHaveProperty('facts');
  });

  test('keeps the time when an instance was first read as TERMINATED', async () => {
    await journal().observe({ id: ENDED, name: 'old', status: 'TERMINATED' });
    const { last } = await stored(`archive/${ENDED}.json`);
    expect(last).toMatchObject({ version: 2, seen_at: '2026-01-14T15:00:02.000Z' });
  });
});

describe('a stored instance', () => {
  const seen: Instance = {
    id: TRACKED,
    name: 'box',
    status: 'ACTIVE',
    price_per_hour_snapshot: '7',
    metadata: { token: 'hunter2' },
    docker_config: { env: [{ key: 'A', value: 'hunter2' }] },
    connection_info: { type: 'jupyter', secrets: { password: 'hunter2' } },
    external_id: 'svc_sk_test_canary',
    newer_field: ['kept'],
  };

  test("is the service's response without secrets, and readable by version 1", async () => {
    await journal().observe(seen);
    const text = await readFile(path(`instances/${TRACKED}.json`), 'utf8');
    expect(text).not.toMatch(/hunter2|svc_sk_/);
    const { version, last } = JSON.parse(text);
    expect({ version, id: last.id, name: last.name, status: last.status }).toEqual({
      version: 1,
      id: TRACKED,
      name: 'box',
      status: 'ACTIVE',
    });
    expect(last).toMatchObject({ version: 2, newer_field: ['kept'] });
    expect(last).not.toHaveProperty('docker_config');
    expect(last).not.toHaveProperty('connection_info');
  });

  test('is reduced to the fields that matter for money if it is too large', async () => {
    const extras = Array.from({ length: 50_000 }, (_, at) => [`extra_${at}`, 'x'.repeat(50)]);
    const large = { ...seen, ...Object.fromEntries(extras), name: 'n'.repeat(5_000) };
    await journal().observe(large);
    expect((await readFile(path(`instances/${TRACKED}.json`))).length).toBeLessThan(10_000);
    expect(await journal().instance(TRACKED)).toMatchObject({
      instance: { last: { status: 'ACTIVE', price_per_hour_snapshot: '7' } },
    });
  });

  test('keeps its price if a response has none', async () => {
    await journal().observe(seen);
    await journal().observe({ id: TRACKED, status: 'STOPPED', price_per_hour_snapshot: null });
    expect(await journal().instance(TRACKED)).toMatchObject({
      instance: { name: 'box', last: { status: 'STOPPED', price_per_hour_snapshot: '7' } },
    });
  });
});

describe('a record of a newer gpucloud', () => {
  type Use = (own: ReturnType<typeof journal>) => Promise<unknown>;
  const rental = { operation: 'create', offer_id: null, timeout_ms: 60_000 } as const;
  const read: Use = (own) => own.read();
  const uses: readonly (readonly [string, string, Use])[] = [
    ['lists', `instances/${LIVING}.json`, read],
    ['looks up', `instances/${LIVING}.json`, (own) => own.instance(LIVING)],
    ['observes', `instances/${LIVING}.json`, (own) => own.observeStatus(LIVING, 'TERMINATED')],
    ['tracks', `instances/${LIVING}.json`, (own) => own.add(LIVING, 'track')],
    ['untracks', `instances/${LIVING}.json`, (own) => own.untrack(LIVING)],
    ['lists', 'requests/lost.json', read],
    ['requests', 'requests/lost.json', (own) => own.open({ ...rental, name: 'lost' }, new Set())],
    ['lists', `deadlines/${LIVING}.json`, read],
    [
      'expires',
      `deadlines/${LIVING}.json`,
      (own) => own.withDeadline(LIVING, (held) => held.set('trainer', {})),
    ],
    [
      'judges',
      `idle/${LIVING}.json`,
      (own) => own.withIdle(LIVING, { after: 2_700_000, uid: 'rule-1' }, async () => undefined),
    ],
  ];

  test.each(uses)('fails with its path, and stays as it is: %s %s', async (_what, file, use) => {
    const text = JSON.stringify({ ...(await stored(file).catch(() => ({}))), version: 2 });
    await mkdir(dirname(path(file)), { recursive: true });
    await writeFile(path(file), text);
    await expect(use(journal())).rejects.toMatchObject({
      failure: 'storage',
      exitCode: 9,
      message: `${path(file)} was written by a newer gpucloud.`,
    });
    expect(await readFile(path(file), 'utf8')).toBe(text);
  });

  test('fails for a newer form of the last response alone', async () => {
    const file = `instances/${LIVING}.json`;
    const record = await stored(file);
    await writeFile(
      path(file),
      JSON.stringify({ ...record, last: { ...record.last, version: 3 } }),
    );
    await expect(journal().read()).rejects.toMatchObject({ exitCode: 9 });
  });
});
