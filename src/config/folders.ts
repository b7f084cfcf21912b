import { join as joinHere, posix, win32 } from 'node:path';
import { CliError, usageError } from '../errors.ts';

/** gpucloud's permanent folders. Each is resolved at its first use. */
export interface Folders {
  /** Profiles and keys. Throws CliError('storage') if the system has no folder for them. */
  readonly config: string;
  /** The journal of rented instances, and the sandbox. Throws as `config` does. */
  readonly state: string;
  /** Data that can be recreated, such as names for completion. Throws as `config` does. */
  readonly cache: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns this user's folders by platform convention: XDG on Linux, Library on macOS, AppData on
 * Windows. GPUCLOUD_CONFIG_DIR and GPUCLOUD_STATE_DIR name whole folders and win. The cache follows
 * GPUCLOUD_STATE_DIR, so that these two variables isolate a run.
 *
 * Nothing depends on the working folder. A relative path in a gpucloud variable is
 * CliError('usage'). One in XDG_* or AppData is ignored, as the XDG specification requires.
 */
export function folders(env: Environment, home: string | undefined, platform: string): Folders {
  return {
    get config() {
      return folderOf('config', env, home, platform);
    },
    get state() {
      return folderOf('state', env, home, platform);
    },
    get cache() {
      return folderOf('cache', env, home, platform);
    },
  };
}

function folderOf(
  kind: keyof Folders,
  env: Environment,
  home: string | undefined,
  platform: string,
): string {
  const { join, isAbsolute } = platform === 'win32' ? win32 : posix;
  const { set, what } = OWN[kind];
  const whole = env[set] ?? '';
  if (isAbsolute(whole)) return kind === 'cache' ? joinHere(whole, kind) : whole;
  if (whole !== '') throw usageError(`${set}: must be an absolute path, not "${whole}"`);
  const { variable, base, parts } = (PLACES[platform] ?? XDG)[kind];
  const named = env[variable] ?? '';
  if (isAbsolute(named)) return join(named, ...parts);
  if (home !== undefined && isAbsolute(home)) return join(home, ...base, ...parts);
  const missing = platform === 'win32' ? 'user profile folder' : 'home folder';
  throw new CliError('storage', `could not locate ${what}: no ${missing}`, {
    hint:
      platform === 'win32'
        ? `set ${set} to an absolute path`
        : 'set HOME, or both GPUCLOUD_CONFIG_DIR and GPUCLOUD_STATE_DIR, to absolute paths',
  });
}

/**
 * Returns the home folder from the environment. It takes precedence, and querying the system is
 * slow.
 */
export function namedHome(env: Environment, platform: string): string | undefined {
  return platform === 'win32' ? env.USERPROFILE : env.HOME;
}

interface Place {
  /** Variable with the base folder; '' if there is none. */
  readonly variable: string;
  /** The base folder below the home folder, used if the variable is not set. */
  readonly base: readonly string[];
  readonly parts: readonly string[];
}

type Places = Readonly<Record<keyof Folders, Place>>;

/** Variables that name the whole folder, or the parent of the cache. */
const OWN: Readonly<Record<keyof Folders, { set: string; what: string }>> = {
  config: { set: 'GPUCLOUD_CONFIG_DIR', what: 'the settings' },
  state: { set: 'GPUCLOUD_STATE_DIR', what: 'the journal of instances' },
  cache: { set: 'GPUCLOUD_STATE_DIR', what: 'known names' },
};

const XDG: Places = {
  config: { variable: 'XDG_CONFIG_HOME', base: ['.config'], parts: ['gpucloud'] },
  state: { variable: 'XDG_STATE_HOME', base: ['.local', 'state'], parts: ['gpucloud'] },
  cache: { variable: 'XDG_CACHE_HOME', base: ['.cache'], parts: ['gpucloud'] },
};

/** Uses a subfolder on macOS and Windows, which have no folder for state. */
const PLACES: Readonly<Record<string, Places>> = {
  darwin: {
    config: { variable: '', base: ['Library', 'Application Support'], parts: ['gpucloud'] },
    state: { variable: '', base: ['Library', 'Application Support'], parts: ['gpucloud', 'state'] },
    cache: { variable: '', base: ['Library', 'Caches'], parts: ['gpucloud'] },
  },
  win32: {
    config: { variable: 'APPDATA', base: ['AppData', 'Roaming'], parts: ['gpucloud'] },
    state: { variable: 'LOCALAPPDATA', base: ['AppData', 'Local'], parts: ['gpucloud', 'state'] },
    cache: { variable: 'LOCALAPPDATA', base: ['AppData', 'Local'], parts: ['gpucloud', 'cache'] },
  },
};
