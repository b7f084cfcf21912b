import { expect, test } from 'vitest';
import type { ConfigFile } from '../../src/config/file.ts';
import {
  environmentWarning,
  notSignedIn,
  otherAccount,
  refusedKeyRemedy,
  replaceQuestion,
} from '../../src/config/remedies.ts';
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

const KEYED = { base_url: URL, api_key: 'k' };
const DESK = { profiles: { desk: KEYED } };

test.each<[Partial<Settings>, ConfigFile, string | undefined]>([
  [{ profile: undefined }, { profiles: {} }, undefined],
  [{ profile: undefined }, { profiles: {} }, ''],
  [{ profile: undefined }, { profiles: {} }, ' '],
  [{ profile: undefined }, { profiles: {} }, 'k'],
  [{ profile: undefined }, DESK, undefined],
  [{ profile: undefined }, { profiles: { lab: { base_url: URL }, ...DESK.profiles } }, undefined],
  [{ profile: undefined }, { profiles: { ...DESK.profiles, home: KEYED } }, undefined],
  [{}, { profiles: { work: { base_url: URL }, ...DESK.profiles } }, undefined],
  [{}, DESK, undefined],
  [{ sandbox: true }, { profiles: { work: { base_url: URL }, ...DESK.profiles } }, undefined],
])('says how to sign in with %j, the file %j and the key %j', (more, file, key) => {
  const env = key === undefined ? {} : { GPUCLOUD_API_KEY: key };
  const { failure, message, hint } = notSignedIn({ ...SETTINGS, ...more }, file, env);
  expect([failure, message, hint]).toMatchSnapshot();
});

test.each<[Partial<Settings>, string]>([
  [{ apiKey: { value: 'k', source: 'environment' } }, 'Correct the key in GPUCLOUD_API_KEY'],
  [{ apiKey: { value: 'k', source: 'profile' } }, 'gpucloud login --profile work$'],
  [{ profile: undefined }, 'gpucloud login$'],
  [{ profile: { value: 'work', source: 'profile' } }, 'gpucloud login$'],
  [{ profile: { value: 'work', source: 'environment' } }, 'gpucloud login --profile work$'],
])('says what to do if the service refuses the key of %j: %s', (more, remedy) => {
  expect(refusedKeyRemedy({ ...SETTINGS, ...more })).toMatch(new RegExp(remedy));
});

const SANDBOX = {
  ...SETTINGS,
  sandbox: true,
  profile: { value: 'sandbox', source: 'flag' },
} as const;
const BOTH = { GPUCLOUD_BASE_URL: URL, GPUCLOUD_API_KEY: 'k' };
const IGNORING = (names: string) =>
  `Ignoring ${names}: --profile sandbox uses its built-in service.`;

test.each<[Settings, Record<string, string>, string[], string | undefined]>([
  [SANDBOX, {}, [], undefined],
  [SANDBOX, { GPUCLOUD_API_KEY: '' }, [], undefined],
  [SANDBOX, { GPUCLOUD_API_KEY: 'k' }, [], IGNORING('GPUCLOUD_API_KEY')],
  [SANDBOX, BOTH, [], IGNORING('GPUCLOUD_BASE_URL and GPUCLOUD_API_KEY')],
  [{ ...SANDBOX, profile: { value: 'sandbox', source: 'environment' } }, BOTH, [], undefined],
  [{ ...SETTINGS, profile: undefined }, BOTH, ['GPUCLOUD_API_KEY'], undefined],
  [SETTINGS, BOTH, [], undefined],
])('warns with %j and %j of overriding %j: %s', (settings, env, overriding, warning) => {
  expect(environmentWarning({ settings, storedKey: undefined, overriding }, env)).toBe(warning);
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
