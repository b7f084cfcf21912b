import { posix, win32 } from 'node:path';
import { CliError, usageError } from '../errors.ts';

/** gpucloud's permanent folders. Each is checked when it is used. */
export interface Folders {
  /** Profiles and keys. Throws CliError('storage') if the system has no place for them. */
  readonly config: string;
  /** The journal of rented instances, the sandbox. Throws as `config`. */
  readonly state: string;
  /** Replaceable data, such as names for completion. Throws as `config`. */
  readonly cache: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns this user's folders by platform convention: XDG on Linux, Library on macOS, AppData on
 * Windows. GPUCLOUD_CONFIG_DIR and GPUCLOUD_STATE_DIR name whole folders and take precedence. The cache
 * follows GPUCLOUD_STATE_DIR, so two variables isolate a run from the user's files.
 *
 * Nothing depends on the working folder: a relative path in our variables is CliError('usage'), one
 * in XDG_* or AppData is ignored, as the XDG specification requires.
 */
export function folders(env: Environment, home: string | undefined, platform: string): Folders {
  const { join, isAbsolute } = platform === 'win32' ? win32 : posix;
  const absolute = (path: string | undefined) =>
    path !== undefined && isAbsolute(path) ? path : undefined;

  const named = (variable: string): string | undefined => {
    const path = env[variable];
    if (path === undefined || path === '') return undefined;
    if (!isAbsolute(path)) {
      throw usageError(`${variable}: must be an absolute path, not "${path}"`);
    }
    return path;
  };
  const under = (base: string | undefined, ...parts: string[]) =>
    base === undefined ? undefined : join(base, ...parts);
  const atHome = (...parts: string[]) => under(absolute(home), ...parts);
  const place = (kind: string, path: string | undefined, remedy: string): string => {
    if (path !== undefined) return path;
    const missing = platform === 'win32' ? 'user profile folder' : 'home folder';
    throw new CliError('storage', `no ${missing} for ${kind}`, {
      hint: `set ${remedy} to an absolute path`,
    });
  };

  const own = PLACES[platform] ?? XDG;
  const find = (which: keyof Places): string | undefined => {
    const { variable, base, parts } = own[which];
    return under(absolute(env[variable]), ...parts) ?? atHome(...base, ...parts);
  };
  return {
    get config() {
      return place(
        'the settings',
        named('GPUCLOUD_CONFIG_DIR') ?? find('config'),
        'GPUCLOUD_CONFIG_DIR',
      );
    },
    get state() {
      return place(
        'the journal of instances',
        named('GPUCLOUD_STATE_DIR') ?? find('state'),
        'GPUCLOUD_STATE_DIR',
      );
    },
    get cache() {
      return place(
        'known names',
        under(named('GPUCLOUD_STATE_DIR'), 'cache') ?? find('cache'),
        'GPUCLOUD_STATE_DIR',
      );
    },
  };
}

/** The home folder from the environment, which takes precedence. Asking the system is slow. */
export function namedHome(env: Environment, platform: string): string | undefined {
  return platform === 'win32' ? env.USERPROFILE : env.HOME;
}

interface Place {
  /** A variable that names the base; none is called ''. */
  readonly variable: string;
  /** The base below the home folder, if the variable is not set. */
  readonly base: readonly string[];
  readonly parts: readonly string[];
}

interface Places {
  readonly config: Place;
  readonly state: Place;
  readonly cache: Place;
}

const XDG: Places = {
  config: { variable: 'XDG_CONFIG_HOME', base: ['.config'], parts: ['gpucloud'] },
  state: { variable: 'XDG_STATE_HOME', base: ['.local', 'state'], parts: ['gpucloud'] },
  cache: { variable: 'XDG_CACHE_HOME', base: ['.cache'], parts: ['gpucloud'] },
};

/** macOS and Windows have no state folder, so it is inside another one. */
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
