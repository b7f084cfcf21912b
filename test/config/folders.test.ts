import { expect, test } from 'vitest';
import { folders, namedHome } from '../../src/config/folders.ts';
import { CliError } from '../../src/errors.ts';

type Env = Record<string, string>;

function all(env: Env, home: string | undefined, platform: string) {
  const { config, state, cache } = folders(env, home, platform);
  return { config, state, cache };
}

const LINUX = {
  config: '/home/ann/.config/gpucloud',
  state: '/home/ann/.local/state/gpucloud',
  cache: '/home/ann/.cache/gpucloud',
};

test.each<[string, Env, string, string, ReturnType<typeof all>]>([
  ['Linux', {}, '/home/ann', 'linux', LINUX],
  ['FreeBSD as Linux', {}, '/home/ann', 'freebsd', LINUX],
  [
    'Linux with XDG',
    { XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: '/x/s', XDG_CACHE_HOME: '/x/k' },
    '/home/ann',
    'linux',
    { config: '/x/c/gpucloud', state: '/x/s/gpucloud', cache: '/x/k/gpucloud' },
  ],
  [
    'Linux with relative and empty XDG',
    { XDG_CONFIG_HOME: 'x', XDG_STATE_HOME: './s', XDG_CACHE_HOME: '' },
    '/home/ann',
    'linux',
    LINUX,
  ],
  [
    'macOS, which ignores XDG',
    { XDG_CONFIG_HOME: '/x/c' },
    '/Users/ann',
    'darwin',
    {
      config: '/Users/ann/Library/Application Support/gpucloud',
      state: '/Users/ann/Library/Application Support/gpucloud/state',
      cache: '/Users/ann/Library/Caches/gpucloud',
    },
  ],
  [
    'Windows',
    { APPDATA: 'D:\\Roaming', LOCALAPPDATA: 'D:\\Local' },
    'C:\\Users\\ann',
    'win32',
    {
      config: 'D:\\Roaming\\gpucloud',
      state: 'D:\\Local\\gpucloud\\state',
      cache: 'D:\\Local\\gpucloud\\cache',
    },
  ],
  [
    'Windows without AppData',
    {},
    'C:\\Users\\ann',
    'win32',
    {
      config: 'C:\\Users\\ann\\AppData\\Roaming\\gpucloud',
      state: 'C:\\Users\\ann\\AppData\\Local\\gpucloud\\state',
      cache: 'C:\\Users\\ann\\AppData\\Local\\gpucloud\\cache',
    },
  ],
  [
    'GPUCLOUD_ variables before XDG variables',
    { GPUCLOUD_CONFIG_DIR: '/g/c', GPUCLOUD_STATE_DIR: '/g/s', XDG_CONFIG_HOME: '/x/c' },
    '/home/ann',
    'linux',
    { config: '/g/c', state: '/g/s', cache: '/g/s/cache' },
  ],
  [
    'the defaults for empty variables',
    { GPUCLOUD_CONFIG_DIR: '', GPUCLOUD_STATE_DIR: '' },
    '/home/ann',
    'linux',
    LINUX,
  ],
])('uses the folder from %s', (_name, env, home, platform, expected) => {
  expect(all(env, home, platform)).toEqual(expected);
});

test.each<[string | undefined, string]>([
  [undefined, 'linux'],
  ['', 'linux'],
  ['ann', 'linux'],
  [undefined, 'darwin'],
  [undefined, 'win32'],
])('reports home %j on %s at first use, and suggests the variable to set', (home, platform) => {
  const found = folders({}, home, platform);
  for (const [folder, variable] of [
    ['config', 'GPUCLOUD_CONFIG_DIR'],
    ['state', 'GPUCLOUD_STATE_DIR'],
    ['cache', 'GPUCLOUD_STATE_DIR'],
  ] as const) {
    const error = thrown(() => found[folder]);
    expect(error.failure).toBe('storage');
    expect(error.exitCode).toBe(9);
    expect(error.hint).toContain(variable);
  }
});

test('takes the home folder from the environment', () => {
  const env = { HOME: '/home/ann', USERPROFILE: 'C:\\ann' };
  const homes = ['linux', 'darwin', 'win32'].map((platform) => namedHome(env, platform));
  expect(homes).toEqual(['/home/ann', '/home/ann', 'C:\\ann']);
});

test('uses GPUCLOUD_CONFIG_DIR even without a home folder', () => {
  const found = folders({ GPUCLOUD_CONFIG_DIR: '/g/c' }, undefined, 'linux');
  expect(found.config).toBe('/g/c');
  expect(thrown(() => found.state).failure).toBe('storage');
});

test.each(['GPUCLOUD_CONFIG_DIR', 'GPUCLOUD_STATE_DIR'])(
  'rejects a relative folder path in %s',
  (variable) => {
    const found = folders({ [variable]: 'settings' }, '/home/ann', 'linux');
    const error = thrown(() => [found.config, found.state]);
    expect(error.failure).toBe('usage');
    expect(error.message).toContain(variable);
  },
);

function thrown(work: () => unknown): CliError {
  try {
    work();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
