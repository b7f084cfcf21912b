import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readFile as readCatalog } from '../../src/catalog/file.ts';
import { openConfig } from '../../src/config/store.ts';
import type { Context } from '../../src/context.ts';
import { readJob } from '../../src/jobs/record/record.ts';
import { parseRecord } from '../../src/journal/record.ts';
import { openResumeFile } from '../../src/watch/resume.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { jobRecord } from '../support/job-record.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const TIME = '2026-01-15T12:00:00.000Z';
const NAMED = { version: 1, id: ID, name: 'trainer' };
const session = { id: 's', call: 1, price: '9.5', hours: 2 };
const rescue = { uid: 'r', paths: [{ remote: 'out', local: '/out' }], budget: '9', early: 5 };

/** A whole record of each kind in the journal. */
const RECORDS = {
  request: {
    ...{ version: 1, uid: 'u-1', operation: 'reorder', name: 'trainer', asked_at: TIME, pid: 1 },
    ...{ timeout_ms: 60_000, offer_id: 'o', source_id: ID, max_price: '9.5', deadline: TIME },
    ...{ if_idle: 600_000, rescue, body: { instance_name: 'trainer' }, session },
  },
  instance: {
    ...{ ...NAMED, origin: 'track', known_at: TIME, request: 'u-1', untracked_at: TIME, session },
    was_stopped: true,
    last: { version: 2, id: ID, name: 'trainer', status: 'ACTIVE', seen_at: TIME },
  },
  deadline: { ...NAMED, deadline: TIME, if_idle: { after: 600_000, uid: 'i' }, rescue },
  rescue: {
    ...{ version: 1, id: ID, rescue: 'r', due: { at: TIME, by: TIME } },
    paths: [
      {
        ...{ remote: 'out', local: '/out', copied_at: TIME, files: 1, bytes: 2, changing: ['a'] },
        ...{ failure: 'refused', unplaced: { staging: '/s', isWhole: true } },
      },
    ],
    failing: { since: TIME, message: 'refused', here: true },
  },
  idle: {
    ...{ version: 1, id: ID, rule: 'i', begun: false, since: { at: 1, uptime: 2 } },
    last: { at: 1, uptime: 2, booted: 3, boot: 'b', cpu: 4, traffic: 5 },
  },
  heartbeat: {
    ...{ version: 1, service: 'sandbox', account: 'user-1', every: 60_000, at: TIME, ahead: 5 },
    ...{ entry: 'gpucloud-reap', stored: true, program: '0.1.0', features: ['idle'] },
    failure: { at: TIME, message: 'refused' },
  },
  event: {
    ...{ ...NAMED, key: 'k', event: 'job_ended', message: 'Done.', exit_code: 0, at: TIME },
    sent_at: TIME,
  },
  key: { version: 1, account: 'user-1' },
};

const JOB = jobRecord(
  { id: ID, name: 'trainer', service: 'sandbox' },
  {
    ...{ setup: { text: 'make', mark: 'm', again: false }, variables: ['A'], exclude: ['*.pyc'] },
    fetch: [
      {
        ...{ remote: 'out', local: '/out', fetched_at: TIME },
        unplaced: { staging: '/s', isWhole: true },
      },
    ],
    ...{ ssh_options: ['Port=1'], ssh_words: ['-4'], took: { setup: 1, command: 2 } },
    ...{ gpu: { busy_percent: 1, peak_memory_mib: 2, memory_total_mib: 3 }, kept: 'results' },
    sign_in_refused: 'why',
    uncopied: { why: 'why', isMissing: true },
  },
);

const PROFILE = {
  ...{ base_url: 'https://api.example', api_key: 'k', keyring: 'k', key_command: ['pass'] },
  account: { id: 'user-1', email: 'a@example.com', name: 'A' },
  guards: { max_instances: 3, max_burn: '9.5', enforce_max_burn: true, require_deadline: true },
  ...{ defaults: { offer: 'o', image: 'i', ssh_key: 's' }, notify: ['notify-send'] },
};

const CATALOG = {
  version: 1,
  names: [
    {
      ...{ service: 'sandbox', kind: 'offer', id: ID, given_name: 'g', name: 'n', region: 'r' },
      ...{ gpu: 'RTX 4090', gpu_count: 1, vram_gb: 24, cuda_version: '12', price_per_hour: '9' },
      ...{ price_at: TIME, seen_at: TIME, in_stock: true, in_stock_at: TIME },
    },
  ],
};

const FOLLOW = {
  kind: 'gpucloud-follow',
  version: 1,
  instances: { [ID]: { horizon: 5, known: [['e1', 5]] } },
};

/** What replaces a part: nothing, null, another text, or a value of another type. */
const DAMAGES = { missing: undefined, null: null, text: 'x/../y', object: { odd: true } };

function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const own = path.length === 0 ? [] : [path];
  if (typeof value !== 'object' || value === null) return own;
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, part]) => pathsIn(part, [...path, name])),
  ];
}

function damaged(value: unknown, path: readonly string[], damage: unknown): unknown {
  const copy = structuredClone(value);
  let around = copy;
  for (const step of path.slice(0, -1)) around = Reflect.get(Object(around), step);
  Reflect.set(Object(around), path.at(-1) ?? '', damage);
  return copy;
}

/** Returns a line per part of a record, with the damages to it that the reader accepts. */
async function accepted(kind: string, whole: unknown, read: (text: string) => unknown) {
  const lines: string[] = [];
  for (const path of pathsIn(whole)) {
    const names: string[] = [];
    for (const [name, damage] of Object.entries(DAMAGES)) {
      const text = JSON.stringify(damaged(whole, path, damage));
      const isRead = await Promise.resolve(text)
        .then(read)
        .then((found) => found !== undefined)
        .catch(() => false);
      if (isRead) names.push(name);
    }
    lines.push(`${[kind, ...path].join('.')}: ${names.join(', ')}`.trimEnd());
  }
  return lines;
}

test('a stored file is refused if one of its parts is damaged', { timeout: 120_000 }, async () => {
  const state = await temporaryFolder();
  const stored = (name: string, text: string) => {
    const path = join(state, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const context = { folders: async () => ({ state }) } as unknown as Context;
  const readers: Readonly<Record<string, readonly [object, (text: string) => unknown]>> = {
    job: [
      JOB,
      (text) => {
        stored(`jobs/${ID}.json`, text);
        return readJob(ID, context);
      },
    ],
    config: [
      { current: 'work', profiles: { work: PROFILE } },
      (text) => openConfig(dirname(stored('config/config.json', text))).read(),
    ],
    catalog: [CATALOG, (text) => readCatalog(stored('catalog.json', text))],
    follow: [
      FOLLOW,
      async (text) => {
        const { of } = await openResumeFile(stored('follow.json', text));
        return { ...FOLLOW, instances: { [ID]: of(ID) } };
      },
    ],
  };
  const lines: string[] = [];
  for (const [kind, record] of Object.entries(RECORDS)) {
    const read = (text: string) => parseRecord(kind as keyof typeof RECORDS, kind, text);
    expect(read(JSON.stringify(record))).toEqual(record);
    lines.push(...(await accepted(kind, record, read)));
  }
  for (const [kind, [record, read]] of Object.entries(readers)) {
    expect(await read(JSON.stringify(record))).toEqual(record);
    lines.push(...(await accepted(kind, record, read)));
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('stored-files.txt');
});
