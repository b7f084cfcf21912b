import { beforeEach, expect, test } from 'vitest';
import { withProfile } from '../../src/config/file.ts';
import { keepKey } from '../../src/config/keep-key.ts';
import { openKeys } from '../../src/config/keys.ts';
import { type Config, openConfig } from '../../src/config/store.ts';
import { CliError } from '../../src/errors.ts';
import type { Start } from '../../src/system/programs.ts';
import { temporaryFolder } from '../support/afterwards.ts';

/** Replaces the system keyring. */
let entries: Map<string, string>;
let folder: string;
beforeEach(async () => {
  entries = new Map();
  folder = await temporaryFolder();
});

function asked(text: string): unknown {
  const { op, account, key } = JSON.parse(text);
  if (op === 'get') return entries.get(account) ?? null;
  if (op === 'delete') return entries.delete(account);
  entries.set(account, key);
  return true;
}

const start: Start = async ({ say = '', hear }) => {
  hear?.(JSON.stringify({ found: asked(say) }), 'stdout');
  return { ended: Promise.resolve(0), isLate: false, kill: () => undefined };
};

const QUIET = { stop: new AbortController().signal, complain: () => undefined };

const keys = openKeys({ helper: () => ({ file: 'keyring', args: [] }), start, ...QUIET });

const keep = (key: string, config: Config) =>
  keepKey(
    { profile: 'work', key, store: 'keyring' },
    (file, place) => {
      if (place.kind !== 'keyring') throw new Error(`the key is in the ${place.kind}`);
      return withProfile(file, 'work', {
        base_url: 'https://api.example.com/v1',
        keyring: place.entry,
      });
    },
    {
      config: async () => config,
      keys: async () => keys,
      err: {
        warn(_code, text) {
          throw new Error(text);
        },
      },
    },
  );

test("stores a profile's second key beside the first in the keyring", async () => {
  const first = await keys.putIntoKeyring('work', 'one');
  const second = await keys.putIntoKeyring('work', 'two');
  expect(await keys.read('work', first)).toBe('one');
  expect(await keys.read('work', second)).toBe('two');
  await expect(keys.read('work', { kind: 'keyring', entry: 'work 9' })).rejects.toMatchObject({
    message:
      'The key of the profile "work" is no longer in the system keyring (service gpucloud, account "work 9").',
    hint: 'enter the key again: gpucloud login --profile work',
  });
});

/** Opens keys whose keyring program ends like this. */
function keysOf({ out = '', complaint = '', isLate = false, fails }: Ending, stop = QUIET.stop) {
  const ending: Start = async ({ hear }) => {
    hear?.(complaint, 'stderr');
    hear?.(out, 'stdout');
    const ended = fails === undefined ? Promise.resolve(1) : Promise.reject(fails);
    ended.catch(() => undefined);
    return { ended, isLate, kill: () => undefined };
  };
  return openKeys({ ...QUIET, helper: () => ({ file: 'keyring', args: [] }), start: ending, stop });
}

interface Ending {
  readonly out?: string;
  readonly complaint?: string;
  readonly isLate?: boolean;
  readonly fails?: Error;
}

const PLACE = { kind: 'keyring', entry: 'work 1' } as const;
const fault = (text: string) => ({ out: JSON.stringify({ fault: text }) });
const NO_SERVICE = 'no secret service is running';

test.each<[string, Ending]>([
  ['it did not respond within 3 s', { isLate: true }],
  ['its program returned nothing', {}],
  ['its program returned nothing', { out: 'null' }],
  ['its program returned nothing', { out: '7' }],
  ['its program returned nothing', { out: '{}' }],
  ...["Error: Cannot find module '@napi-rs/keyring'", 'Cannot find native binding'].map(
    (complaint): [string, Ending] => [
      'its library is not installed (npm install -g @napi-rs/keyring)',
      { complaint },
    ],
  ),
  [
    "its program can't be started (EACCES)",
    { fails: Object.assign(new Error('spawn'), { code: 'EACCES' }) },
  ],
  ...[
    'Cannot autolaunch D-Bus',
    'DBUS_SESSION_BUS_ADDRESS is not set',
    'ServiceUnknown',
    'The name was not provided by any .service files',
    'No such file',
    'Connection refused',
    'without X11 $DISPLAY',
  ].map((text): [string, Ending] => [NO_SERVICE, fault(text)]),
  ['it is locked', fault('The collection is LOCKED')],
  ['it is locked', fault('Prompt dismissed')],
  ['it did not respond', fault('Did not receive a reply')],
  ['it did not respond', fault('Timeout was reached')],
  ['x'.repeat(200), fault('x'.repeat(201))],
])("reports why a keyring can't be used: %s, for %j", async (why, ending) => {
  const { read, putIntoKeyring, remove } = keysOf(ending);
  await expect(read('work', PLACE)).rejects.toMatchObject({
    failure: 'authentication',
    message: `The key of the profile "work" is in the system keyring, which can't be read: ${why}.`,
    hint: 'unlock the keyring and try again, or enter the key again: gpucloud login --profile work --store file',
  });
  await expect(putIntoKeyring('work', 'one')).rejects.toMatchObject({
    failure: 'storage',
    message: `Could not save the key to the system keyring: ${why}.`,
    hint: 'store it in a file (mode 0600): gpucloud login --store file',
  });
  await expect(remove('work', PLACE)).rejects.toMatchObject({
    failure: 'storage',
    message: `Removed the key from profile "work", but could not remove it from the system keyring: ${why}.`,
    hint: 'remove the key with the keyring\'s own program (service gpucloud, account "work 1")',
  });
});

test('needs a program to read a keyring, and none to read a key in the config', async () => {
  const { read, remove } = openKeys({ helper: undefined, start, ...QUIET });
  await expect(read('work', PLACE)).rejects.toThrow(': no keyring is available.');
  expect(await read('work', { kind: 'file', key: 'one' })).toBe('one');
  expect(await remove('work', { kind: 'file', key: 'one' })).toBeUndefined();
  expect(await remove('work', undefined)).toBeUndefined();
});

test.each<[string, Ending]>([
  ['has stopped its program', {}],
  ['comes after its answer', { out: '{"found":"one"}' }],
])(
  'an interrupt %s: reading ends with it, and so does storing that failed',
  async (_what, ending) => {
    const stop = new AbortController();
    const reason = new Error('interrupted');
    stop.abort(reason);
    const { read, putIntoKeyring } = keysOf(ending, stop.signal);
    await expect(read('work', PLACE)).rejects.toBe(reason);
    const stored = putIntoKeyring('work', 'one');
    if (ending.out === undefined) await expect(stored).rejects.toBe(reason);
    else
      expect(await stored).toEqual({
        kind: 'keyring',
        entry: expect.stringMatching(/^work [\da-f]{8}$/),
      });
  },
);

test('asks the keyring of gpucloud alone, with the key on stdin, for three seconds', async () => {
  const calls: unknown[] = [];
  const { read, putIntoKeyring, remove } = openKeys({
    helper: () => ({ file: 'keyring', args: ['a'] }),
    start: (program) => {
      const { hear, say = '', ...rest } = program;
      calls.push({ ...rest, say: JSON.parse(say) });
      return start(program);
    },
    ...QUIET,
  });
  const place = await putIntoKeyring('work', 'one');
  expect(await read('work', place)).toBe('one');
  await remove('work', place);
  const how = { file: 'keyring', args: ['a'], timeout: 3000 };
  const of = { service: 'gpucloud', account: place.entry };
  expect(calls).toEqual([
    { ...how, say: { op: 'set', key: 'one', ...of } },
    { ...how, say: { op: 'get', ...of } },
    { ...how, say: { op: 'delete', ...of } },
  ]);
  expect([...entries]).toEqual([]);
});

test('removes the replaced key from the keyring', async () => {
  const config = openConfig(folder);
  await keep('one', config);
  await keep('two', config);
  expect([...entries.values()]).toEqual(['two']);
});

test("removes the new key from the keyring if the config file can't be changed", async () => {
  const config = openConfig(folder);
  await keep('one', config);
  const full: Config = {
    ...config,
    change: (edit) =>
      config.change((file) => {
        edit(file);
        throw new Error('the disk is full');
      }),
  };
  await expect(keep('two', full)).rejects.toThrow('the disk is full');
  expect([...entries.values()]).toEqual(['one']);
});

test("warns if the keyring keeps a key that the config file doesn't name", async () => {
  const warnings: unknown[] = [];
  const kept = keepKey({ profile: 'work', key: 'one', store: undefined }, (file) => file, {
    config: async () => ({ change: () => Promise.reject(new Error('full')) }) as never,
    keys: async () =>
      ({
        putIntoKeyring: async () => ({ kind: 'keyring', entry: 'e' }),
        remove: () =>
          Promise.reject(new CliError('storage', 'Not removed.', { hint: 'remove it' })),
      }) as never,
    err: { warn: (...given) => void warnings.push(given) },
  });
  await expect(kept).rejects.toThrow('full');
  expect(warnings).toEqual([['local_storage', 'Not removed. remove it']]);
});

test('stores the key nowhere else if storing it is interrupted', async () => {
  const interrupt = new CliError('interrupted', 'Interrupted.');
  const kept = keepKey({ profile: 'work', key: 'one', store: undefined }, (file) => file, {
    config: async () => openConfig(folder),
    keys: async () => ({ putIntoKeyring: () => Promise.reject(interrupt) }) as never,
    err: { warn: () => undefined },
  });
  await expect(kept).rejects.toBe(interrupt);
});

test('runs each key command once, and names the profile of one that fails', async () => {
  const calls: string[] = [];
  const { read } = openKeys({
    helper: undefined,
    start: async ({ args, hear }) => {
      calls.push(args.join());
      hear?.(`${args[0]}\n`, 'stdout');
      const ended = Promise.resolve(args[0] === 'bad' ? 1 : 0);
      return { ended, isLate: false, kill: () => undefined };
    },
    ...QUIET,
  });
  const place = (arg: string) => ({ kind: 'command', argv: ['vault', arg] }) as const;
  expect(await read('work', place('one'))).toBe('one');
  expect(await read('home', place('one'))).toBe('one');
  expect(await read('home', place('two'))).toBe('two');
  await expect(read('work', place('bad'))).rejects.toThrow(
    'The key command of the profile "work" returned no key: it exited with code 1.',
  );
  expect(calls).toEqual(['one', 'two', 'bad']);
});
