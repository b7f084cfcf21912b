import { expect, test } from 'vitest';
import {
  emptyFile,
  profileNames,
  profileOf,
  withoutProfile,
  withProfile,
} from '../../src/config/file.ts';

const work = { base_url: 'https://api.example.com/v1', api_key: 'svc_sk_work' };
const home = { base_url: 'https://home.example.com', api_key: 'svc_sk_home' };

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'finds a profile named %s only after adding it',
  (name) => {
    const empty = emptyFile();
    expect(profileOf(empty, name)).toBeUndefined();
    expect(empty.profiles[name]).toBeUndefined();
    expect(profileOf({ profiles: {} }, name)).toBeUndefined();

    const one = withProfile(withProfile(empty, 'work', work), name, home);
    expect(profileOf(one, name)).toEqual(home);
    expect(profileNames(one)).toEqual([name, 'work', 'sandbox'].sort(sandboxLast));
    expect(Object.keys(JSON.parse(JSON.stringify(one)).profiles).sort()).toEqual(
      [name, 'work'].sort(),
    );

    const none = withoutProfile(one, name);
    expect(profileOf(none, name)).toBeUndefined();
    expect(none.profiles[name]).toBeUndefined();
    expect(profileOf(none, 'work')).toEqual(work);
    expect('base_url' in {}).toBe(false);
  },
);

test('lists the sandbox profile once, at the end', () => {
  expect(profileNames(emptyFile())).toEqual(['sandbox']);
  const file = { profiles: { zebra: home, sandbox: home, alpha: work } };
  expect(profileNames(file)).toEqual(['alpha', 'zebra', 'sandbox']);
});

test('keeps unknown fields, but not the account, of a replaced profile', () => {
  const newer = { ...work, account: { id: 'u-1' }, region: 'north' };
  const file = withProfile({ current: 'work', profiles: { work: newer } }, 'work', home);
  expect(profileOf(file, 'work')).toEqual({ ...home, region: 'north' });
  expect(file.current).toBe('work');
});

test('leaves the input unchanged when adding or removing a profile', () => {
  const file = { current: 'work', profiles: { work } };
  const before = JSON.stringify(file);
  withProfile(file, 'home', home);
  withoutProfile(file, 'work');
  expect(JSON.stringify(file)).toBe(before);
});

test('unsets the active profile only when removing that profile', () => {
  const file = { current: 'work', profiles: { work, home }, theme: 'dark' };
  expect(withoutProfile(file, 'work')).toEqual({ profiles: { home }, theme: 'dark' });
  expect(withoutProfile(file, 'home')).toEqual({
    current: 'work',
    profiles: { work },
    theme: 'dark',
  });
});

function sandboxLast(a: string, b: string): number {
  if (a === 'sandbox') return 1;
  if (b === 'sandbox') return -1;
  return a < b ? -1 : 1;
}
