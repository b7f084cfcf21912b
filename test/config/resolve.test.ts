import { expect, test } from 'vitest';
import type { ConfigFile } from '../../src/config/file.ts';
import type { Settings } from '../../src/config/resolve.ts';
import { resolveSettings, withKey } from '../../src/config/resolve.ts';
import { CliError } from '../../src/errors.ts';

const WORK = 'https://work.example.com/v1';
const OTHER = 'https://other.example.com';
const KEY = 'svc_sk_stored';

const FILE: ConfigFile = {
  profiles: {
    work: { base_url: WORK, api_key: KEY, account: { id: 'u-1' } },
    home: { base_url: 'https://home.example.com', api_key: 'svc_sk_home', account: { id: 'u-2' } },
    keyless: { base_url: WORK },
  },
};

interface Case {
  flags?: { profile?: string; baseUrl?: string };
  env?: Record<string, string>;
  current?: string;
}

function settings({ flags = {}, env = {}, current }: Case, file = FILE): Settings {
  const whole = current === undefined ? file : { ...file, current };
  const { settings, storedKey } = resolveSettings(flags, env, whole);
  return storedKey?.place.kind === 'file'
    ? withKey(settings, storedKey, storedKey.place.key)
    : settings;
}

function refusal(given: Case, file = FILE): CliError {
  try {
    settings(given, file);
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const shown = ({ failure, message, hint, resource }: CliError) => [
  ...[failure, message, hint],
  ...(resource === undefined ? [] : [resource]),
];

/** Formats settings as `profile | base URL | API key | account`, each with its source. */
function line(found: Settings): string {
  const word = (sourced: { source: string; value: string } | undefined) =>
    sourced === undefined ? '-' : `${sourced.source}:${sourced.value}`;
  return [
    word(found.profile),
    found.sandbox ? 'sandbox' : word(found.baseUrl),
    word(found.apiKey),
    found.account ?? '-',
  ].join(' | ');
}

test('returns empty settings without flags, environment and file', () => {
  expect(settings({}, { profiles: {} })).toEqual({
    profile: undefined,
    sandbox: false,
    baseUrl: undefined,
    apiKey: undefined,
    account: undefined,
  });
  expect(line(settings({}))).toBe('- | - | - | -');
});

const AT_WORK = `profile:${WORK} | profile:${KEY} | u-1`;

test.each<[string, Case, string]>([
  ['uses the active profile', { current: 'work' }, `profile:work | ${AT_WORK}`],
  [
    'prefers GPUCLOUD_PROFILE to the active profile',
    { current: 'work', env: { GPUCLOUD_PROFILE: 'home' } },
    'environment:home | profile:https://home.example.com | profile:svc_sk_home | u-2',
  ],
  [
    'prefers --profile to GPUCLOUD_PROFILE',
    { current: 'work', env: { GPUCLOUD_PROFILE: 'keyless' }, flags: { profile: 'home' } },
    'flag:home | profile:https://home.example.com | profile:svc_sk_home | u-2',
  ],
  [
    'prefers --profile to an unknown GPUCLOUD_PROFILE',
    { env: { GPUCLOUD_PROFILE: 'nowhere' }, flags: { profile: 'work' } },
    `flag:work | ${AT_WORK}`,
  ],
  [
    "uses the environment's key at the profile's base URL, with an unknown account",
    { current: 'work', env: { GPUCLOUD_API_KEY: 'svc_sk_env' } },
    `profile:work | profile:${WORK} | environment:svc_sk_env | -`,
  ],
  [
    "uses the profile's account if the environment contains its key",
    { current: 'work', env: { GPUCLOUD_API_KEY: KEY } },
    `profile:work | profile:${WORK} | environment:${KEY} | u-1`,
  ],
  [
    'uses the base URL and key from the environment without a profile',
    { env: { GPUCLOUD_API_KEY: 'svc_sk_env', GPUCLOUD_BASE_URL: `${OTHER}/` } },
    `- | environment:${OTHER} | environment:svc_sk_env | -`,
  ],
  [
    'ignores the active profile if the environment sets both base URL and key',
    { current: 'work', env: { GPUCLOUD_API_KEY: 'svc_sk_env', GPUCLOUD_BASE_URL: OTHER } },
    `- | environment:${OTHER} | environment:svc_sk_env | -`,
  ],
  [
    'keeps a requested profile if the environment sets both base URL and key',
    {
      flags: { profile: 'work' },
      env: { GPUCLOUD_API_KEY: 'svc_sk_env', GPUCLOUD_BASE_URL: OTHER },
    },
    `flag:work | environment:${OTHER} | environment:svc_sk_env | -`,
  ],
  [
    "omits the profile's account for its key at another base URL",
    { flags: { profile: 'work' }, env: { GPUCLOUD_API_KEY: KEY, GPUCLOUD_BASE_URL: OTHER } },
    `flag:work | environment:${OTHER} | environment:${KEY} | -`,
  ],
  [
    'prefers --base-url to an invalid GPUCLOUD_BASE_URL',
    { flags: { baseUrl: OTHER }, env: { GPUCLOUD_BASE_URL: 'ftp://x', GPUCLOUD_API_KEY: 'k' } },
    `- | flag:${OTHER} | environment:k | -`,
  ],
  [
    "keeps the profile's key for another spelling of its base URL",
    { current: 'work', flags: { baseUrl: 'HTTPS://WORK.example.com:443/v1//' } },
    `profile:work | flag:${WORK} | profile:${KEY} | u-1`,
  ],
  [
    'accepts another base URL for a profile without a key',
    { flags: { profile: 'keyless', baseUrl: OTHER } },
    `flag:keyless | flag:${OTHER} | - | -`,
  ],
  [
    'uses a profile without a key',
    { current: 'keyless' },
    `profile:keyless | profile:${WORK} | - | -`,
  ],
  [
    'treats empty variables as unset',
    {
      current: 'work',
      env: { GPUCLOUD_PROFILE: '', GPUCLOUD_BASE_URL: '', GPUCLOUD_API_KEY: '' },
    },
    `profile:work | ${AT_WORK}`,
  ],
  [
    'accepts an http base URL on loopback',
    { env: { GPUCLOUD_BASE_URL: 'http://127.0.0.1:8080' } },
    '- | environment:http://127.0.0.1:8080 | - | -',
  ],
])('%s', (_name, given, expected) => {
  expect(line(settings(given))).toBe(expected);
});

// Combines each source of `sandbox` with each other setting. "sandbox" in a result is the built-in
// profile.
const URL_ENV = { GPUCLOUD_BASE_URL: OTHER };
test.each(['svc_sk_env\n', 'svc_sk_env\r\n', ' svc_sk_env '])(
  'ignores space around the key in the environment: %j',
  (key) => {
    const env = { GPUCLOUD_API_KEY: key, GPUCLOUD_BASE_URL: OTHER };
    expect(settings({ env }).apiKey?.value).toBe('svc_sk_env');
  },
);

const KEY_ENV = { GPUCLOUD_API_KEY: 'svc_sk_env' };
const FLAG = { profile: 'sandbox' };
const ENV = { GPUCLOUD_PROFILE: 'sandbox' };
const BOTH = { ...URL_ENV, ...KEY_ENV };
const CURRENT = { current: 'sandbox' };
const BY_KEY = 'environment:svc_sk_env | -';
const BASE = { baseUrl: OTHER };
const WORK_ENV = { GPUCLOUD_PROFILE: 'work' };
const BY_FLAG = 'flag:sandbox | sandbox | - | -';
const BY_ENV = 'environment:sandbox | sandbox | - | -';
const NO_URL = 'refused: GPUCLOUD_PROFILE GPUCLOUD_BASE_URL';
test.each<[string, string, Case, string]>([
  ['--profile', 'nothing', { flags: FLAG }, BY_FLAG],
  ['--profile', 'key', { flags: FLAG, env: KEY_ENV }, BY_FLAG],
  ['--profile', 'url', { flags: FLAG, env: URL_ENV }, BY_FLAG],
  ['--profile', 'url and key', { flags: FLAG, env: BOTH }, BY_FLAG],
  ['--profile', 'GPUCLOUD_PROFILE', { flags: FLAG, env: WORK_ENV }, BY_FLAG],
  ['--profile', 'current', { flags: FLAG, current: 'work' }, BY_FLAG],
  ['--profile', '--base-url', { flags: { ...FLAG, ...BASE } }, 'refused: --profile --base-url'],
  ['GPUCLOUD_PROFILE', 'nothing', { env: ENV }, BY_ENV],
  ['GPUCLOUD_PROFILE', 'key', { env: { ...ENV, ...KEY_ENV } }, BY_ENV],
  ['GPUCLOUD_PROFILE', 'url', { env: { ...ENV, ...URL_ENV } }, NO_URL],
  ['GPUCLOUD_PROFILE', 'url and key', { env: { ...ENV, ...BOTH } }, NO_URL],
  [
    'GPUCLOUD_PROFILE',
    '--base-url',
    { env: ENV, flags: BASE },
    NO_URL.replace(/\w+$/, '--base-url'),
  ],
  [
    'GPUCLOUD_PROFILE',
    '--profile',
    { env: ENV, flags: { profile: 'work' } },
    `flag:work | ${AT_WORK}`,
  ],
  ['current', 'nothing', { current: 'sandbox' }, 'profile:sandbox | sandbox | - | -'],
  ['current', 'key', { current: 'sandbox', env: KEY_ENV }, 'profile:sandbox | sandbox | - | -'],
  ['current', 'url', { current: 'sandbox', env: URL_ENV }, `- | environment:${OTHER} | - | -`],
  ['current', 'url and key', { ...CURRENT, env: BOTH }, `- | environment:${OTHER} | ${BY_KEY}`],
  ['current', '--base-url', { ...CURRENT, flags: BASE }, `- | flag:${OTHER} | - | -`],
  [
    'current',
    '--base-url and key',
    { ...CURRENT, flags: BASE, env: KEY_ENV },
    `- | flag:${OTHER} | ${BY_KEY}`,
  ],
  ['current', 'GPUCLOUD_PROFILE', { ...CURRENT, env: WORK_ENV }, `environment:work | ${AT_WORK}`],
])('resolves the sandbox from %s beside %s', (_from, _beside, given, expected) => {
  if (!expected.startsWith('refused: ')) {
    expect(line(settings(given))).toBe(expected);
    return;
  }
  const [profile, url] = expected.slice('refused: '.length).split(' ');
  expect(shown(refusal(given))).toEqual([
    'usage',
    `${profile} sandbox and ${url} can't be combined: the sandbox uses its built-in service`,
    'use only one',
  ]);
});

test('ignores a profile named "sandbox" in the file', () => {
  const file = { profiles: { sandbox: { base_url: WORK, api_key: KEY } } };
  expect(line(settings({ flags: { profile: 'sandbox' } }, file))).toBe(
    'flag:sandbox | sandbox | - | -',
  );
  expect(line(settings({ current: 'sandbox' }, file))).toBe('profile:sandbox | sandbox | - | -');
});

const ADD = 'add one: gpucloud login --profile NAME';
test.each<[string, Case, hint: string]>([
  ['--profile: no', { flags: { profile: 'wrok' } }, `did you mean work? ${ADD}`],
  ['--profile: no', { flags: { profile: '' } }, ADD],
  ['--profile: no', { flags: { profile: 'Work' } }, `did you mean work? ${ADD}`],
  ['--profile: no', { flags: { profile: 'constructor' } }, ADD],
  ['--profile: no', { flags: { profile: '__proto__' } }, ADD],
  ['GPUCLOUD_PROFILE: no', { env: { GPUCLOUD_PROFILE: 'wrok' } }, `did you mean work? ${ADD}`],
  ['the active', { current: 'wrok' }, 'select one: gpucloud profiles use NAME'],
])(
  'rejects an unknown profile and lists the known profiles: %s profile, %j',
  (what, given, hint) => {
    const { flags, env, current } = given;
    const name = flags?.profile ?? env?.GPUCLOUD_PROFILE ?? current;
    const not = current === undefined ? '' : ' does not exist';
    expect(shown(refusal(given))).toEqual([
      ...['usage', `${what} profile "${name}"${not}; profiles: home, keyless, work, sandbox`, hint],
    ]);
  },
);

test.each<[string, Case]>([
  ['--base-url', { flags: { profile: 'work', baseUrl: OTHER } }],
  ['--base-url', { current: 'work', flags: { baseUrl: 'https://work.example.com' } }],
  ['--base-url', { current: 'work', flags: { baseUrl: 'https://work.example.com:8443/v1' } }],
  ['--base-url', { current: 'work', flags: { baseUrl: 'https://work.example.com/V1' } }],
  ['GPUCLOUD_BASE_URL', { current: 'work', env: { GPUCLOUD_BASE_URL: OTHER } }],
  ['GPUCLOUD_BASE_URL', { flags: { profile: 'work' }, env: { GPUCLOUD_BASE_URL: OTHER } }],
  ['--base-url', { current: 'work', flags: { baseUrl: OTHER }, env: { GPUCLOUD_API_KEY: '' } }],
])('refuses to send a stored key to another base URL (%s)', (origin, given) => {
  expect(shown(refusal(given))).toEqual([
    'usage',
    `The key of profile "work" does not belong to ${origin}, so it was not sent`,
    'set GPUCLOUD_API_KEY to a key of that service, or run: gpucloud login --profile NAME --base-url URL',
  ]);
});

const VISIBLE = 'must be one line of visible ASCII characters';
const COMPLETE = 'must be a complete address, such as https://api.example.com/v1';
const LOOPBACK = 'http:// is only for this computer (loopback): it would send the key unencrypted';

test.each([
  ['ftp://x.example.com', ' "ftp://x.example.com": must start with https://'],
  ['x.example.com', ` "x.example.com": ${COMPLETE}`],
  ['http://127.0.0.1.evil.com', ` "http://127.0.0.1.evil.com": ${LOOPBACK}`],
  ['http://localhost.evil.com/v1', ` "http://localhost.evil.com/v1": ${LOOPBACK}`],
  ['http://work.example.com', ` "http://work.example.com": ${LOOPBACK}`],
  ['https://ann:hunter2@work.example.com', ': must not contain a user name or password'],
  ['https://work.example.com/?token=hunter2', ': must not contain a query or fragment'],
  ['https://work.example.com/#hunter2', ': must not contain a query or fragment'],
  ['javascript:hunter2@x', ': must start with https://'],
])('rejects the base URL %j without printing a password', (address, rest) => {
  const byFlag = refusal({ flags: { baseUrl: address } });
  const byVariable = refusal({ env: { GPUCLOUD_BASE_URL: address } });
  expect([byFlag, byVariable].map(({ failure, message }) => [failure, message])).toEqual([
    ['usage', `--base-url${rest}`],
    ['usage', `GPUCLOUD_BASE_URL${rest}`],
  ]);
});

test('rejects an empty --base-url', () => {
  expect(refusal({ flags: { baseUrl: '' } }).message).toBe(`--base-url "": ${COMPLETE}`);
});

test.each([
  'canary\r\nX-Evil: 1',
  'canary\n1',
  'canary\r1',
  'canary 1',
  'canary\0',
  'канарейка-canary',
])('rejects the key %j in the environment and never repeats it', (key) => {
  const error = refusal({ current: 'work', env: { GPUCLOUD_API_KEY: key } });
  expect([...shown(error), error.cause]).toEqual([
    ...['usage', `GPUCLOUD_API_KEY: ${VISIBLE}`, undefined, undefined],
  ]);
});

test.each([
  ['base URL', LOOPBACK, { base_url: 'http://work.example.com', api_key: 'canary' }],
  ['base URL', COMPLETE, { base_url: 'nonsense', api_key: 'canary' }],
  ['API key', VISIBLE, { base_url: WORK, api_key: 'canary\r\nX-Evil: 1' }],
  ['API key', VISIBLE, { base_url: WORK, api_key: '' }],
])('blames the file for a stored %s that breaks its rule: %s', (part, rule, profile) => {
  const file = { profiles: { work: profile, home: { base_url: OTHER } } };
  expect(shown(refusal({ current: 'work' }, file))).toEqual([
    'storage',
    `the ${part} in profile "work" can't be used: ${rule}`,
    'replace it: gpucloud login --profile work',
    'work',
  ]);
  expect(line(settings({ flags: { profile: 'home' } }, file))).toBe(
    `flag:home | profile:${OTHER} | - | -`,
  );
});

const BOTH_NAMES = ['GPUCLOUD_API_KEY', 'GPUCLOUD_BASE_URL'];

test.each<[string, Case['flags'], Case['env'], string[]]>([
  ['a key', { profile: 'work' }, { GPUCLOUD_API_KEY: 'svc_sk_env' }, ['GPUCLOUD_API_KEY']],
  [
    'a key and the address of another service',
    { profile: 'work' },
    { GPUCLOUD_API_KEY: 'svc_sk_env', GPUCLOUD_BASE_URL: OTHER },
    BOTH_NAMES,
  ],
  [
    "a key and the profile's own address",
    { profile: 'work' },
    { GPUCLOUD_API_KEY: 'svc_sk_env', GPUCLOUD_BASE_URL: `${WORK}/` },
    ['GPUCLOUD_API_KEY'],
  ],
  [
    'another address for a profile without a key',
    { profile: 'keyless' },
    { GPUCLOUD_API_KEY: 'svc_sk_env', GPUCLOUD_BASE_URL: OTHER },
    BOTH_NAMES,
  ],
  ['the key of a profile without one', { profile: 'keyless' }, { GPUCLOUD_API_KEY: KEY }, []],
  ["the profile's own key", { profile: 'work' }, { GPUCLOUD_API_KEY: KEY }, []],
  ['nothing', { profile: 'work' }, {}, []],
  [
    'a key, with the address of a flag',
    { profile: 'work', baseUrl: OTHER },
    { GPUCLOUD_API_KEY: 'svc_sk_env' },
    [],
  ],
  ['a key, without --profile', {}, { GPUCLOUD_API_KEY: 'svc_sk_env' }, []],
  [
    'a key, with GPUCLOUD_PROFILE',
    {},
    { GPUCLOUD_API_KEY: 'svc_sk_env', GPUCLOUD_PROFILE: 'work' },
    [],
  ],
])('names the variables that override --profile: %s', (_, flags, env, overriding) => {
  const found = resolveSettings(flags ?? {}, env ?? {}, { ...FILE, current: 'work' });
  expect(found.overriding).toEqual(overriding);
});
