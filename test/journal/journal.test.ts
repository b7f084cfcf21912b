import { readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { isAny } from '../../src/journal/files.ts';
import type { Journal, JournalSettings, OpenedRequest } from '../../src/journal/index.ts';
import { newInstance, writeInstance } from '../../src/journal/instances.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { manualClock } from '../support/clock.ts';
import { journalIn, RENTAL as request } from '../support/journal.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const OTHER = '3f0c5d9e-1111-4222-8333-444455557777';
const KEY = 'svc_sk_test_canary_0123456789';
const SERVICE = 'https://api.example.com';

let state: string;
let warnings: string[];
let clock: ReturnType<typeof manualClock>;
beforeEach(async () => {
  state = await temporaryFolder();
  warnings = [];
  clock = manualClock();
});

function journal(settings: Partial<JournalSettings> = {}): Journal {
  const scope = { service: SERVICE, account: 'user-1' };
  return journalIn(state, { scope, clock, warn: (text) => warnings.push(text), ...settings });
}

const NOBODY = new Set<string>();
const NOTHING = { instances: [], unknown: [], inFlight: [], unreadable: [] };
const folder = (...names: string[]) =>
  join(state, 'journal', 'api.example.com', 'user-1', ...names);
const unread = (path: string, kind: keyof typeof LOST) =>
  `Could not read the journal file ${path}, so ${LOST[kind]}.`;
/** What is unknown without a file, by its folder. */
const LOST = {
  instances: 'only the ID of its instance is known',
  archive: 'only the ID of its instance is known',
  deadlines: 'the deadline of its instance is unknown',
  requests: 'its request is missing. Check your instances in the web console',
};
const files = () =>
  readdirSync(join(state, 'journal'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .sort();

async function opened(name = 'trainer', own: Journal = journal()): Promise<OpenedRequest> {
  const found = await own.open({ ...request, name }, NOBODY);
  if (found === undefined) throw new Error(`${name} is taken`);
  return found;
}

describe('request records', () => {
  test('stores a whole request, then its instance with all that ends it', async () => {
    const rescue = { uid: 'r', paths: [{ remote: 'out', local: '/out' }], budget: '9', early: 5 };
    const rental = {
      operation: 'reorder' as const,
      ...{ name: 'trainer', offer_id: 'offer-1', timeout_ms: 60_000 },
      ...{ source_id: OTHER, max_price: '9.5', deadline: '2026-01-15T16:00:00.000Z' },
      ...{ if_idle: 600_000, rescue, session: { id: 's', call: 1, price: '9.5', hours: 2 } },
    };
    const own = await journal().open({ ...rental, body: { offer_id: 'offer-2' } }, NOBODY);
    const uid = own?.uid ?? '';
    const path = folder('requests', 'trainer.json');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    for (const name of [join(path, '..'), folder(), join(state, 'journal')]) {
      expect((await stat(name)).mode & 0o777).toBe(0o700);
    }
    const asked_at = '2026-01-15T12:00:00.000Z';
    const body = { offer_id: 'offer-2' };
    const record = { ...rental, version: 1, uid, asked_at, pid: 1, body };
    expect(await readFile(path, 'utf8')).toBe(`${JSON.stringify(record, null, 2)}\n`);
    expect(await journal().read()).toEqual({
      ...NOTHING,
      unknown: [{ ...record, path, folder: folder(), isInFlight: false }],
    });

    clock.advance(1000);
    await own?.made(ID);
    const rule = { after: 600_000, uid };
    const instance = {
      ...{ id: ID, name: 'trainer', origin: 'reorder', last: undefined, asked_at, request: uid },
      ...{ deadline: rental.deadline, idle: { rule, found: undefined } },
      ...{ rescue: { wanted: rescue, found: undefined }, archived: false, untracked: false },
      ...{ wasStopped: false, session: rental.session },
    };
    expect(await journal().read()).toEqual({ ...NOTHING, instances: [instance] });
    const ends = { deadline: rental.deadline, if_idle: rule, rescue };
    expect(await journal().deadlines()).toEqual([
      { id: ID, name: 'trainer', ...ends, status: undefined },
    ]);

    const idle = { begun: true, since: null, last: null };
    await journal().withIdle(ID, rule, ({ write }) => write(idle));
    const progress = { due: null, paths: [], failing: null };
    await journal().withRescue(ID, rescue, ({ write }) => write(progress));
    const another = { ...rescue, uid: 's' };
    expect(await journal().withRescue(ID, another, async ({ found }) => found)).toBeUndefined();
    expect(await journal().instance(ID)).toEqual({
      kind: 'known',
      instance: {
        ...instance,
        idle: { rule, found: { version: 1, id: ID, rule: uid, ...idle } },
        rescue: { wanted: rescue, found: { version: 1, id: ID, rescue: 'r', ...progress } },
      },
    });
    expect(files()).toEqual(
      ['deadlines', 'idle', 'instances'].map((kind) => `api.example.com/user-1/${kind}/${ID}.json`),
    );
    await journal().observeStatus(ID, 'TERMINATED');
    expect(files()).toEqual([`api.example.com/user-1/archive/${ID}.json`]);
    expect(await readdir(folder('archive'))).toEqual([`${ID}.deadline`, `${ID}.json`]);
    expect(await journal().deadlines()).toEqual([]);
  });

  test('stores neither the API key nor a container secret', async () => {
    const env = [
      { key: 'TOKEN', value: 'hunter2' },
      { key: 'EMPTY', value: '' },
    ];
    const docker_config = { image: 'i', env, run_command: 'serve --token sesame' };
    await journal().open({ ...request, body: { docker_config, labels: [`of ${KEY}`] } }, NOBODY);
    const text = await readFile(folder('requests', 'trainer.json'), 'utf8');
    expect(text).not.toMatch(/hunter2|sesame|svc_sk_/);
    expect(JSON.parse(text).body.docker_config).toMatchObject({ image: 'i', env: [{}, env[1]] });
  });

  test('reads a request with 50,000 environment variables', async () => {
    const env = Array.from({ length: 50_000 }, (_, at) => ({ key: `VARIABLE_${at}`, value: 'x' }));
    await journal().open({ ...request, body: { docker_config: { image: 'i', env } } }, NOBODY);
    expect(await journal().requests()).toMatchObject([{ name: 'trainer' }]);
  });

  test('reserves a name in any case for one process', async () => {
    const both = await Promise.all(
      ['trainer', 'TRAINER'].map((name) => journal().open({ ...request, name }, NOBODY)),
    );
    expect(both.filter((one) => one !== undefined)).toHaveLength(1);
    expect(await journal().requests()).toHaveLength(1);
  });

  test("reserves the name of an earlier version's file, which kept the case", async () => {
    const { uid } = await opened('Trainer');
    const older = folder('requests', '%54rainer.json');
    await rename(folder('requests', 'trainer.json'), older);
    expect(await journal().requests()).toMatchObject([{ uid, name: 'Trainer' }]);
    expect(await journal().open(request, NOBODY)).toBeUndefined();
    const second = await journal().open(request, new Set([uid]));
    expect(await journal().requests()).toHaveLength(2);
    await second?.notMade();
    expect(await journal().requests()).toMatchObject([{ uid }]);
    await journal().settle(uid, ID);
    expect(await journal().requests()).toEqual([]);

    const third = await opened('Third');
    await rename(folder('requests', 'third.json'), folder('requests', '%54hird.json'));
    await third.notMade();
    expect(await journal().requests()).toEqual([]);

    await writeFile(older, '{');
    await expect(journal().open(request, NOBODY)).rejects.toMatchObject({ failure: 'storage' });
  });

  test('lists a request as in flight while its process may be waiting, then as UNKNOWN', async () => {
    await opened();
    const alive = journal({ isAlive: (pid) => pid === 1 });
    expect(await alive.read()).toMatchObject({ unknown: [], inFlight: [{ name: 'trainer' }] });
    expect(await journal().read()).toMatchObject({ unknown: [{ name: 'trainer' }], inFlight: [] });
    clock.advance(71_000);
    expect(await alive.read()).toMatchObject({ unknown: [{ name: 'trainer' }], inFlight: [] });
  });

  test.each([
    ['the clock was set back', async () => clock.advance(-86_400_000)],
    ['its process stopped waiting', (own: OpenedRequest) => own.unknown()],
  ])('lists a request as UNKNOWN immediately if %s', async (_what, change) => {
    await change(await opened());
    const alive = journal({ isAlive: () => true });
    expect(await alive.read()).toMatchObject({ unknown: [{ name: 'trainer' }], inFlight: [] });
  });

  test('frees the name with consent, and resolves each request separately', async () => {
    const first = await opened();
    const second = await journal().open(request, new Set([first.uid]));
    expect(second?.uid).not.toBe(first.uid);
    expect(await journal().requests()).toHaveLength(2);
    // The slow first process finds its own file, not the second request's.
    await first.made(ID);
    expect((await journal().requests()).map(({ uid }) => uid)).toEqual([second?.uid]);
    await second?.notMade();
    expect(await journal().requests()).toEqual([]);
  });

  test('keeps the name of a request in flight, even with consent', async () => {
    const first = await opened();
    const alive = journal({ isAlive: () => true });
    expect(await alive.open(request, new Set([first.uid]))).toBeUndefined();
  });

  test('removes a request if its process was killed after writing the instance', async () => {
    const first = await opened();
    const path = folder('requests', 'trainer.json');
    const text = await readFile(path, 'utf8');
    await first.made(ID);
    await writeFile(path, text);
    expect(await journal().requests()).toEqual([]);
    expect(await readdir(folder('requests'))).toEqual([]);
  });

  test('archives an untracked request', async () => {
    const { uid } = await opened();
    await journal().forget(uid);
    expect(await journal().requests()).toEqual([]);
    expect(await readdir(folder('archive'))).toEqual([`trainer~${uid}.request`]);
  });

  test('links a request to its instance when resolved later', async () => {
    const { uid } = await opened();
    await journal().add(ID, 'track', { id: ID, status: 'ACTIVE', name: 'trainer' });
    await journal().settle(uid, ID);
    expect(await journal().read()).toMatchObject({
      instances: [{ id: ID, request: uid, origin: 'create', last: { status: 'ACTIVE' } }],
      unknown: [],
    });
  });
});

test("returns why an ID can't be the new instance's", async () => {
  const [later, fresh] = [8888, 9999].map((end) => ID.replace('6666', `${end}`));
  await journal().add(OTHER, 'track');
  const own = await journal().open({ ...request, operation: 'reorder', source_id: ID }, NOBODY);
  clock.advance(1);
  await (await opened('second')).made(later ?? '');
  await journal().observe({ id: `${fresh}`, status: 'CREATING' });
  const older = 'is the ID of an instance known before the request';
  const another = 'belongs to an instance with another name';
  const doubts = (
    [
      [OTHER, 'trainer', older],
      [ID, 'trainer', 'is the ID of the terminated instance'],
      [later, undefined, older],
      [fresh, 'x'.repeat(70), `${another}, ${'x'.repeat(60)}`],
      [fresh, 'TRAINER', undefined],
      [fresh, undefined, undefined],
    ] as const
  ).map(async ([id, name, why]) => [await own?.doubt(`${id}`, name), why]);
  for (const [found, why] of await Promise.all(doubts)) expect(found).toBe(why);
  await own?.made(`${fresh}`);
  expect(await own?.doubt(`${fresh}`, undefined)).toBeUndefined();
});

describe('a known instance', () => {
  test("keeps a known instance's last state, and archives it once TERMINATED", async () => {
    const own = journal();
    expect(
      await own.add(ID, 'track', { id: ID, status: 'ACTIVE', price_per_hour_snapshot: '9' }),
    ).toBe(true);
    await own.observeStatus(ID, 'TERMINATED');
    expect((await own.read()).instances).toEqual([]);
    expect((await own.read({ archived: true })).instances).toMatchObject([
      { id: ID, archived: true, last: { status: 'TERMINATED', price_per_hour_snapshot: '9' } },
    ]);
    expect(await own.instance(ID)).toMatchObject({ instance: { archived: true } });
  });

  test('names the files of an instance after any ID', async () => {
    const id = 'json-A';
    await journal().add(id, 'track');
    await journal().withDeadline(id, (held) => held.set('trainer', {}));
    await journal().observeStatus(id, 'TERMINATED');
    expect(await readdir(folder('archive'))).toEqual(['json-%41.deadline', 'json-%41.json']);
    expect(await journal().instance(id)).toMatchObject({ instance: { id, archived: true } });
  });

  test('remembers that an instance was stopped, also after it was started again', async () => {
    const own = journal();
    await own.add(ID, 'track', { id: ID, status: 'ACTIVE' });
    expect((await own.read()).instances).toMatchObject([{ wasStopped: false }]);
    await own.observeStatus(ID, 'STOPPING');
    await own.observe({ id: ID, status: 'ACTIVE' });
    expect((await own.read()).instances).toMatchObject([{ wasStopped: true }]);
    await own.add(OTHER, 'track', { id: OTHER, status: 'STOPPED' });
    expect(await own.instance(OTHER)).toMatchObject({ instance: { wasStopped: true } });
  });

  test('archives an untracked instance, which can be tracked again', async () => {
    const own = journal();
    expect(await own.add(ID, 'track')).toBe(true);
    expect(await own.add(ID, 'track')).toBe(false);
    await own.untrack(ID);
    expect((await own.read()).instances).toEqual([]);
    await own.observe({ id: ID, status: 'ACTIVE' });
    expect((await own.read()).instances).toEqual([]);
    expect(await own.add(ID, 'track')).toBe(true);
    expect((await own.read()).instances).toMatchObject([{ id: ID, untracked: false }]);
  });

  test('skips writes of an unchanged instance for ten minutes', async () => {
    const seen = { id: ID, name: 'trainer', status: 'ACTIVE' };
    await journal().add(ID, 'track', seen);
    let { ino } = await stat(folder('instances', `${ID}.json`));
    const writes = async (status: string, own = journal()) => {
      await own.observe({ ...seen, status });
      const before = ino;
      ({ ino } = await stat(folder('instances', `${ID}.json`)));
      return ino !== before;
    };
    clock.advance(10 * 60_000 - 1);
    const own = journal();
    await own.read();
    expect(await writes('ACTIVE', own)).toBe(false);
    expect(await writes('ACTIVE')).toBe(false);
    clock.advance(1);
    expect(await writes('ACTIVE')).toBe(true);
    expect(await writes('STOPPED')).toBe(true);
  });
});

describe('the journal of an account', () => {
  test('hides the records of other accounts and services', async () => {
    await journal().add(ID, 'track');
    await opened();
    for (const scope of [
      { service: SERVICE, account: 'user-2' },
      { service: `${SERVICE}/v2`, account: 'user-1' },
    ]) {
      expect(await journal({ scope }).read()).toEqual(NOTHING);
    }
  });

  test('stores the account once per key, without the key', async () => {
    const scope = { service: SERVICE, apiKey: KEY };
    expect(await journal({ scope }).account()).toBeUndefined();
    await journal({ scope }).learnAccount('user-1');
    expect(await journal({ scope }).account()).toBe('user-1');
    expect(await journal({ scope: { ...scope, apiKey: `${KEY}x` } }).account()).toBeUndefined();
    const theirs = journal({ scope: { ...scope, account: 'user-2' } });
    expect([await theirs.account(), await theirs.isKeyKnown()]).toEqual(['user-2', false]);
    const file = 'api.example.com/@keys/d7bc4d99e811719c1ce2d2c4.json';
    expect(files()).toEqual([file]);
    const text = await readFile(join(state, 'journal', file), 'utf8');
    expect(JSON.parse(text)).toEqual({ version: 1, account: 'user-1' });
  });

  test('shows all records of the service while the account is unknown', async () => {
    await journal().add(ID, 'track');
    await opened();
    const own = journal({ scope: { service: SERVICE, apiKey: KEY } });
    expect(await own.read()).toMatchObject({ instances: [{ id: ID }], unknown: [{}] });
    // The new instance has no folder yet, but the known instance has one.
    await own.observe({ id: OTHER, status: 'ACTIVE' });
    await own.observe({ id: ID, status: 'STOPPED' });
    expect(await journal().read()).toMatchObject({ instances: [{ last: { status: 'STOPPED' } }] });
  });
});

describe('an unreadable file', () => {
  test('warns once about an unreadable instance, and keeps its content at the next read', async () => {
    await journal().add(OTHER, 'track');
    const path = folder('instances', `${ID}.json`);
    await writeFile(path, '{"version":1,"id":"torn');
    const own = journal();
    const found = await own.read();
    expect(found.instances.map(({ id }) => id)).toEqual([OTHER]);
    expect(found.unreadable).toEqual([ID]);
    await own.read();
    expect(warnings).toEqual([unread(path, 'instances')]);
    expect(await own.instance(ID)).toEqual({ kind: 'unreadable' });
    await own.observe({ id: ID, status: 'ACTIVE' });
    expect(await own.instance(ID)).toMatchObject({
      instance: { id: ID, origin: 'track', last: { status: 'ACTIVE' } },
    });
    expect((await own.read()).unreadable).toEqual([]);
    expect(await readFile(`${path}.unreadable`, 'utf8')).toContain('torn');
  });

  test.each(['instances', 'archive', 'deadlines', 'requests'] as const)(
    'warns what is unknown without a file of %s',
    async (kind) => {
      await mkdir(folder(kind), { recursive: true });
      const path = folder(kind, `${ID}.json`);
      await writeFile(path, '{');
      const found = { instances: [ID], requests: [path], archive: [], deadlines: [] }[kind];
      const known = await journal().read({ archived: true });
      expect(known).toEqual({ ...NOTHING, unreadable: found });
      expect(warnings).toEqual([unread(path, kind)]);
    },
  );

  test.each([
    ['torn', '{"version":1,'],
    ['empty', ''],
    ['not UTF-8', Buffer.from([0xff, 0xfe])],
    ['with another name', '{"version":1,"name":"x"}'],
  ])('reserves the name of an unreadable request: %s', async (_what, text) => {
    await mkdir(folder('requests'), { recursive: true });
    const path = folder('requests', '%4cost.json');
    await writeFile(path, text);
    expect(await journal().read()).toEqual({ ...NOTHING, unreadable: [path] });
    await expect(journal().open({ ...request, name: 'Lost' }, NOBODY)).rejects.toMatchObject({
      failure: 'storage',
      mayBeBilling: true,
      message: `Could not read the earlier request for Lost: ${path}`,
      hint: 'check your instances in the web console, then delete the file',
    });
    await opened('other');
  });

  test('tells an unreadable deadline from none', async () => {
    await journal().add(ID, 'track');
    expect(await journal().ends(ID)).toEqual({ deadline: null });
    await mkdir(folder('deadlines'));
    await writeFile(folder('deadlines', `${ID}.json`), '{');
    expect(await journal().ends(ID)).toEqual({ deadline: undefined });
    await rename(folder('deadlines', `${ID}.json`), folder('deadlines', '%41.json'));
    expect(await journal().deadlines()).toEqual([{ id: 'A', name: 'A' }]);
  });

  test('keeps a deadline whose --rescue is unreadable, and warns', async () => {
    await journal().add(ID, 'track');
    await mkdir(folder('deadlines'));
    const deadline = '2026-01-15T12:00:00.000Z';
    const record = { version: 1, id: ID, name: 'trainer', deadline, rescue: { paths: 'results' } };
    await writeFile(folder('deadlines', `${ID}.json`), JSON.stringify(record));
    expect(await journal().ends(ID)).toMatchObject({ deadline, rescue: undefined });
    expect(await journal().deadlines()).toEqual([{ id: ID, name: ID, deadline }]);
    expect(warnings).toEqual([
      `Could not read the journal file ${folder('deadlines', `${ID}.json`)}, so the --rescue paths of its instance are unknown.`,
    ]);
  });

  test("forgets the key's account until the account is fetched again", async () => {
    const scope = { service: SERVICE, apiKey: KEY };
    await journal({ scope }).learnAccount('user-1');
    const [file = ''] = files();
    await writeFile(join(state, 'journal', file), '{');
    expect(await journal({ scope }).account()).toBeUndefined();
    await journal({ scope }).learnAccount('user-1');
    expect(await journal({ scope }).account()).toBe('user-1');
  });
});

test("ignores other programs' files in isAny and requests()", async () => {
  await (await opened('lost')).unknown();
  await writeFile(join(state, 'journal', '.DS_Store'), '');
  await writeFile(folder('..', '.DS_Store'), '');
  expect(isAny('requests', state)).toBe(true);
  const unclaimed = journal({ scope: { service: SERVICE, apiKey: KEY } });
  expect(await unclaimed.requests()).toMatchObject([{ name: 'lost' }]);
});

test("throws a storage error if a file has a folder's path", async () => {
  await mkdir(folder(), { recursive: true });
  await writeFile(folder('instances'), 'no folder');
  await expect(journal().read()).rejects.toMatchObject({ failure: 'storage', exitCode: 9 });
  await expect(journal().add(ID, 'track')).rejects.toMatchObject({ failure: 'storage' });
});

test('fails once in a run to store an instance', async () => {
  const own = journal();
  await own.add(ID, 'track');
  await writeFile(folder('archive'), 'no folder');
  await expect(own.observeStatus(ID, 'TERMINATED')).rejects.toMatchObject({ failure: 'storage' });
  await own.observeStatus(ID, 'TERMINATED');
});

test('keeps no copy of an instance that another process has just written', async () => {
  const write = () => writeInstance(folder(), newInstance(ID, 'track', 'now'), undefined);
  await write().then(write);
  expect(await readdir(folder('instances'))).toEqual([`${ID}.json`]);
});

test('finds an open request by file name in isAny', async () => {
  expect(isAny('requests', state)).toBe(false);
  const own = await opened();
  expect(isAny('requests', state)).toBe(true);
  await own.made(ID);
  expect(isAny('requests', state)).toBe(false);
});

describe('an instance', () => {
  test('treats an instance as unreadable if its file has the name of another', async () => {
    await journal().add(ID, 'track');
    await rename(folder('instances', `${ID}.json`), folder('instances', `${OTHER}.json`));
    expect((await journal().read()).instances).toEqual([]);
    expect(warnings).toEqual([unread(folder('instances', `${OTHER}.json`), 'instances')]);
  });

  test('finds an instance in another folder if its first file is unreadable', async () => {
    await journal().add(ID, 'track');
    const later = join(state, 'journal', 'api.example.com', 'user-2', 'instances');
    await mkdir(later, { recursive: true });
    await rename(folder('instances', `${ID}.json`), join(later, `${ID}.json`));
    await writeFile(folder('instances', `${ID}.json`), '{');
    const ofAll = journal({ scope: { service: SERVICE, apiKey: KEY } });
    expect(await ofAll.instance(ID)).toMatchObject({ instance: { id: ID, origin: 'track' } });
  });
});
