import { expect, test } from 'vitest';
import { environmentWarning, otherAccount, replaceQuestion } from '../../src/config/remedies.ts';
import type { Settings } from '../../src/config/resolve.ts';
import { notLocked } from '../../src/config/store.ts';

const URL = 'https://api.example.com/v1';
const ANNA = { id: 'user-1', email: 'anna@example.com', name: 'Anna' };
const FILE = { profiles: { work: { base_url: URL, api_key: 'k', account: ANNA } } };
const SETTINGS: Settings = {
  ...{ sandbox: false, baseUrl: undefined, apiKey: undefined, account: 'user-9' },
  profile: { value: 'work', source: 'flag' },
};

test.each([
  [{ id: 'user-2', email: 'b@example.com', name: 'Boris' }, FILE],
  [{ id: 'user-2', email: null, name: 'Boris' }, FILE],
  // Another process has removed the profile.
  [{ id: 'user-2' }, { profiles: {} }],
])('names the other account %j', (is, file) => {
  const error = otherAccount(SETTINGS, file, is);
  expect({ ...error, message: error.message }).toMatchSnapshot();
});

test.each([[['GPUCLOUD_API_KEY']], [['A', 'B']]])('warns that %j override it', (overriding) => {
  const found = { settings: SETTINGS, storedKey: undefined, overriding };
  expect(environmentWarning(found, {})).toMatchSnapshot();
});

const LOST = 'The old key keeps working but is removed from this computer.';
test.each([
  [undefined, 'https://b', undefined],
  [
    FILE.profiles.work,
    URL,
    `Replace the key in the profile "work" (${URL}, anna@example.com)? ${LOST}`,
  ],
  [
    { ...FILE.profiles.work, account: { id: 'user-1', name: 'Anna' } },
    undefined,
    `Replace the key in the profile "work" (${URL}, Anna)? ${LOST}`,
  ],
  [{ base_url: URL, api_key: 'k' }, URL, `Replace the key in the profile "work" (${URL})? ${LOST}`],
  [{ base_url: URL }, URL, undefined],
  [{ base_url: URL }, undefined, undefined],
  [
    { base_url: URL },
    'https://b',
    `Change the base URL of the profile "work" from ${URL} to https://b?`,
  ],
])('asks before replacing %j with %s', (before, address, question) => {
  expect(replaceQuestion('work', before, address)).toBe(question);
});

test.each([
  ['EACCES', 'permission denied'],
  ['EPERM', 'the system does not allow it'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'no space is left on the disk'],
  ['EDQUOT', 'the disk quota is exceeded'],
  ['EFBIG', 'the file would exceed the size limit'],
  ['EISDIR', 'it is a folder'],
  ['ERR_FS_EISDIR', 'it is a folder'],
  ['ENOTDIR', 'part of the path is not a folder'],
  ['ELOOP', 'too many links'],
  ['EIO', 'the disk has an I/O error'],
  ['EMFILE', 'too many files are open'],
  ['EODD', 'EODD'],
  [undefined, 'an unexpected error'],
])('says what %s means for a change of settings', (code, meaning) => {
  const error = notLocked('/config.json', Object.assign(new Error(), code && { code }), false);
  expect(error.message).toBe(
    `could not save the change to /config.json: it can't be locked: ${meaning}`,
  );
});
