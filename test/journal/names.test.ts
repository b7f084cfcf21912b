import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { deadlinePath, idlePath, rescuePath } from '../../src/journal/deadlines.ts';
import {
  accountsIn,
  fileName,
  foreignOwner,
  nameIn,
  serviceFolder,
} from '../../src/journal/files.ts';
import { journalFolders } from '../../src/journal/layout.ts';
import { openNamedInstances } from '../../src/journal/names.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { manualClock } from '../support/clock.ts';
import { journalIn } from '../support/journal.ts';
import { fc } from '../support/random.ts';

const LETTERS = [...'aAzZ09._-~+%/\\: äЖ漢😀'];

test('gives each name a different file name, and restores the name', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 12 }), (text) => {
      const name = fileName(text);
      expect(name).toMatch(/^[a-z0-9._%-]*$/);
      expect(nameIn(name)).toBe(text);
    }),
  );
  expect(fileName('Trainer')).not.toBe(fileName('trainer'));
});

test.each([
  ['trainer-2', 'trainer-2'],
  ['api.example.com', 'api.example.com'],
  ['..', '%2e%2e'],
  ['.', '%2e'],
  ['a/b~c+d', 'a%2fb%7ec%2bd'],
  ['a.', 'a%2e'],
  ['Aä\t', '%41%c3%a4%09'],
  ['con', '%63on'],
  ['lpt9', '%6cpt9'],
  ['con2', 'con2'],
  ['falcon', 'falcon'],
  ['x'.repeat(150), 'x'.repeat(150)],
])('turns %s into the file name %s', (text, name) => {
  expect([fileName(text), nameIn(name)]).toEqual([name, text]);
});

test('stores what ends an instance in files of their own', () => {
  expect([deadlinePath, idlePath, rescuePath].map((path) => path('folder', 'Id'))).toEqual([
    ...['deadlines', 'idle', 'rescues'].map((own) => join('folder', own, '%49d.json')),
  ]);
});

test('shortens long names to different file names', () => {
  const [one, other] = ['a', 'b'].map((end) => fileName(`${'Ж'.repeat(300)}${end}`));
  expect(one).not.toBe(other);
  expect([one, fileName('x'.repeat(151))].map((name) => name?.length)).toEqual([150, 150]);
});

test('lists the accounts of this computer, except those of the sandbox', async () => {
  const state = await temporaryFolder();
  expect(accountsIn(state)).toEqual([]);
  for (const one of ['api.example.com/%55ser', 'http@127.0.0.1%3a80/u', 'a/@keys', '@sandbox/u'])
    await mkdir(join(state, 'journal', one), { recursive: true });
  expect(accountsIn(state)).toEqual([
    { service: 'https://api.example.com', account: 'User' },
    { service: 'http://127.0.0.1:80', account: 'u' },
  ]);
  const long = ['long', '%e4x'].map((start) => nameIn(`${start}+${'a'.repeat(32)}`));
  expect([nameIn('%e4x'), ...long]).toEqual(['%e4x', 'long', '%e4x']);
});

test('finds names of all accounts of a service, unless the key has one of its own', async () => {
  const state = await temporaryFolder();
  const service = 'https://api.example.com';
  const learned = { service, apiKey: 'svc_sk_test_0123456789' };
  const make = (account: string, id: string, status?: string) =>
    journalIn(state, { scope: { service, account } }).add(id, 'track', {
      ...{ id, name: `name-${id}`, status: status ?? 'ACTIVE' },
    });
  const named = (scope: object) => {
    const { in: within, find } = openNamedInstances({
      ...{ state, scope: { service, ...scope }, clock: manualClock() },
    });
    const all = [...within('instances'), ...within('archive')];
    return [...all, find('b')].map((one) => one && `${one.id} ${one.name} ${one.status}`);
  };
  await make('user-1', 'a');
  await journalIn(state, { scope: learned }).learnAccount('user-1');
  expect(named(learned)).toEqual(['a name-a ACTIVE', undefined]);
  await make('user-2', 'b', 'STOPPED');
  await make('user-2', 'c', 'TERMINATED');
  await make('user-2', 'd');
  await journalIn(state, { scope: { service, account: 'user-2' } }).untrack('d');
  const others = ['b name-b STOPPED', 'c name-c TERMINATED'];
  expect(named(learned)).toEqual(['a name-a ACTIVE', undefined]);
  expect(named({})).toEqual(['a name-a ACTIVE', ...others, others[0]]);
  expect(named({ apiKey: 'unknown' })).toEqual(['a name-a ACTIVE', ...others, others[0]]);
  expect(named({ account: 'user-2', apiKey: 'unknown' })).toEqual([...others, others[0]]);
});

const ACCOUNT = ['', 'journal', 'journal/a', 'journal/a/u'];
test.each([
  ['reap', ['', 'reap']],
  ['reap2', ['']],
  ['myjobs', ['']],
  ['rentals2', ['']],
  ['rentals', undefined],
  ['journal2', undefined],
  ['journal/a/u/idle', [...ACCOUNT, 'journal/a/u/idle']],
  ['journal/a/u/.Trash', [...ACCOUNT, 'journal/a/u/.Trash']],
  ['journal/a/u/idle2', undefined],
  ['journal/a/u/myidle', undefined],
])('knows the folder %s', async (name, found) => {
  const state = await temporaryFolder();
  await mkdir(join(state, name), { recursive: true });
  const read = () => journalFolders(state).map((path) => relative(state, path));
  if (found === undefined) {
    const path = join(state, name);
    const message = `Another version of gpucloud may have recorded instances in ${path}.`;
    const hint = expect.stringMatching(/^update gpucloud; .* set GPUCLOUD_STATE_DIR to another/);
    const refusal = { failure: 'storage', message, hint, resource: path };
    expect(read).toThrow(expect.objectContaining(refusal));
  } else expect(read()).toEqual(found);
  expect(foreignOwner(join(state, 'none'))).toBe('');
});

test('names a service folder after scheme, host, port and path', () => {
  const services = [
    'sandbox',
    'https://sandbox',
    'https://api.example.com',
    'https://api.example.com/v1',
    'https://api.example.com:8443',
    'http://127.0.0.1:8080',
    'https://127.0.0.1:8080',
  ];
  const folders = services.map(serviceFolder);
  expect(new Set(folders).size).toBe(services.length);
  expect(folders[2]).toBe('api.example.com');
  expect(folders[5]).toBe('http@127.0.0.1%3a8080');
});
