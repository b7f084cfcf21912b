import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  accountOfKey,
  type Intent,
  type Journal,
  type JournalSettings,
  openJournal,
  parseExport,
} from '../../src/journal/index.ts';
import { anyRequestOpen } from '../../src/journal/pending.ts';
import { isRunning, markOf } from '../../src/journal/process.ts';
import { manualClock } from '../support/clock.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const OTHER = '3f0c5d9e-1111-4222-8333-444455557777';
const KEY = 'svc_sk_test_canary_0123456789';
const clock = manualClock();

let home: string;
let warnings: string[];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpucloud-rentals-'));
  warnings = [];
});
/** The files of the journal, by their whole paths. */
function filesNow(): string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .map((name) => join(home, name))
    .filter((path) => !lstatSync(path).isDirectory());
}
const intents: Intent[] = [];
afterEach(async () => {
  // A process that was killed leaves its files to the system; this one has to close them.
  for (const intent of intents.splice(0)) await intent.close();
  await rm(home, { recursive: true, force: true });
});

function journal(settings: Partial<JournalSettings> = {}): Journal {
  const rentals = openJournal({
    folder: join(home, 'rentals'),
    scope: { service: 'https://api.example.com', apiKey: KEY },
    clock,
    pid: 1,
    isAlive: () => false,
    warn: (text) => warnings.push(text),
    ...settings,
  });
  return {
    ...rentals,
    async intend(request) {
      const intent = await rentals.intend(request);
      intents.push(intent);
      return intent;
    },
  };
}

const request = { operation: 'create', name: 'trainer', offer_id: 'offer-1' } as const;

async function files(): Promise<string[]> {
  const names = await readdir(join(home, 'rentals'), { recursive: true });
  return names.filter((name) => name.endsWith('.json')).sort();
}
const fileIn = async (place: string) =>
  join(home, 'rentals', (await files()).find((name) => name.includes(`/${place}/`)) ?? '');

describe('a request', () => {
  test('is whole on disk before it is sent, for its owner alone', async () => {
    const intent = await journal().intend({ ...request, body: { offer_id: 'offer-1' } });
    const [name] = await files();
    expect(name).toBe(`${name?.slice(0, 24)}/open/${intent.uid}.json`);
    const path = join(home, 'rentals', name ?? '');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    for (const folder of [join(path, '..'), join(path, '../..'), join(path, '../../..')]) {
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
    }
    const [line] = (await readFile(path, 'utf8')).split('\n');
    expect(JSON.parse(line ?? '')).toMatchObject({
      version: 1,
      operation: 'create',
      name: 'trainer',
      service: 'https://api.example.com',
      body: { offer_id: 'offer-1' },
      process: { pid: 1 },
    });
    expect(await journal().unknown()).toMatchObject([{ name: 'trainer', masked: false }]);
  });

  test('holds neither the key nor a secret of its container', async () => {
    const env = [
      { key: 'TOKEN', value: 'hunter2' },
      { key: 'EMPTY', value: '' },
    ];
    const docker_config = { image: 'i', env, run_command: 'serve --token sesame' };
    const labels = [`of ${KEY}`];
    await journal().intend({ ...request, body: { docker_config, labels } });
    const text = await readFile(await fileIn('open'), 'utf8');
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('sesame');
    expect(text).not.toContain('svc_sk_');
    expect(await journal().unknown()).toMatchObject([
      { masked: true, body: { docker_config: { image: 'i', env: [{ key: 'TOKEN' }, env[1]] } } },
    ]);
  });

  test('of any length is read again, and so is a machine of any name', async () => {
    const env = Array.from({ length: 50_000 }, (_, at) => ({ key: `VARIABLE_${at}`, value: 'x' }));
    await journal().intend({ ...request, body: { docker_config: { image: 'i', env } } });
    expect(await journal().unknown()).toMatchObject([
      { name: 'trainer', masked: true, body: undefined },
    ]);
    await journal().observe({ id: ID, name: 'W'.repeat(2_000_000), status: 'ACTIVE' }, 'read');
    expect((await journal().read()).instances).toMatchObject([
      { id: ID, last: { status: 'ACTIVE' } },
    ]);
    expect(warnings).toEqual([]);
  });

  test('of a process that runs is under way, of one that is gone it is unknown', async () => {
    const alive = { pid: process.pid, isAlive: (pid: number) => pid === process.pid };
    const intent = await journal(alive).intend(request);
    expect(await journal(alive).unknown()).toEqual([]);
    await intent.settle('unknown', { candidates: [ID] });
    expect(await journal(alive).unknown()).toMatchObject([{ candidates: [ID] }]);
  });

  test('that was rented is a machine, whether or not its process could tidy up', async () => {
    const intent = await journal().intend(request);
    await intent.settle('rented', { id: ID });
    const killed = await journal().read();
    expect(killed).toMatchObject({
      instances: [{ id: ID, name: 'trainer', request: intent.uid }],
      unknown: [],
    });
    // That reading has tidied up in its place.
    expect((await files()).map((name) => name.slice(25).split('/')[0])).toEqual([
      'machines',
      'settled',
    ]);
    expect(await journal().read()).toEqual(killed);
    expect(await anyRequestOpen(join(home, 'rentals'))).toBe(false);
  });

  test.each(['refused', 'not_sent'] as const)('that was %s is no machine', async (outcome) => {
    const intent = await journal().intend(request);
    await intent.settle(outcome);
    await intent.close();
    expect(await journal().read({ archived: true })).toEqual({
      instances: [],
      unknown: [],
      inFlight: [],
    });
    expect(await files()).toEqual([expect.stringContaining('/settled/')]);
  });

  test('keeps its outcome though its folder was closed meanwhile', async () => {
    const intent = await journal().intend(request);
    const folder = join(await fileIn('open'), '..');
    await chmod(folder, 0o500);
    await intent.settle('rented', { id: ID });
    await chmod(folder, 0o700);
    expect(await journal().read()).toMatchObject({ instances: [{ id: ID }], unknown: [] });
  });

  test.each([
    ['removed', () => rm(join(home, 'rentals'), { recursive: true })],
    ['moved away', () => rename(join(home, 'rentals'), join(home, 'elsewhere'))],
    ['replaced', async () => rename(await fileIn('open'), `${await fileIn('open')}.was`)],
  ])('keeps its outcome though its folder or file was %s meanwhile', async (_what, take) => {
    const intent = await journal().intend(request);
    await take();
    await intent.settle('rented', { id: ID });
    // Its process may be killed here: what it would tidy up must be on the disk already.
    expect(await journal().read()).toMatchObject({
      instances: [{ id: ID, request: intent.uid }],
      unknown: [],
    });
  });

  test('that can be written nowhere any more says so', async () => {
    const intent = await journal().intend(request);
    await rm(join(home, 'rentals'), { recursive: true });
    await writeFile(join(home, 'rentals'), 'no folder');
    await expect(intent.settle('rented', { id: ID })).rejects.toMatchObject({ exitCode: 9 });
  });

  test('that was settled by its own process is not settled over', async () => {
    const intent = await journal().intend(request);
    await intent.settle('rented', { id: ID });
    await journal().resolve(intent.uid, 'replaced');
    expect((await journal().read()).instances).toMatchObject([{ id: ID }]);
  });

  test('can be settled later, from another process', async () => {
    const intent = await journal().intend(request);
    await journal().resolve(intent.uid, 'rented', { id: ID });
    expect(await journal().read()).toMatchObject({
      instances: [{ id: ID, request: intent.uid }],
      unknown: [],
    });
  });
});

describe('processes', () => {
  test('a pid that was given out again is another process', async () => {
    const mark = markOf(process.pid);
    expect(isRunning(mark, 0, () => true)).toBe(true);
    expect(isRunning(mark, 0, () => false)).toBe(false);
    // It may stand still for ever.
    expect(isRunning(mark, 3_600_000, () => true)).toBe(false);
    expect(isRunning(null, 0, () => true)).toBe(false);
    expect(isRunning({ pid: process.pid }, 0, () => true)).toBe(mark.boot === undefined);
    if (mark.boot !== undefined) {
      for (const other of [{ started: '1' }, { boot: 'another' }, { space: 'pid:[1]' }]) {
        expect(isRunning({ ...mark, ...other }, 0, () => true)).toBe(false);
      }
    }
  });
});

describe('a process that ends while the journal is read', () => {
  test('leaves its last word, and not an unknown outcome', async () => {
    const intent = await journal().intend(request);
    // The question whether it runs comes after the reading of its file.
    const isAlive = () => {
      void intent.settle('rented', { id: ID });
      return false;
    };
    expect(await journal({ isAlive }).read()).toMatchObject({
      instances: [{ id: ID, request: intent.uid }],
      unknown: [],
      inFlight: [],
    });
  });

  test('has filed its request away, the machine written down before', async () => {
    const intent = await journal().intend(request);
    const isAlive = () => {
      const [open = ''] = filesNow().filter((path) => path.includes('/open/'));
      const settled = open.replace('/open/', '/settled/');
      mkdirSync(dirname(settled), { recursive: true });
      renameSync(open, settled);
      return false;
    };
    expect(await journal({ isAlive }).read()).toEqual({ instances: [], unknown: [], inFlight: [] });
    expect(filesNow()).toEqual([expect.stringContaining(`/settled/${intent.uid}`)]);
  });
});

describe('machines', () => {
  test('whose file is a pipe hold nobody up', async () => {
    await journal().observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'track');
    await journal().intend(request);
    for (const path of filesNow()) {
      rmSync(path);
      execFileSync('mkfifo', [path]);
    }
    const own = journal();
    expect(await own.read()).toMatchObject({ instances: [{ id: ID, last: undefined }] });
    expect(warnings).toHaveLength(2);
    expect(await own.observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'read')).toBe(false);
    expect((await own.read()).instances).toMatchObject([{ id: ID, last: { status: 'ACTIVE' } }]);
  });

  test('are found by their id in their own file, wherever it lies', async () => {
    const own = journal();
    expect(await own.instance(ID)).toBeUndefined();
    await own.observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'track');
    expect(await own.instance(ID)).toMatchObject({ id: ID, name: 'trainer', archived: false });
    await own.observe({ id: ID, status: 'TERMINATED' }, 'read');
    expect(await own.instance(ID)).toMatchObject({ id: ID, name: 'trainer', archived: true });
    expect(await own.instance(OTHER)).toBeUndefined();
    for (const path of filesNow()) writeFileSync(path, '{"version":1');
    expect(await own.instance(ID)).toBeUndefined();
  });

  test('that are terminated move to the archive and back, and are never deleted', async () => {
    await journal().observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'track');
    await journal().observe({ id: ID, status: 'TERMINATED' }, 'read');
    expect(await files()).toEqual([expect.stringMatching(/archive\/3f0c5d9e-.*\.json$/)]);
    expect((await journal().read()).instances).toEqual([]);
    expect((await journal().read({ archived: true })).instances).toMatchObject([
      { id: ID, name: 'trainer', archived: true, last: { status: 'TERMINATED' } },
    ]);
    await journal().observe({ id: ID, status: 'ACTIVE' }, 'read');
    expect((await journal().read()).instances).toMatchObject([{ id: ID, archived: false }]);
    expect(await files()).toHaveLength(1);
  });

  test('that are not wanted stay away when they are read, and come back when they are tracked', async () => {
    await journal().observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'track');
    await journal().untrack(ID);
    await journal().observe({ id: ID, status: 'STOPPED' }, 'read');
    expect((await journal().read()).instances).toEqual([]);
    expect((await journal().read({ archived: true })).instances).toMatchObject([
      { untracked: true, last: { status: 'STOPPED' } },
    ]);
    expect(await journal().observe({ id: ID, status: 'STOPPED' }, 'track')).toBe(true);
    expect((await journal().read()).instances).toMatchObject([{ id: ID, untracked: false }]);
  });

  test('what another process wrote since a machine was looked up is not lost', async () => {
    await journal().observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'track');
    const own = journal();
    await own.instance(ID);
    await journal().untrack(ID);
    // Nothing new by what was looked up: the file stays as the other one wrote it.
    await own.observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'read');
    await own.observe({ id: ID, name: 'trainer', status: 'STOPPED' }, 'read');
    await own.instance(ID);
    await own.observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'read');
    expect((await journal().read({ archived: true })).instances).toMatchObject([
      { untracked: true, last: { status: 'ACTIVE' } },
    ]);
  });

  test('a look-up counts for the first sighting after it alone', async () => {
    const own = journal();
    await own.observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'track');
    await own.instance(ID);
    await own.observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'read');
    for (const path of filesNow()) rmSync(path);
    expect(await own.observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'read')).toBe(true);
    await own.instance(ID);
    await own.instance(OTHER);
    for (const path of filesNow()) rmSync(path);
    expect(await own.observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'read')).toBe(true);
  });

  test('a list is a look-up of each machine in it', async () => {
    const own = journal();
    for (const id of [ID, OTHER]) await own.observe({ id, name: 'box', status: 'ACTIVE' }, 'track');
    await own.read();
    for (const path of filesNow()) rmSync(path);
    // Nothing new, so that its file is not asked for again.
    expect(await own.observe({ id: ID, name: 'box', status: 'ACTIVE' }, 'read')).toBe(false);
    expect(filesNow()).toEqual([]);
    expect(await own.observe({ id: OTHER, name: 'box', status: 'STOPPED' }, 'read')).toBe(true);
    expect(await own.observe({ id: ID, name: 'box', status: 'ACTIVE' }, 'read')).toBe(true);
    expect(filesNow()).toHaveLength(2);
  });

  test('with ids that are no names of files are kept apart', async () => {
    for (const id of ['con', 'CON', 'a.b', 'x'.repeat(200)]) {
      await journal().observe({ id, name: 'odd', status: 'ACTIVE' }, 'track');
    }
    expect((await journal().read()).instances).toHaveLength(4);
    expect(new Set((await files()).map((name) => name.toLowerCase())).size).toBe(4);
  });

  test('a sighting that tells nothing new is written after ten minutes', async () => {
    const seen = async () => (await journal().read()).instances[0]?.last?.seen_at;
    await journal().observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'track');
    const first = await seen();
    clock.advance(60_000);
    await journal().observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'read');
    expect(await seen()).toBe(first);
    clock.advance(600_000);
    await journal().observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'read');
    expect(await seen()).not.toBe(first);
  });

  test('that can not be written are told once in a run, and always when they are asked for', async () => {
    await journal().observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'track');
    await writeFile(join(await fileIn('machines'), '../../archive'), 'no folder');
    const rentals = journal();
    const end = (id: string, origin: 'read' | 'track') =>
      rentals.observe({ id, status: 'TERMINATED' }, origin);
    await expect(end(ID, 'read')).rejects.toMatchObject({ failure: 'storage' });
    expect(await end(OTHER, 'read')).toBe(false);
    await expect(end(OTHER, 'track')).rejects.toMatchObject({ failure: 'storage' });
    expect((await journal().read()).instances).toMatchObject([{ id: ID }]);
  });

  test('that several lists see end at once move to the archive without a complaint', async () => {
    await journal().observe({ id: ID, name: 'trainer', status: 'ACTIVE' }, 'track');
    const end = () => journal().observe({ id: ID, name: 'trainer', status: 'TERMINATED' }, 'read');
    await Promise.all(Array.from({ length: 16 }, end));
    expect((await journal().read()).instances).toEqual([]);
    expect((await journal().read({ archived: true })).instances).toMatchObject([{ id: ID }]);
  });

  test('sixteen that are written at once are all there', async () => {
    const ids = Array.from({ length: 16 }, (_, at) => `${ID.slice(0, -2)}${at + 10}`);
    await Promise.all(
      ids.flatMap((id) =>
        [1, 2].map(() => journal().observe({ id, name: 'box', status: 'ACTIVE' }, 'read')),
      ),
    );
    expect((await journal().read()).instances.map(({ id }) => id).sort()).toEqual(ids);
    expect(warnings).toEqual([]);
  });
});

describe('files that are not ours', () => {
  test.each([
    ['empty', (path: string) => writeFile(path, '')],
    ['half', (path: string) => writeFile(path, '{"version":1,"uid"')],
    ['null', (path: string) => writeFile(path, 'null\n\n')],
    ['not UTF-8', (path: string) => writeFile(path, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))],
    ['very large', (path: string) => writeFile(path, ' '.repeat(2 * 1024 * 1024))],
    ['a folder', (path: string) => mkdir(path)],
    ['a link to nothing', (path: string) => symlink('/nowhere', path)],
  ])('%s: spoils only itself, is told once by its name, and stays', async (_what, spoil) => {
    await journal().intend(request);
    await journal().observe({ id: ID, name: 'seen', status: 'ACTIVE' }, 'track');
    const torn = join(await fileIn('open'), '../2020-torn.json');
    const tornMachine = join(await fileIn('machines'), '../torn.json');
    await spoil(torn);
    await spoil(tornMachine);
    const rentals = journal();
    expect(await rentals.read()).toMatchObject({
      instances: [{ id: ID }],
      unknown: [{ name: 'trainer' }],
    });
    await rentals.read();
    expect(warnings.map((text) => /left as it is: (\S+)\./.exec(text)?.[1])).toEqual([
      torn,
      tornMachine,
    ]);
    expect(await files()).toContainEqual(expect.stringContaining('2020-torn.json'));
  });

  test.each([
    ['empty', () => Buffer.alloc(0)],
    ['half', (all: Buffer) => all.subarray(0, 100)],
    ['with a bit that fell over', (all: Buffer) => all.fill(all[9] ?? 0, 8, 9)],
  ])(
    'a request whose file is %s is unknown all the same, and can be dismissed',
    async (_what, spoil) => {
      const intent = await journal().intend(request);
      const path = await fileIn('open');
      const torn = spoil(await readFile(path));
      await writeFile(path, torn);
      expect(await journal().unknown()).toMatchObject([
        {
          uid: intent.uid,
          name: intent.uid,
          isSpoilt: true,
          asked_at: expect.stringMatching(/Z$/),
        },
      ]);
      expect(Date.parse((await journal().unknown())[0]?.asked_at ?? '')).toBe(clock.now());
      expect(warnings[0]).toContain(path);
      await journal().resolve(intent.uid, 'dismissed');
      expect(await journal().unknown()).toEqual([]);
      // It may be of use to somebody who can read it.
      expect(await readFile(await fileIn('settled'))).toEqual(torn);
    },
  );

  test('a request whose first line is torn still tells the machine that its second one names', async () => {
    const intent = await journal().intend(request);
    await intent.settle('rented', { id: ID });
    const path = await fileIn('open');
    const all = await readFile(path);
    await writeFile(path, all.fill(all[9] ?? 0, 8, 9));
    expect(await journal().read()).toMatchObject({ instances: [{ id: ID }], unknown: [] });
    expect(parseExport(JSON.stringify(await journal().export()))).toMatchObject({ ok: true });
  });

  test('a file under the name of another request or machine is none', async () => {
    await journal().intend(request);
    const path = await fileIn('open');
    await writeFile(join(path, '../2020-copy.json'), await readFile(path));
    expect(await journal().unknown()).toHaveLength(1);
    expect(warnings).toHaveLength(1);
  });

  test('what was being written when a process was killed is no request', async () => {
    await journal().intend(request);
    const path = await fileIn('open');
    await rename(path, `${path}.new`);
    expect(await journal().read()).toEqual({ instances: [], unknown: [], inFlight: [] });
    expect(await anyRequestOpen(join(home, 'rentals'))).toBe(false);
    expect(warnings).toEqual([]);
  });

  test('what was left of writes a day ago is swept away, and nothing else', async () => {
    await journal().intend(request);
    await journal().observe({ id: ID, name: 'seen', status: 'ACTIVE' }, 'track');
    const before = await files();
    const old = new Date(clock.now() - 25 * 3_600_000);
    const young = new Date(clock.now() - 60_000);
    const open = join(await fileIn('open'), '..');
    const machines = join(await fileIn('machines'), '..');
    for (const [path, at] of [
      [join(open, 'a.json.new'), old],
      [join(machines, `${ID}.json.k3x9.tmp`), old],
      [join(machines, `${ID}.json.spoilt`), old],
      [join(open, 'b.json.new'), young],
    ] as const) {
      await writeFile(path, '');
      await utimes(path, at, at);
    }
    await journal().read({ archived: true });
    expect((await readdir(open)).filter((name) => !name.endsWith('.json'))).toEqual(['b.json.new']);
    expect((await readdir(machines)).filter((name) => !name.endsWith('.json'))).toEqual([
      `${ID}.json.spoilt`,
    ]);
    expect(await files()).toEqual(before);
  });

  test.each(['rentals', '.'])('a file where the folder %s should be is said', async (name) => {
    await rm(home, { recursive: true });
    await mkdir(join(home, name, '..'), { recursive: true });
    await writeFile(join(home, name), '');
    await expect(journal().intend(request)).rejects.toMatchObject({ failure: 'storage' });
    await expect(journal().read()).rejects.toMatchObject({ failure: 'storage' });
  });
});

describe('owners', () => {
  const service = 'https://api.example.com';
  const of = (account?: string, apiKey?: string, at = service) =>
    journal({ scope: { service: at, account, apiKey } });
  const names = async (rentals: Journal) =>
    (await rentals.read()).instances.map(({ name }) => name).sort();
  const rentAs = (rentals: Journal, id: string, name: string) =>
    rentals.observe({ id, name, status: 'ACTIVE' }, 'create');

  test('machines of a key are the account’s as soon as it is known whose key it is', async () => {
    await rentAs(of(undefined, 'key-1'), ID, 'by-key');
    await rentAs(of('anna'), OTHER, 'by-account');
    expect(await names(of('anna', 'key-2'))).toEqual(['by-account']);
    await of(undefined, 'key-1').learnAccount('anna');
    for (const anna of [of('anna', 'key-2'), of('anna'), of(undefined, 'key-1')]) {
      expect(await names(anna)).toEqual(['by-account', 'by-key']);
    }
    expect(await of(undefined, 'key-1').owner()).toEqual({ service, account: 'anna' });
    for (const stranger of [
      of('boris'),
      of(undefined, 'key-2'),
      of('anna', 'key-1', 'https://b'),
    ]) {
      expect(await names(stranger)).toEqual([]);
    }
  });

  test('requests come in the order of their times, whichever folder they lie in', async () => {
    const ask = async (rentals: Journal, name: string) => {
      clock.advance(1000);
      await rentals.intend({ operation: 'create', name, offer_id: null });
    };
    await ask(of(undefined, 'key-1'), 'first');
    await of(undefined, 'key-1').learnAccount('anna');
    await ask(of(undefined, 'key-1'), 'second');
    await ask(of(undefined, 'key-2'), 'third');
    await of(undefined, 'key-2').learnAccount('anna');
    await ask(of(undefined, 'key-2'), 'fourth');
    const unknown = await of(undefined, 'key-1').unknown();
    expect(unknown.map(({ name }) => name)).toEqual(['first', 'second', 'third', 'fourth']);
  });

  test('a profile’s own key needs no learning', async () => {
    await rentAs(of(undefined, 'key-1'), ID, 'by-key');
    expect(await names(of('anna', 'key-1'))).toEqual(['by-key']);
  });

  test('behind a key with a new account the old one’s machines do not show up', async () => {
    await rentAs(of(undefined, 'key-1'), ID, 'old');
    await of(undefined, 'key-1').learnAccount('anna');
    clock.advance(1000);
    await of('anna-2', 'key-1').learnAccount('anna-2');
    await rentAs(of(undefined, 'key-1'), OTHER, 'new');
    expect(await names(of(undefined, 'key-1'))).toEqual(['new']);
    expect(await names(of('anna'))).toEqual(['old']);
  });

  test('a torn file of the accounts still tells whose key it is', async () => {
    await rentAs(of(undefined, 'key-1'), ID, 'by-key');
    await of(undefined, 'key-1').learnAccount('anna');
    const folder = join(home, 'rentals', 'accounts');
    for (const name of await readdir(folder)) await writeFile(join(folder, name), '{"ver');
    expect(await names(of('anna'))).toEqual(['by-key']);
  });

  test('no name of a file tells a key or an account', async () => {
    await rentAs(of('anna@example.com', KEY), ID, 'x');
    await of('anna@example.com', KEY).learnAccount('anna@example.com');
    const all = await readdir(join(home, 'rentals'), { recursive: true });
    expect(all.join('\n')).not.toMatch(/anna|svc_sk/);
  });
});

describe('export and import', () => {
  const elsewhere = () => journal({ folder: join(home, 'second') });

  test('bring another computer up to date, and nothing newer back', async () => {
    const intent = await journal().intend({ ...request, body: { offer_id: 'offer-1' } });
    await journal().observe({ id: ID, name: 'seen', status: 'ACTIVE' }, 'track');
    const first = await journal().export();
    expect(await elsewhere().import(first)).toEqual({ machines: 1, requests: 1, known: 0 });
    expect(await elsewhere().import(first)).toEqual({ machines: 0, requests: 0, known: 2 });
    expect(await elsewhere().read()).toMatchObject({
      instances: [{ id: ID, origin: 'import' }],
      unknown: [{ uid: intent.uid, name: 'trainer', body: { offer_id: 'offer-1' } }],
    });

    clock.advance(1000);
    await elsewhere().observe({ id: ID, status: 'TERMINATED' }, 'read');
    await elsewhere().import(first);
    expect((await elsewhere().read({ archived: true })).instances).toMatchObject([
      { last: { status: 'TERMINATED' } },
    ]);

    // What the first computer found out is told; that it settles the request, only a reading can say.
    await intent.settle('rented', { id: OTHER });
    await elsewhere().import(await journal().export());
    expect(await elsewhere().read()).toMatchObject({
      instances: [{ id: OTHER, request: intent.uid, origin: 'import' }],
      unknown: [{ uid: intent.uid }],
    });
  });

  describe('a file that says what is not so', () => {
    type Export = Awaited<ReturnType<Journal['export']>>;
    const living = { id: ID, name: 'seen', status: 'ACTIVE' };
    const change = async (make: (file: Export) => void) => {
      const file = structuredClone(await journal().export());
      make(file);
      return file;
    };

    test('ends no machine, though it was seen in the future', async () => {
      await journal().observe(living, 'track');
      const file = await change(({ machines: [machine] }) => {
        if (machine?.last === undefined) throw new Error('no machine');
        machine.last.status = 'TERMINATED';
        machine.last.seen_at = '2099-01-01T00:00:00.000Z';
      });
      expect(await journal().import(file)).toMatchObject({ machines: 0, known: 1 });
      expect((await journal().read()).instances).toMatchObject([{ last: { status: 'ACTIVE' } }]);
    });

    test('knows nothing better for ever, though its clock is ahead', async () => {
      await journal().observe(living, 'track');
      const file = await change(({ machines: [machine] }) => {
        if (machine?.last === undefined) throw new Error('no machine');
        machine.last.status = 'STOPPED';
        machine.last.seen_at = '2099-01-01T00:00:00.000Z';
      });
      clock.advance(1000);
      await journal().import(file);
      const [machine] = (await journal().read()).instances;
      expect(machine?.last).toMatchObject({
        status: 'STOPPED',
        seen_at: new Date(clock.now()).toISOString(),
      });
    });

    test('takes no machine out of the list', async () => {
      await journal().observe(living, 'track');
      await journal().untrack(ID);
      const file = await journal().export();
      expect(file.machines[0]).toHaveProperty('untracked_at');
      await elsewhere().observe({ ...living, status: 'STOPPED' }, 'track');
      for (const there of [elsewhere(), journal({ folder: join(home, 'third') })]) {
        await there.import(file);
        expect((await there.read()).instances).toMatchObject([{ id: ID, untracked: false }]);
      }
    });

    test.each(['rented', 'dismissed', 'refused'] as const)(
      'settles no request: one that was %s is unknown, and its id worth a reading',
      async (kind) => {
        await journal().intend(request);
        const file = await change(({ requests: [open] }) => {
          if (open === undefined) throw new Error('no request');
          open.outcome = { kind, at: '2026-01-15T12:00:00.000Z', id: OTHER };
        });
        await elsewhere().import(file);
        expect(await elsewhere().read()).toMatchObject({
          instances: [],
          unknown: [{ name: 'trainer', candidates: [OTHER] }],
        });
        // Nor one that is open here.
        await journal().import(file);
        expect((await journal().read()).unknown).toHaveLength(1);
      },
    );

    test('settles no request by a machine that is said to come of it', async () => {
      const intent = await journal().intend(request);
      await journal().import(
        await change(({ machines }) => {
          machines.push({
            ...{ version: 1, id: OTHER, name: 'trainer', origin: 'create' },
            known_at: '2026-01-15T12:00:00.000Z',
            request: intent.uid,
          });
        }),
      );
      expect(await journal().read()).toMatchObject({
        instances: [{ id: OTHER, request: intent.uid }],
        unknown: [{ uid: intent.uid }],
      });
    });

    test.each([
      ['service', { service: 'https://b.example' }],
      ['account', { account: 'boris' }],
    ])('a request of another %s is found out', async (_what, other) => {
      await journal().intend(request);
      const file = await change(({ requests: [one] }) => {
        if (one === undefined) throw new Error('no request');
        Object.assign(one.intent, other);
      });
      expect(parseExport(JSON.stringify(file))).toMatchObject({
        ok: false,
        what: expect.stringContaining('another service or account'),
      });
    });
  });

  test('whose a file is: the account tells, then the key, else nobody', async () => {
    const key = accountOfKey(KEY);
    const other = accountOfKey('svc_sk_other');
    expect(await journal().isOwn({ account: null, key })).toBe(true);
    expect(await journal().isOwn({ account: null, key: other })).toBeUndefined();
    expect(await journal().isOwn({ account: null })).toBeUndefined();
    expect(await journal().isOwn({ account: 'anna', key: other })).toBeUndefined();
    await journal().learnAccount('anna');
    expect(await journal().isOwn({ account: 'anna', key: other })).toBe(true);
    expect(await journal().isOwn({ account: 'boris', key })).toBe(false);
    const boris = journal({
      scope: { service: 'https://api.example.com', apiKey: 'svc_sk_other' },
    });
    await boris.learnAccount('boris');
    expect(await journal().isOwn({ account: null, key: other })).toBe(false);
    expect(await boris.isOwn({ account: null, key })).toBe(false);
  });
});
