import { beforeEach, expect, test } from 'vitest';
import { withProfile } from '../../src/config/file.ts';
import { keepKey } from '../../src/config/keep-key.ts';
import { openKeys } from '../../src/config/keys.ts';
import { type Config, openConfig } from '../../src/config/store.ts';
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

const keys = openKeys({
  helper: () => ({ file: 'keyring', args: [] }),
  start,
  stop: new AbortController().signal,
  complain: () => undefined,
});

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

test.each([
  ['did not respond within 3 s', true, ''],
  ['its program returned nothing', false, ''],
  ['its library is not installed', false, 'Error: Cannot find module'],
])("reports why a keyring can't be read: %s", async (why, isLate, complaint) => {
  const silent: Start = async ({ hear }) => {
    hear?.(complaint, 'stderr');
    return { ended: Promise.resolve(1), isLate, kill: () => undefined };
  };
  const { read } = openKeys({
    helper: () => ({ file: 'keyring', args: [] }),
    start: silent,
    stop: new AbortController().signal,
    complain: () => undefined,
  });
  const reading = read('work', { kind: 'keyring', entry: 'work 1' });
  await expect(reading).rejects.toMatchObject({
    failure: 'authentication',
    message: expect.stringContaining(why),
  });
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
